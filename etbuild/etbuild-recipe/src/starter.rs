//! The recipe that `etbuild init` writes, and that a model without a recipe stands for.

use std::path::Path;

use crate::{Name, is_on_hub};

/// The form of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// An archive of `torch.export.save`.
    Pt2,
    /// The folder of a Hugging Face checkpoint, or a GGUF file.
    Checkpoint,
    /// The folder of a Hugging Face checkpoint of an encoder, such as BERT.
    Encoder,
    /// A function in a Python file.
    Python,
}

impl ModelKind {
    /// The key of `model:`.
    const fn key(self) -> &'static str {
        match self {
            Self::Pt2 => "pt2",
            Self::Checkpoint | Self::Encoder => "checkpoint",
            Self::Python => "python",
        }
    }

    /// The name of a recipe for the model at `path`: the name of the file without its ending, or of the folder.
    pub fn recipe_name(self, path: &Path) -> Name {
        let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = last(path).or_else(|| last(&std::path::absolute(path).ok()?)).unwrap_or_default();
        // A revision is no part of the name.
        let name = name.split_once('@').filter(|_| is_on_hub(path)).map_or(name.clone(), |(name, _)| name.to_owned());
        let stem = match self {
            Self::Checkpoint | Self::Encoder => name.strip_suffix(".gguf").unwrap_or(&name),
            Self::Pt2 => name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem),
            Self::Python => name.split_once(".py:").map_or(name.as_str(), |(stem, _)| stem),
        };
        let is_allowed = |character: &char| character.is_ascii_alphanumeric() || "-_.".contains(*character);
        let safe = stem.chars().map(|character| if is_allowed(&character) { character } else { '-' });
        let safe: String = safe.skip_while(|character| !character.is_ascii_alphanumeric()).take(64).collect();
        Name::new(safe.trim_end_matches('-')).unwrap_or_else(Name::model)
    }

    /// The options that are worth a look for such a model, as comments.
    const fn options(self) -> &'static str {
        match self {
            Self::Pt2 => PT2,
            Self::Checkpoint => CHECKPOINT,
            Self::Encoder => ENCODER,
            Self::Python => PYTHON,
        }
    }
}

const PT2: &str = "\
# Weights and activations in int8: a quarter of the size, and faster. A hundred example inputs, one after the other along
# the first dimension, show the ranges.
# quantize: { scheme: int8, calibrate: calibration.safetensors }
";

const CHECKPOINT: &str = "\
# Weights in int4, activations in int8: an eighth of the size, and faster.
# quantize: { scheme: 8da4w, group_size: 32, embedding: 4w }

# The most tokens of a prompt and its answer together.
# export: { context: 2048 }
";

const ENCODER: &str = "\
# Weights in int8, activations in int8: a quarter of the size, and faster.
# quantize: { scheme: dynamic-int8 }

# What the checkpoint says otherwise: how hidden states become an embedding, whether embeddings have the length 1, and the most tokens
# of a text.
# text: { pooling: mean, normalize: true, max_tokens: 256 }
";

const PYTHON: &str = "\
# The interpreter with the packages that the function imports, and the arguments of the function.
# export: { interpreter: .venv/bin/python, arguments: { width: 32 } }

# Weights and activations in int8: a quarter of the size, and faster. A hundred example inputs, one after the other along
# the first dimension, show the ranges.
# quantize: { scheme: int8, calibrate: calibration.safetensors }
";

const VERIFY: &str = "
# Run every binary and compare it with what PyTorch computed: inputs and `output_0, ...` in a safetensors file.
# verify: { inputs: test.safetensors, tolerance: 1e-4 }
";

/// A commented recipe for the model at `model`, which parses as it is.
pub fn starter(name: &Name, kind: ModelKind, model: &str) -> String {
    let model = model.replace('\\', "\\\\").replace('"', "\\\"");
    let (key, options) = (kind.key(), kind.options());
    let verify = if kind == ModelKind::Checkpoint { "" } else { VERIFY };
    format!(
        "\
# Every key is described by `etbuild schema recipe`.
etbuild: 1
name: \"{name}\"

# `pt2` is an archive of `torch.export.save`, `checkpoint` a folder of Hugging Face, `hf:OWNER/NAME` or a GGUF file, `python` a function: `file.py:function`.
model: {{ {key}: \"{model}\" }}

# One binary is built for each; `etbuild targets list` shows all.
targets: [linux-x86_64]

# The fastest kernels of each target are the default. The portable kernels, for a comparison:
# partition: portable

{options}{verify}
# Fail when the result is larger than this.
# budget: {{ file: 10 MiB, peak_ram: 64 MiB }}
"
    )
}

#[cfg(test)]
mod tests {
    use etbuild_system::MemorySystem;

    use super::*;
    use crate::load;

    const KINDS: [ModelKind; 4] = [ModelKind::Pt2, ModelKind::Checkpoint, ModelKind::Encoder, ModelKind::Python];

    /// The starter as a user may have it after removing the `# ` in front of the optional keys.
    fn uncommented(text: &str) -> String {
        let keys = ["partition", "quantize", "export", "text", "verify", "budget"];
        keys.iter().fold(text.to_owned(), |text, key| text.replace(&format!("# {key}:"), &format!("{key}:")))
    }

    #[test]
    fn a_starter_parses_with_and_without_its_optional_keys() {
        for kind in KINDS {
            let model = if kind == ModelKind::Python { "models/a \"b\"\\c.py:f" } else { "models/a \"b\"\\c.pt2" };
            let text = starter(&Name::new("8").unwrap(), kind, model);
            assert_ne!(uncommented(&text), text);
            for text in [text.clone(), uncommented(&text)] {
                let system = MemorySystem::with_files([("r.yaml", text)]);
                let loaded = load(&system, Path::new("r.yaml"), &[]).unwrap();
                assert_eq!(loaded.instances[0].name.as_str(), "8");
                assert!(model.starts_with(loaded.instances[0].model.files()[0].path.to_str().unwrap()));
            }
        }
    }

    #[test]
    fn a_recipe_is_named_after_its_model() {
        let name = |kind: ModelKind, path: &str| kind.recipe_name(Path::new(path)).as_str().to_owned();
        assert_eq!(name(ModelKind::Checkpoint, "models/Qwen3-0.6B/"), "Qwen3-0.6B");
        assert_eq!(name(ModelKind::Pt2, "a/mobilenet_v3.1.pt2"), "mobilenet_v3.1");
        assert_eq!(name(ModelKind::Pt2, "a/-my model (2).pt2"), "my-model--2");
        assert_eq!(name(ModelKind::Python, "a/build.py:small"), "build");
        assert_eq!(name(ModelKind::Pt2, "äöü.pt2"), "model");
        assert_ne!(name(ModelKind::Checkpoint, "."), ".");
        assert_eq!(name(ModelKind::Checkpoint, "hf:Qwen/Qwen3-0.6B@main"), "Qwen3-0.6B");
        assert_eq!(name(ModelKind::Checkpoint, "hf:a/b-GGUF/b-Q4_0.gguf@main"), "b-Q4_0");
    }
}
