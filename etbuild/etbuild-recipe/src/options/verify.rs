//! `verify:`.

use etbuild_yaml::Spanned;
use schemars::JsonSchema;
use serde::Deserialize;

use super::quantize::default_labels;
use super::{Metric, TimeLimit};
use crate::{FilePath, Tolerance};

/// How `deploy` proves that the binary computes what the model computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// A safetensors file with inputs, under their names in the model, and the outputs that PyTorch computed from them.
    pub inputs: FilePath,
    /// Largest absolute difference that is allowed between an output and its reference; `1e-4` where left out.
    #[serde(default)]
    pub tolerance: Option<Spanned<Tolerance>>,
    /// How the names of the reference outputs begin in that file; a number from 0 follows.
    #[serde(default = "default_outputs")]
    pub outputs: String,
    /// The tensor of right classes in that file, if it has one; the accuracy is reported from it.
    #[serde(default = "default_labels")]
    pub labels: String,
    /// What counts as a right answer where there are labels; `top1` where left out.
    #[serde(default)]
    pub metric: Metric,
    /// How much accuracy the binary may lose against the reference outputs, in points; more is an error. It needs labels. With
    /// it, the tolerance holds only where it is written.
    #[serde(default)]
    pub max_loss: Option<Spanned<Tolerance>>,
    /// How long a run on the target may take, as `500 ms`, `60 s` or `2 min`; one minute where left out.
    #[serde(default)]
    pub timeout: TimeLimit,
}

impl Verify {
    /// The tolerance, or [`Tolerance::DEFAULT`] where none is written; `None` where the accuracy judges instead.
    pub fn tolerance(&self) -> Option<Tolerance> {
        let written = self.tolerance.as_ref().map(|tolerance| tolerance.value);
        written.or_else(|| self.max_loss.is_none().then_some(Tolerance::DEFAULT))
    }
}

fn default_outputs() -> String {
    "output_".to_owned()
}
