//! `verify:`.

use etbuild_yaml::Spanned;
use schemars::JsonSchema;
use serde::Deserialize;

use super::quantize::default_labels;
use super::{Metric, TimeLimit};
use crate::{FilePath, Tolerance};

/// The verification of the binary by `deploy`: runs the binary and compares its outputs with the model's outputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// A safetensors file with inputs, by name in the model, and PyTorch's outputs for these inputs; or, with `reference`, inputs
    /// alone. On hosted targets, a picture or a recording of `inputs:` is a case too.
    pub inputs: FilePath,
    /// A safetensors file with PyTorch's outputs and labels, if these are not in the file of the inputs.
    #[serde(default)]
    pub reference: Option<FilePath>,
    /// The largest absolute difference between an output and its reference; `1e-4` if omitted.
    #[serde(default)]
    pub tolerance: Option<Spanned<Tolerance>>,
    /// The prefix of the names of reference outputs in that file or in `reference`; a number from 0 follows.
    #[serde(default = "default_outputs")]
    pub outputs: String,
    /// The name of the tensor with the correct classes in that file; with labels, the accuracy is reported.
    #[serde(default = "default_labels")]
    pub labels: String,
    /// The metric of a correct prediction, with labels; `top1` if omitted.
    #[serde(default)]
    pub metric: Metric,
    /// The largest loss of accuracy against the reference outputs, in points; a larger loss is an error. Requires
    /// labels. With `max_loss`, the tolerance applies only if stated.
    #[serde(default)]
    pub max_loss: Option<Spanned<Tolerance>>,
    /// Whether the outputs of firmware must equal, bit for bit, those of its program file on this machine; `true` if omitted.
    #[serde(default = "default_exact")]
    pub exact: bool,
    /// The time limit of a run on the target, such as `500 ms`, `60 s` or `2 min`; a minute if omitted.
    #[serde(default)]
    pub timeout: TimeLimit,
}

impl Verify {
    /// The tolerance, or [`Tolerance::DEFAULT`] if omitted; `None` if the accuracy decides instead.
    pub fn tolerance(&self) -> Option<Tolerance> {
        let written = self.tolerance.as_ref().map(|tolerance| tolerance.value);
        written.or_else(|| self.max_loss.is_none().then_some(Tolerance::DEFAULT))
    }
}

const fn default_exact() -> bool {
    true
}

fn default_outputs() -> String {
    "output_".to_owned()
}
