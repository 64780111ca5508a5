//! The recipe itself.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_system::System;
use etbuild_yaml::{FormatVersion, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Budget, Export, FilePath, Memory, Model, Name, Output, Partition, Quantize, Runtime, Verify};

/// One deployable: a model, and how it gets onto each of its targets.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Version of the recipe format: `1`.
    pub etbuild: FormatVersion,
    /// The name of the deployable, and of its files: letters, digits, `-`, `_` and `.`.
    pub name: Name,
    /// Where the model comes from.
    pub model: Model,
    /// A folder with a LoRA adapter over a checkpoint, as PEFT writes it: `adapter_config.json` and `adapter_model.safetensors`. Its tensors are computed with beside the weights, which stay as they are; with `export: { weights: external }` they have a data file of their own.
    #[serde(default)]
    pub adapter: Option<FilePath>,
    /// How the model is turned into a program.
    #[serde(default)]
    pub export: Export,
    /// How weights and activations are made smaller. Left out: nothing is quantized.
    #[serde(default)]
    pub quantize: Option<Quantize>,
    /// Backends in order of preference, such as `cpu`: a name or a list. The portable kernels run the nodes that no backend runs. `auto`, or a missing key: the best backends of the target. `portable`: the portable kernels run every node, more slowly.
    #[serde(default)]
    pub partition: Partition,
    /// Names of targets, as `etbuild targets list` shows them. Each gets its own binary.
    #[serde(default)]
    pub targets: Vec<Spanned<String>>,
    /// The runtime that loads the program file, besides the binary's own; `etbuild` where left out.
    #[serde(default)]
    pub runtime: Runtime,
    /// The files of a hosted binary; `files` where left out. A board's binary always has the program file inside.
    #[serde(default)]
    pub output: Output,
    /// Whether a static library with a C interface, for an app to link, is made beside the binary; not where left out.
    #[serde(default)]
    pub library: Option<Spanned<bool>>,
    /// Where the tensors of a running program lie.
    #[serde(default)]
    pub memory: Memory,
    /// How the binary is proved right. Left out: it is built and not run.
    #[serde(default)]
    pub verify: Option<Verify>,
    /// What the result may cost; more is an error.
    #[serde(default)]
    pub budget: Budget,
}

impl Recipe {
    /// Every file or folder that the recipe names.
    pub fn files(&self) -> Vec<&FilePath> {
        let calibrate = self.quantize.as_ref().and_then(|quantize| quantize.calibrate.as_ref());
        let labelled = self.quantize.as_ref().and_then(|quantize| quantize.accuracy.as_ref());
        let labelled = labelled.map(|accuracy| &accuracy.data);
        let inputs = self.verify.as_ref().map(|verify| &verify.inputs);
        self.model
            .files()
            .into_iter()
            .chain(&self.adapter)
            .chain(calibrate)
            .chain(labelled)
            .chain(inputs)
            .chain(&self.export.files)
            .collect()
    }
}

/// One error for each file or folder that a recipe names and that does not exist.
pub fn missing_files(recipe: &Recipe, system: &dyn System) -> Vec<Diagnostic> {
    let exists = |file: &&FilePath| system.stamp(&file.path).is_ok() || system.is_dir(&file.path);
    recipe.files().into_iter().filter(|file| !exists(file)).map(missing).collect()
}

fn missing(file: &FilePath) -> Diagnostic {
    let message = format!("there is no file `{}`", file.path.display());
    let help = "paths are relative to the file they are written in; is it spelled right?";
    Diagnostic::error(Code::FileMissing, message).at((*file.span).clone()).help(help)
}
