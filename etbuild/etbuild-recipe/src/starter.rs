//! The recipe that `etbuild init` writes.

use crate::Name;

/// A commented recipe for the model at `model`, a `.pt2` archive. The recipe is valid without edits.
pub fn starter(name: &Name, model: &str) -> String {
    starter_for(name, "pt2", model)
}

/// The same for a model of another form, as the key of `model:` says.
pub fn starter_for(name: &Name, key: &str, model: &str) -> String {
    let model = model.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "\
# Every key is described by `etbuild schema recipe`.
etbuild: 1
name: \"{name}\"

# A model saved with `torch.export.save`. A folder with a Hugging Face checkpoint: `checkpoint: DIR`.
model: {{ {key}: \"{model}\" }}

# One binary is built for each; `etbuild targets list` shows all.
targets: [linux-x86_64]

# The fastest kernels of each target are the default. The portable kernels, for a comparison:
# partition: portable

# Smaller and faster: weights and activations in int8, with some inputs of the model to find their ranges.
# quantize: {{ scheme: int8, calibrate: calibration.safetensors }}

# Run every binary and compare it with what PyTorch computed: inputs and `output_0, ...` in a safetensors file.
# verify: {{ inputs: test.safetensors, tolerance: 1e-4 }}

# Fail when the result is larger than this.
# budget: {{ file: 10 MiB, peak_ram: 64 MiB }}
"
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use etbuild_system::MemorySystem;

    use super::*;
    use crate::load;

    /// The starter after removing `# ` in front of the optional keys.
    fn uncommented(text: &str) -> String {
        ["partition", "quantize", "verify", "budget"]
            .into_iter()
            .fold(text.to_owned(), |text, key| text.replace(&format!("# {key}:"), &format!("{key}:")))
    }

    #[test]
    fn a_starter_parses_with_and_without_its_optional_keys() {
        let text = starter(&Name::new("8").unwrap(), "models/a \"b\"\\c.pt2");
        for text in [text.clone(), uncommented(&text)] {
            let system = MemorySystem::with_files([("r.yaml", text)]);
            let loaded = load(&system, Path::new("r.yaml"), &[]).unwrap();
            assert_eq!(loaded.instances[0].name.as_str(), "8");
            assert_eq!(loaded.instances[0].model.files()[0].path, Path::new("models/a \"b\"\\c.pt2"));
        }
    }
}
