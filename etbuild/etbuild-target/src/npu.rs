//! The NPU of a target: the chip that graphs are compiled for.

use etbuild_yaml::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The NPU of a target, in the form of its vendor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Npu")]
pub enum Npu {
    /// The NPU of a Qualcomm chip, which the backend `qnn` compiles graphs for.
    Qualcomm(Qualcomm),
    /// An Arm Ethos-U beside a microcontroller, which the backend `ethos-u` compiles graphs for.
    EthosU(EthosU),
}

/// The NPU of a Qualcomm chip.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Qualcomm {
    /// The vendor's name of the chip, such as `SM8750`; a chip that the backend does not know is refused there.
    pub soc: Name,
}

/// An Arm Ethos-U NPU. The names are those of Arm's compiler Vela.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EthosU {
    /// The kind, and the multiplications per cycle.
    #[serde(rename = "ethos-u")]
    pub accelerator: Accelerator,
    /// The memories and the clock: a `System_Config` of Vela, such as `Ethos_U55_High_End_Embedded`.
    pub system_config: String,
    /// Which memory has weights and feature maps: a `Memory_Mode` of Vela, such as `Shared_Sram`.
    pub memory_mode: String,
    /// The address of the NPU's registers.
    pub registers: u32,
}

/// The kinds and sizes of Ethos-U.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
pub enum Accelerator {
    /// Ethos-U55 with 32 multiplications per cycle.
    #[serde(rename = "u55-32")]
    U55x32,
    /// Ethos-U55 with 64 multiplications per cycle.
    #[serde(rename = "u55-64")]
    U55x64,
    /// Ethos-U55 with 128 multiplications per cycle.
    #[serde(rename = "u55-128")]
    U55x128,
    /// Ethos-U55 with 256 multiplications per cycle.
    #[serde(rename = "u55-256")]
    U55x256,
    /// Ethos-U65 with 256 multiplications per cycle.
    #[serde(rename = "u65-256")]
    U65x256,
    /// Ethos-U65 with 512 multiplications per cycle.
    #[serde(rename = "u65-512")]
    U65x512,
    /// Ethos-U85 with 128 multiplications per cycle.
    #[serde(rename = "u85-128")]
    U85x128,
    /// Ethos-U85 with 256 multiplications per cycle.
    #[serde(rename = "u85-256")]
    U85x256,
    /// Ethos-U85 with 512 multiplications per cycle.
    #[serde(rename = "u85-512")]
    U85x512,
    /// Ethos-U85 with 1024 multiplications per cycle.
    #[serde(rename = "u85-1024")]
    U85x1024,
    /// Ethos-U85 with 2048 multiplications per cycle.
    #[serde(rename = "u85-2048")]
    U85x2048,
}

impl Accelerator {
    /// The name in target files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U55x32 => "u55-32",
            Self::U55x64 => "u55-64",
            Self::U55x128 => "u55-128",
            Self::U55x256 => "u55-256",
            Self::U65x256 => "u65-256",
            Self::U65x512 => "u65-512",
            Self::U85x128 => "u85-128",
            Self::U85x256 => "u85-256",
            Self::U85x512 => "u85-512",
            Self::U85x1024 => "u85-1024",
            Self::U85x2048 => "u85-2048",
        }
    }
}
