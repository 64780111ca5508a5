//! The hub's description of a revision, and the files that a model needs.

use etbuild_checkpoint::{ADAPTER_SHARD, PICKLED, PICKLED_ADAPTER, PICKLED_SHARD, SHARD, encoder_beside, part_names};
use serde::Deserialize;

use crate::{HubError, Reference};

/// How safetensors end.
const SAFETENSORS: &str = ".safetensors";

/// A revision of a repository, from `/api/models/OWNER/NAME/revision/REVISION?blobs=true`.
#[derive(Debug, Deserialize)]
pub(crate) struct Listing {
    /// The commit.
    #[serde(rename = "sha")]
    pub commit: String,
    /// The files.
    #[serde(rename = "siblings")]
    pub files: Vec<Listed>,
}

/// A file.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Listed {
    /// The path in the repository.
    #[serde(rename = "rfilename")]
    pub path: String,
    /// The size in bytes.
    #[serde(default)]
    pub size: u64,
    /// The digest of git.
    #[serde(rename = "blobId")]
    blob: Option<String>,
    /// Of a large file.
    lfs: Option<Large>,
}

/// The identity of a large file.
#[derive(Clone, Debug, Deserialize)]
struct Large {
    sha256: String,
}

impl Listed {
    /// The name in the cache: the digest that the hub tells as the file's entity tag.
    pub(crate) fn blob(&self) -> Option<&str> {
        let digest = self.sha256().or(self.blob.as_deref())?;
        digest.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(digest)
    }

    /// The SHA-256 of the bytes, which the hub knows of large files.
    pub(crate) fn sha256(&self) -> Option<&str> {
        self.lfs.as_ref().map(|large| large.sha256.as_str())
    }

    /// Weights are downloaded after all other files: a folder with weights is whole.
    fn is_weights(&self) -> bool {
        [SAFETENSORS, PICKLED, ".gguf"].iter().any(|ending| self.path.ends_with(ending))
    }

    /// The folder of a module, or of the model.
    fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The name in the folder.
    fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&self.path, |(_, name)| name)
    }
}

impl Listing {
    /// The files of a model, weights last: the named file, or the text files and safetensors of the repository.
    pub(crate) fn wanted(&self, reference: &Reference) -> Result<Vec<&Listed>, HubError> {
        let mut wanted: Vec<&Listed> = match &reference.file {
            Some(file) => {
                let (folder, name) = file.rsplit_once('/').map_or(("", file.as_str()), |(folder, name)| (folder, name));
                let paths =
                    part_names(name).into_iter().map(|part| [folder, &part].join("/").trim_matches('/').to_owned());
                let found = paths.map(|path| self.files.iter().find(|listed| listed.path == path));
                let found: Option<Vec<&Listed>> = found.collect();
                let mut found = found.ok_or_else(|| HubError::NotFound(reference.clone()))?;
                found.splice(..0, self.encoder(folder, name));
                found
            }
            None => self.files.iter().filter(|file| is_of_model(&file.path) && !self.is_second(file)).collect(),
        };
        if !wanted.iter().any(|file| reference.file.is_some() || file.is_weights()) {
            let gguf = self.files.iter().map(|file| &file.path).filter(|path| path.ends_with(".gguf")).cloned();
            return Err(HubError::NoWeights { reference: reference.clone(), gguf: gguf.collect() });
        }
        wanted.sort_by_key(|file| file.is_weights());
        Ok(wanted)
    }

    /// The encoder of pictures or sound beside a model in GGUF.
    fn encoder(&self, folder: &str, name: &str) -> Option<&Listed> {
        let beside = || self.files.iter().filter(|file| file.folder() == folder);
        let found = encoder_beside(beside().map(Listed::name), name)?;
        beside().find(|file| file.name() == found)
    }

    /// Whether a file has, in the form of `torch.save`, weights that safetensors in the same folder have.
    fn is_second(&self, file: &Listed) -> bool {
        let is_adapter = |file: &Listed| [ADAPTER_SHARD, PICKLED_ADAPTER].contains(&file.path.as_str());
        let is_same = |other: &&Listed| other.folder() == file.folder() && is_adapter(other) == is_adapter(file);
        let mut same = self.files.iter().filter(is_same).filter(|other| is_of_model(&other.path));
        file.path.ends_with(PICKLED) && same.any(|other| other.path.ends_with(SAFETENSORS))
    }
}

/// Whether a model is read from a file: texts, weights in safetensors or files of `torch.save` by the names of `transformers` and `peft`, and the
/// configurations and the weights of the modules of `sentence-transformers`.
fn is_of_model(path: &str) -> bool {
    const TEXTS: [&str; 4] = [".json", ".jinja", ".txt", ".model"];
    match path.split_once('/') {
        None if path.ends_with(SAFETENSORS) => path.starts_with("model") || path == ADAPTER_SHARD,
        None if path.ends_with(PICKLED) => path.starts_with("pytorch_model") || path == PICKLED_ADAPTER,
        None => TEXTS.iter().any(|ending| path.ends_with(ending)),
        Some((module, file)) => {
            let is_of_module = ["config.json", SHARD, PICKLED_SHARD].contains(&file);
            module.starts_with(|first: char| first.is_ascii_digit()) && is_of_module
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(files: &[&str], reference: &str) -> Result<Vec<String>, HubError> {
        let file = |path: &&str| Listed { path: (*path).to_owned(), size: 1, blob: Some("ab".to_owned()), lfs: None };
        let listing = Listing { commit: String::new(), files: files.iter().map(file).collect() };
        let found = listing.wanted(&Reference::parse(reference).unwrap().unwrap())?;
        Ok(found.into_iter().map(|file| file.path.clone()).collect())
    }

    #[test]
    fn texts_come_before_weights_and_other_forms_not_at_all() {
        let files = [
            "model.safetensors",
            "README.md",
            "config.json",
            "pytorch_model.bin",
            "onnx/model.onnx",
            "onnx/config.json",
            "1_Pooling/config.json",
            "consolidated.safetensors",
            "merges.txt",
            "chat_template.jinja",
            "tokenizer.model",
        ];
        let found = wanted(&files, "hf:a/b").unwrap();
        let expected = ["config.json", "1_Pooling/config.json", "merges.txt", "chat_template.jinja", "tokenizer.model"];
        assert_eq!(found[..5], expected);
        assert_eq!(found[5..], ["model.safetensors"]);
    }

    #[test]
    fn files_of_torch_come_where_there_are_no_safetensors() {
        let files =
            ["pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin", "pytorch_model.bin.index.json"];
        let more = ["training_args.bin", "2_Dense/pytorch_model.bin", "2_Dense/config.json", "config.json"];
        let found = wanted(&[&files[..], &more].concat(), "hf:a/b").unwrap();
        assert_eq!(found[..3], [files[2], more[2], more[3]]);
        assert_eq!(found[3..], [files[0], files[1], more[1]]);
        let both = ["pytorch_model.bin", "model.safetensors", "2_Dense/pytorch_model.bin"];
        assert_eq!(wanted(&both, "hf:a/b").unwrap(), [both[1], both[2]]);
        let both = ["pytorch_model.bin", "2_Dense/pytorch_model.bin", "2_Dense/model.safetensors"];
        assert_eq!(wanted(&both, "hf:a/b").unwrap(), [both[0], both[2]]);
        let beside = ["adapter_model.safetensors", "pytorch_model.bin", "adapter_model.bin"];
        assert_eq!(wanted(&beside, "hf:a/b").unwrap(), beside[..2]);
        let beside = ["adapter_model.bin", "model.safetensors"];
        assert_eq!(wanted(&beside, "hf:a/b").unwrap(), beside);
    }

    #[test]
    fn a_model_comes_with_the_encoder_beside() {
        let files = ["q/m.gguf", "q/mmproj-m-f16.gguf", "q/mmproj-m-Q8_0.gguf", "mmproj-other-f16.gguf", "other.gguf"];
        // The model last: a model that is there is whole.
        assert_eq!(wanted(&files, "hf:a/b/q/m.gguf").unwrap(), [files[1], files[0]]);
        assert_eq!(wanted(&files, "hf:a/b/other.gguf").unwrap(), files[3..]);
        assert_eq!(wanted(&files, "hf:a/b/mmproj-other-f16.gguf").unwrap(), files[3..4]);
    }

    #[test]
    fn a_file_comes_with_its_parts() {
        let files = ["q/m-00001-of-00002.gguf", "q/m-00002-of-00002.gguf", "other.gguf"];
        assert_eq!(wanted(&files, "hf:a/b/q/m-00001-of-00002.gguf").unwrap(), files[..2]);
        assert_eq!(wanted(&files, "hf:a/b/other.gguf").unwrap(), files[2..]);
        assert!(matches!(wanted(&files, "hf:a/b/absent.gguf"), Err(HubError::NotFound(_))));
        let Err(HubError::NoWeights { gguf, .. }) = wanted(&files, "hf:a/b") else { panic!("several files") };
        assert_eq!(gguf, files);
    }
}
