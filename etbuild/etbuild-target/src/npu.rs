//! The NPU of a target: the chip that graphs are compiled for.

use etbuild_yaml::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The NPU of a target, which the backend `qnn` compiles graphs for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Npu")]
pub struct Npu {
    /// The vendor's name of the chip, such as `SM8750`; a chip that the backend does not know is refused there.
    pub soc: Name,
}
