//! How a refused file of `torch.save` becomes one of safetensors.

use etbuild_checkpoint::{ADAPTER_SHARD, PICKLED_ADAPTER, PICKLED_SHARD, Remedy, SHARD, WEIGHTS};

/// What helps where a file is damaged.
pub const INCOMPLETE: &str =
    "is the download complete? a file of a hundred bytes is a pointer of Git LFS: `git lfs pull` fetches the file";

/// What helps against the refusal of a shard.
pub fn pickled_hint(shard: &str, remedy: Remedy) -> String {
    match remedy {
        Remedy::Copy => INCOMPLETE.to_owned(),
        Remedy::Tensors => format!("write the tensors alone, in Python:{}", script(shard, true)),
        Remedy::Executed => format!(
            "Python executes what such a file names: if you trust its makers, write the tensors alone, in Python:{}",
            script(shard, false)
        ),
        Remedy::Refused => {
            "do not load the file: weights need no such function; take safetensors of the model".to_owned()
        }
        Remedy::Named => {
            let model = "the dictionary of tensors by name, where the model is at hand";
            format!("save {model}: `torch.save(model.state_dict(), \"{shard}\")`")
        }
    }
}

/// The lines of Python that write `model.safetensors` beside a file: the tensors of the dictionary with the most, each with elements of its own
/// in row-major order, as safetensors demand. A file with a module has the dictionary of the module.
fn script(shard: &str, weights_only: bool) -> String {
    let (folder, name) =
        shard.rsplit_once('/').map_or((String::new(), shard), |(folder, name)| (format!("{folder}/"), name));
    let made = if name == PICKLED_ADAPTER { ADAPTER_SHARD } else { SHARD };
    let files = match [PICKLED_SHARD, PICKLED_ADAPTER].contains(&name) {
        true => format!("[\"{shard}\"]"),
        // One file takes the place of all shards.
        false => format!("sorted(set(json.load(open(\"{folder}{}\"))[\"weight_map\"].values()))", WEIGHTS[1].index),
    };
    let weights_only = if weights_only { "True" } else { "False" };
    [
        "import json, torch, safetensors.torch".to_owned(),
        "tensors = {}".to_owned(),
        format!("for file in {files}:"),
        format!("  made = torch.load(file, map_location=\"cpu\", weights_only={weights_only})"),
        "  parts = [made, *made.values()] if isinstance(made, dict) else [made]".to_owned(),
        "  parts = [part.state_dict() if hasattr(part, \"state_dict\") else part for part in parts]".to_owned(),
        "  parts = [part for part in parts if isinstance(part, dict)]".to_owned(),
        "  tensors |= max(parts, key=lambda part: sum(map(torch.is_tensor, part.values())))".to_owned(),
        "tensors = {name: tensor.clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items() if torch.is_tensor(tensor)}"
            .to_owned(),
        format!("safetensors.torch.save_file(tensors, \"{folder}{made}\")"),
    ]
    .map(|line| format!("\n  {line}"))
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_become_one_file_and_adapters_and_modules_one_of_their_own() {
        let of = |shard| pickled_hint(shard, Remedy::Tensors);
        assert!(of("pytorch_model-00002-of-00002.bin").contains("pytorch_model.bin.index.json"));
        assert!(of(PICKLED_ADAPTER).contains("save_file(tensors, \"adapter_model.safetensors\")"));
        assert!(of("2_Dense/pytorch_model.bin").contains("save_file(tensors, \"2_Dense/model.safetensors\")"));
    }

    #[test]
    fn only_trusted_files_are_executed() {
        assert!(!pickled_hint(PICKLED_SHARD, Remedy::Refused).contains("torch.load"));
        let executed = pickled_hint(PICKLED_SHARD, Remedy::Executed);
        assert!(executed.contains("trust") && executed.contains("weights_only=False"));
    }
}
