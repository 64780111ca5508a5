//! The recipe itself.

use std::collections::BTreeMap;

use etbuild_yaml::{FormatVersion, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Budget, Diffusion, Export, FilePath, Input, Link, Memory, Model, Name, Optimize, Output, Partition, Quantize,
    Runtime, Scheme, TextOptions, Updates, Verify,
};

/// A recipe: a model, the options of its compilation, and its targets.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The version of the recipe format: `1`.
    pub etbuild: FormatVersion,
    /// The name of the binary and of the output files: letters, digits, `-`, `_` and `.`.
    pub name: Name,
    /// The source of the model.
    pub model: Model,
    /// A folder with a LoRA adapter of the checkpoint in PEFT's format: `adapter_config.json` and
    /// `adapter_model.safetensors`. The program computes the adapter beside the unchanged base weights; with `export: {
    /// weights: external }` the adapter has a separate data file.
    #[serde(default)]
    pub adapter: Option<FilePath>,
    /// Folders of crates with custom operators that the model calls, from `etbuild init operators FOLDER`: schemas, and kernels in Rust.
    #[serde(default)]
    pub operators: Vec<FilePath>,
    /// Options of the export and of the program.
    #[serde(default)]
    pub export: Export,
    /// Texts of an encoder, such as BERT. If omitted, the checkpoint decides.
    #[serde(default)]
    pub text: TextOptions,
    /// A pipeline that makes pictures of texts, of the methods `text_encoder`, `unet` and `vae_decoder`.
    #[serde(default)]
    pub diffusion: Option<Diffusion>,
    /// Quantization of weights and activations. If omitted, the program stays in floating point.
    #[serde(default)]
    pub quantize: Option<Quantize>,
    /// Backends in order of preference, such as `cpu`: a name or a list; portable kernels execute the remaining nodes. `auto`, the default: the best backends of the target. `portable`: portable kernels only, slower.
    #[serde(default)]
    pub partition: Partition,
    /// Names of targets, from `etbuild targets list`. Each target gets a binary.
    #[serde(default)]
    pub targets: Vec<Spanned<String>>,
    /// The runtime that loads the program file, besides the binary itself; `etbuild` if omitted.
    #[serde(default)]
    pub runtime: Runtime,
    /// The files of a hosted binary; `files` if omitted. A bare-metal binary contains the program file.
    #[serde(default)]
    pub output: Output,
    /// What the binary of a hosted target is made of: `selective`, device crates compiled for the program, or `prebuilt`, a runtime with all
    /// kernels, for which nothing is compiled. If omitted: `selective` where a Rust toolchain for the target is installed.
    #[serde(default)]
    pub link: Option<Spanned<Link>>,
    /// Whether to build a library with a C interface, for an app or for firmware, and the package that the target's tools take: an AAR, a Swift
    /// package, an npm package, files for CMake; default: no.
    #[serde(default)]
    pub library: Option<Spanned<bool>>,
    /// Whether the binary of a language model or of an encoder has an OpenAI-compatible server, `--serve`; default: no. `etbuild serve` sets the key.
    #[serde(default)]
    pub server: Option<Spanned<bool>>,
    /// Whether the binary of a language model has constrained output: JSON schemas, regular expressions, grammars, and tool calls that a
    /// server demands; default: with `server: true`.
    #[serde(default)]
    pub constrain: Option<Spanned<bool>>,
    /// The updates over the air that a hosted binary takes, with the options `--update`, `--rollback` and `--confirm`: a public key of Ed25519
    /// in 64 hexadecimal digits, which `etbuild delta --key` prints, or `unsigned`. If omitted, the binary takes none.
    #[serde(default)]
    pub updates: Option<Spanned<Updates>>,
    /// Whether a hosted binary records when each operator runs, with the option `--trace FILE`; default: no. `etbuild trace --device` sets
    /// the key.
    #[serde(default)]
    pub trace: Option<Spanned<bool>>,
    /// How many times the firmware of a board executes each verification case again and counts, from 1 to 10000; if omitted, not at all. `etbuild deploy
    /// --bench` sets the key.
    #[serde(default)]
    pub bench: Option<Spanned<u32>>,
    /// The aim of the compiler for firmware; `size` if omitted. Binaries of hosted targets are always fast.
    #[serde(default)]
    pub optimize: Optimize,
    /// The preprocessing of inputs that are pictures or recordings, by name in the model. The program file contains the
    /// preprocessing, so `etbuild run` and hosted binaries take PNG, JPEG and WAV files.
    #[serde(default)]
    pub inputs: Option<Spanned<BTreeMap<String, Input>>>,
    /// A text file with the names of the classes, a line each in the order of the model's first output, for the most probable
    /// classes that `etbuild run` and hosted binaries print. If omitted: `labels.txt` beside the model, if the number of lines fits.
    #[serde(default)]
    pub labels: Option<FilePath>,
    /// Options of the memory plan.
    #[serde(default)]
    pub memory: Memory,
    /// The verification of the binary. If omitted, the binary is built and not run.
    #[serde(default)]
    pub verify: Option<Verify>,
    /// Limits of size and memory; a result over a limit is an error.
    #[serde(default)]
    pub budget: Budget,
}

/// The texts that a server continues in one forward pass where the recipe names no number.
const BATCH: u32 = 8;

impl Recipe {
    /// The number of texts of the method that continues several texts; `None` for no such method.
    pub fn batch(&self) -> Option<u32> {
        let usual = if self.server.as_ref().is_some_and(|server| server.value) { BATCH } else { 0 };
        let texts = self.export.batch.as_ref().map_or(usual, |batch| batch.value);
        Some(texts).filter(|texts| *texts > 0 && !self.shares_scales() && !self.has_static_ranges())
    }

    /// Whether the binary of a language model has constrained output.
    pub fn constrains(&self) -> bool {
        let is_server = self.server.as_ref().is_some_and(|server| server.value);
        self.constrain.as_ref().map_or(is_server, |constrain| constrain.value)
    }

    /// Whether a scheme of the recipe quantizes all tokens of a forward pass with one scale.
    pub(crate) fn shares_scales(&self) -> bool {
        self.uses(|scheme| scheme == Scheme::DynamicInt8)
    }

    /// Whether a scheme of the recipe has ranges from calibration, which are measured on methods of one text.
    fn has_static_ranges(&self) -> bool {
        self.uses(|scheme| {
            !matches!(
                scheme,
                Scheme::Float
                    | Scheme::Stored
                    | Scheme::DynamicInt8
                    | Scheme::Int8Weights
                    | Scheme::Int4Weights
                    | Scheme::Dynamic8Weight4
            )
        })
    }

    /// Whether a scheme of the recipe is one that `is` names.
    fn uses(&self, is: impl Fn(Scheme) -> bool) -> bool {
        self.quantize.as_ref().is_some_and(|quantize| {
            let mut schemes = quantize.layers.iter().map(|layer| layer.scheme.value).chain([quantize.scheme.value]);
            schemes.any(is)
        })
    }

    /// Every file or folder that the recipe names.
    pub fn files(&self) -> Vec<&FilePath> {
        let calibrate = self.quantize.as_ref().and_then(|quantize| quantize.calibrate.as_ref());
        let labelled = self.quantize.as_ref().and_then(|quantize| quantize.accuracy.as_ref());
        let labelled = labelled.map(|accuracy| &accuracy.data);
        let inputs = self.verify.as_ref().map(|verify| &verify.inputs);
        let reference = self.verify.as_ref().and_then(|verify| verify.reference.as_ref());
        self.model
            .files()
            .into_iter()
            .chain(&self.adapter)
            .chain(calibrate)
            .chain(labelled)
            .chain(inputs)
            .chain(reference)
            .chain(&self.labels)
            .chain(self.diffusion.as_ref().map(|diffusion| &diffusion.pipeline))
            .chain(&self.export.files)
            .chain(&self.operators)
            .collect()
    }
}
