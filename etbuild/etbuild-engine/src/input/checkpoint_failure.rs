//! Errors of checkpoints as diagnostics.

use etbuild_checkpoint::CheckpointError;
use etbuild_diagnostic::{Code, Diagnostic};

use super::pickled_hint::{INCOMPLETE, pickled_hint};

/// A checkpoint cannot be imported, or an adapter does not fit the checkpoint.
pub fn checkpoint(error: &CheckpointError) -> Diagnostic {
    let code = checkpoint_code(error);
    let diagnostic = Diagnostic::error(code, error.to_string());
    if let Some((shard, refused)) = error.refused_shard() {
        return diagnostic.help(pickled_hint(shard, refused.remedy()));
    }
    match (code, error) {
        (Code::TensorMismatch, CheckpointError::Adapter(_)) => {
            diagnostic.help("is the adapter one over this checkpoint, and of this configuration?")
        }
        (Code::FileMissing, _) => {
            diagnostic.help("name the folder that `save_pretrained` of `diffusers` writes; docs/diffusion.md lists the files")
        }
        (_, CheckpointError::ProcessorMissing) => {
            diagnostic.help("copy the file from where the checkpoint comes from; docs/vision-language.md has the files")
        }
        (_, CheckpointError::FeatureExtractorMissing) => {
            diagnostic.help("copy the file from where the checkpoint comes from; docs/speech.md has the files")
        }
        (_, CheckpointError::Encoder { .. }) => diagnostic.help(
            "move the file `mmproj` to another folder if it belongs to another model, or to read texts alone; docs/vision-language.md lists \
             the encoders",
        ),
        (_, CheckpointError::PoolingOfDecoder(_)) => diagnostic.help(
            "export the model with pooling, `model: { pt2: ... }`, or use an embedding model of docs/encoders.md; without the file the folder \
             is a text generator",
        ),
        (_, CheckpointError::EncoderOption(_)) => diagnostic.help("docs/encoders.md has the options of encoders"),
        (_, CheckpointError::AdapterOverGguf) => {
            diagnostic.help("name the checkpoint in Hugging Face's layout that the adapter was trained over")
        }
        (Code::ModelUnsupported, CheckpointError::Adapter(_)) => diagnostic
            .help("merge such an adapter into the model with PEFT: `merge_and_unload`, then `save_pretrained`"),
        (Code::ArchitectureUnknown | Code::ModelUnsupported, _) => {
            diagnostic.help("export such a model with `torch.export.save`: `model: { pt2: ... }`")
        }
        (Code::ModelMalformed, CheckpointError::Key { .. }) => {
            diagnostic.help("compare the key with the configuration that the model's makers published")
        }
        (Code::ShardMissing | Code::ModelMalformed, _) => diagnostic.help(INCOMPLETE),
        (Code::TensorMismatch, _) => diagnostic.help("are `config.json` and the safetensors of the same model?"),
        (Code::SchemeUnavailable, _) => diagnostic.help("leave `quantize.rotate` out"),
        (Code::FeatureMissing, _) => diagnostic.help(
            "use a released etbuild, or `cargo run --release --features text --` in place of `cargo run --release --`",
        ),
        (Code::ContextTooLong, _) => {
            diagnostic.help("make `export: { context: ... }`, or `text: { max_tokens: ... }` of an encoder, smaller, or leave it out")
        }
        (Code::OptionUnavailable, _) => diagnostic.help("leave the key out"),
        _ => diagnostic,
    }
}

fn checkpoint_code(error: &CheckpointError) -> Code {
    match error {
        CheckpointError::Adapter(error) => checkpoint_code(error),
        CheckpointError::AdapterKind { .. }
        | CheckpointError::AdapterOverGguf
        | CheckpointError::AdapterOverEncoder(_)
        | CheckpointError::PoolingOfDecoder(_)
        | CheckpointError::EncoderOption(_)
        | CheckpointError::Encoder { .. }
        | CheckpointError::Stack(_)
        | CheckpointError::Class { .. }
        | CheckpointError::Unsupported { .. } => Code::ModelUnsupported,
        CheckpointError::ProcessorMissing | CheckpointError::FeatureExtractorMissing => Code::ModelMalformed,
        CheckpointError::FileMissing(_) => Code::FileMissing,
        CheckpointError::PatternsLeftOut { .. } => Code::FeatureMissing,
        CheckpointError::AdapterTargets { .. } | CheckpointError::AdapterTensors(_) => Code::TensorMismatch,
        CheckpointError::Architecture { .. } => Code::ArchitectureUnknown,
        CheckpointError::Context { .. } => Code::ContextTooLong,
        CheckpointError::ShardMissing(_) => Code::ShardMissing,
        CheckpointError::TensorMissing(_)
        | CheckpointError::TensorsUnknown(_)
        | CheckpointError::TensorTwice(_)
        | CheckpointError::Shape { .. } => Code::TensorMismatch,
        CheckpointError::ElementType { .. } => Code::DtypeUnavailable,
        CheckpointError::Rotation(_) => Code::SchemeUnavailable,
        CheckpointError::Speculation
        | CheckpointError::WordsOfIntegers
        | CheckpointError::ImageTokens { .. }
        | CheckpointError::TextOption { .. } => Code::OptionUnavailable,
        CheckpointError::Invalid(_) => Code::ProgramInvalid,
        CheckpointError::ShardRefused { error, .. } if error.is_of_other_form() => Code::ModelUnsupported,
        CheckpointError::Json { .. }
        | CheckpointError::Key { .. }
        | CheckpointError::ShardMalformed { .. }
        | CheckpointError::ShardRefused { .. }
        | CheckpointError::StateTooLarge(_)
        | CheckpointError::Tokenizer { .. } => Code::ModelMalformed,
    }
}
