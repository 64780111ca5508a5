//! A model under a key, or in a form, of another tool.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_yaml::{Node, Value, quote};

/// The keys that people write for models of other tools, with the way to a model that etbuild reads.
const KEYS: &[(&[&str], &str)] = &[
    (&["onnx", "tflite", "coreml", "keras", "h5", "savedmodel", "tensorflow", "torchscript", "jit"], ARCHIVE),
    (&["pt", "pth", "bin", "pytorch", "torch", "state_dict", "weights"], ARCHIVE),
    (&["gguf"], GGUF),
    (&["ggml", "llama", "hf", "huggingface", "hub", "transformers", "safetensors"], CHECKPOINT),
];

const ARCHIVE: &str = "name an archive of `torch.export.save`: `model: { pt2: FILE }`; `etbuild init FILE` says how a file of \
    another tool becomes one";

const GGUF: &str = "name the file as a checkpoint: `model: { checkpoint: FILE.gguf }`";

const CHECKPOINT: &str = "name a folder, `model: { checkpoint: FOLDER }`, or a model of the \
    Hugging Face Hub, `model: { checkpoint: hf:OWNER/NAME }`";

/// The mistake in the value of `model:`, where the value is one of another tool.
pub fn model_of_another_tool(recipe: &Node) -> Option<Diagnostic> {
    let Value::Map(map) = &recipe.value else { return None };
    let model = &map.entries.iter().find(|entry| entry.key.text == "model")?.value;
    match &model.value {
        Value::Text(path) => Some(bare(model, path)),
        Value::Map(map) => map.entries.iter().find_map(|entry| {
            foreign(&entry.key.text).map(|help| {
                let message = format!("{} is no kind of model that etbuild reads", quote(&entry.key.text));
                Diagnostic::error(Code::ModelFormat, message).at(entry.key.place.span()).help(help)
            })
        }),
        _ => None,
    }
}

fn foreign(key: &str) -> Option<&'static str> {
    KEYS.iter().find(|(keys, _)| keys.contains(&key.to_lowercase().as_str())).map(|(_, help)| *help)
}

/// A path without the key that says what it is.
fn bare(node: &Node, path: &str) -> Diagnostic {
    let key = match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("pt2") => "pt2",
        Some("gguf") => "checkpoint",
        Some(ending) if ending.starts_with("py:") => "python",
        _ if foreign(path.rsplit('.').next().unwrap_or_default()).is_some() => "pt2",
        _ => "checkpoint",
    };
    let message = "`model` is a map that says what kind of model it is";
    let help = format!("write `model: {{ {key}: {} }}`", quote(path).trim_matches('`'));
    Diagnostic::error(Code::WrongType, message).at(node.place.span()).help(help)
}
