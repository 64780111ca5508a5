//! Why a checkpoint is not there.

use std::path::PathBuf;

use crate::Reference;

/// A checkpoint that could not be located.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The cache lacks the checkpoint, and downloads are off.
    #[error("`{0}` is not downloaded, and the network is off")]
    Offline(Reference),
    /// The cache lacks the checkpoint, and this build downloads nothing.
    #[error("`{0}` is not downloaded, and the feature `hub` is not compiled into this etbuild")]
    NotBuiltIn(Reference),
    /// The hub has no such repository, revision or file.
    #[error("the Hugging Face Hub has no `{0}`")]
    NotFound(Reference),
    /// The hub wants a token, or a different token.
    #[error("the Hugging Face Hub refuses `{reference}`{}", if *.has_token { " to this token" } else { " without a token" })]
    Refused {
        /// The checkpoint.
        reference: Reference,
        /// Whether a token was sent.
        has_token: bool,
    },
    /// The repository has no file that etbuild reads.
    #[error("`{reference}` has no safetensors and no `pytorch_model.bin`")]
    NoWeights {
        /// The checkpoint.
        reference: Reference,
        /// The GGUF files of the repository.
        gguf: Vec<String>,
    },
    /// The hub cannot be reached, or answers with nonsense.
    #[error("the download of `{reference}` failed: {reason}")]
    Unavailable {
        /// The checkpoint.
        reference: Reference,
        /// The reason.
        reason: String,
    },
    /// A downloaded file has another digest than the hub says.
    #[error("the download of `{file}` of `{reference}` is damaged")]
    Damaged {
        /// The checkpoint.
        reference: Reference,
        /// The file.
        file: String,
    },
    /// The environment names no folder for the cache.
    #[error("neither `HF_HUB_CACHE` nor `HOME` says where the cache of the Hugging Face Hub is")]
    NoFolder,
    /// The cache cannot be written.
    #[error("`{}` cannot be written: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}
