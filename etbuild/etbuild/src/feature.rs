//! Cargo features that a build of etbuild may leave out, and the diagnostic that names a missing one.

use et_diffusion::WritePicture;
use et_llm::{Hearing, MakeCompiler, MakeText, Vision};
use et_module::ReadMedia;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::AbsentBackend;

/// An optional part of etbuild with a Cargo feature.
#[derive(Clone, Copy, Debug)]
pub enum Feature {
    /// Constrained output of language models.
    Constrain,
    /// Revisions of files in git.
    Git,
    /// The GPU backend.
    Gpu,
    /// Pictures and recordings as inputs.
    Media,
    /// Clients of remote caches.
    Remote,
    /// Tokenizers and chat templates.
    Text,
}

/// The function that reads tokenizers and chat templates, in a build with the feature `text`.
#[cfg(feature = "text")]
pub const MAKE_TEXT: Option<MakeText> = Some(et_text::make);
#[cfg(not(feature = "text"))]
pub const MAKE_TEXT: Option<MakeText> = None;

/// The function that makes the compiler of constraints, in a build with the feature `constrain`.
#[cfg(feature = "constrain")]
pub const MAKE_COMPILER: Option<MakeCompiler> = Some(et_constrain::make);
#[cfg(not(feature = "constrain"))]
pub const MAKE_COMPILER: Option<MakeCompiler> = None;

/// The function that reads pictures and recordings, in a build with the feature `media`.
#[cfg(feature = "media")]
pub const READ_MEDIA: Option<ReadMedia> = Some(et_media::read);
#[cfg(not(feature = "media"))]
pub const READ_MEDIA: Option<ReadMedia> = None;

/// The parts that read the pictures of prompts, in a build with the feature `media`.
#[cfg(feature = "media")]
pub const VISION: Option<Vision> = Some(Vision { open: et_vision::open, read: et_media::tiles });
#[cfg(not(feature = "media"))]
pub const VISION: Option<Vision> = None;

/// The parts that hear, in a build with the feature `media`.
#[cfg(feature = "media")]
pub const HEARING: Option<Hearing> = Some(Hearing { open: et_hearing::open, read: et_media::sound });
#[cfg(not(feature = "media"))]
pub const HEARING: Option<Hearing> = None;

/// The function that encodes pictures, in a build with the feature `media`.
#[cfg(feature = "media")]
pub const WRITE_PICTURE: Option<WritePicture> = Some(et_media::write_png);
#[cfg(not(feature = "media"))]
pub const WRITE_PICTURE: Option<WritePicture> = None;

/// The backends that this build lacks: the error of a recipe that names one names the feature.
pub static ABSENT: &[AbsentBackend] = &[
    #[cfg(not(feature = "gpu"))]
    AbsentBackend { name: "gpu", refusal: || Feature::Gpu.missing("the backend `gpu`") },
];

impl Feature {
    /// Fails where this build lacks the feature; `purpose` says what the command needs the feature for.
    pub fn require(self, purpose: &str) -> Result<(), Vec<Diagnostic>> {
        if self.is_built_in() { Ok(()) } else { Err(vec![self.missing(purpose)]) }
    }

    /// The diagnostic for a command that needs the feature.
    pub fn missing(self, purpose: &str) -> Diagnostic {
        let name = self.name();
        let message = format!("{purpose} requires the feature `{name}`, which is not compiled into this etbuild");
        let help = format!(
            "use a released etbuild, or `cargo run --release --features {name} --` in place of `cargo run --release --`"
        );
        Diagnostic::error(Code::FeatureMissing, message).help(help)
    }

    /// The feature whose absence explains a missing delegate of a program file.
    pub fn of_delegate(id: &str) -> Option<Self> {
        (id == "EtbuildGpu" && !Self::Gpu.is_built_in()).then_some(Self::Gpu)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Constrain => "constrain",
            Self::Git => "git",
            Self::Gpu => "gpu",
            Self::Media => "media",
            Self::Remote => "remote",
            Self::Text => "text",
        }
    }

    /// Whether this build has the feature.
    pub const fn is_built_in(self) -> bool {
        match self {
            Self::Constrain => cfg!(feature = "constrain"),
            Self::Git => cfg!(feature = "git"),
            Self::Gpu => cfg!(feature = "gpu"),
            Self::Media => cfg!(feature = "media"),
            Self::Remote => cfg!(feature = "remote"),
            Self::Text => cfg!(feature = "text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_feature_is_named_with_the_command_that_has_it() {
        let diagnostic = Feature::Git.missing("`etbuild lock`");
        assert!(diagnostic.message.contains("`etbuild lock` requires the feature `git`"), "{diagnostic:?}");
        assert!(diagnostic.help.iter().any(|help| help.contains("--features git")), "{diagnostic:?}");
    }

    #[test]
    fn a_feature_is_required_as_this_build_has_it() {
        for (feature, built_in) in [
            (Feature::Constrain, cfg!(feature = "constrain")),
            (Feature::Git, cfg!(feature = "git")),
            (Feature::Gpu, cfg!(feature = "gpu")),
            (Feature::Media, cfg!(feature = "media")),
            (Feature::Remote, cfg!(feature = "remote")),
            (Feature::Text, cfg!(feature = "text")),
        ] {
            assert_eq!(feature.require("a test").is_ok(), built_in, "{feature:?}");
        }
    }
}
