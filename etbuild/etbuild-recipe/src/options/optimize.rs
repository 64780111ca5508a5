//! `optimize:`.

use schemars::JsonSchema;
use serde::Deserialize;

/// The aim of the compiler for firmware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Optimize {
    /// Small code.
    #[default]
    Size,
    /// Fast kernels, in more flash.
    Speed,
}
