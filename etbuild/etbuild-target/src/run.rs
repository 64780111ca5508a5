//! The formats of a binary, and the ways to run a binary.

use etbuild_yaml::{Frequency, Name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A form in which the binary is delivered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Image {
    /// The linked file itself.
    Elf,
    /// USB flashing format: blocks with target addresses, which a boot ROM copies.
    Uf2(Uf2),
}

/// The chip facts in a UF2 file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uf2 {
    /// The family id that the boot ROM accepts.
    pub family: u32,
}

/// How a binary is run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Run {
    /// Not by etbuild: a binary is built, and somebody else brings it to the machine.
    #[default]
    None,
    /// As a process of the machine that etbuild runs on, where that machine is of the same kind.
    Native,
    /// Inside an emulator.
    Emulator(Emulator),
    /// On a board.
    Device(Device),
}

/// An emulator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Emulator {
    /// The program, looked up in `PATH`.
    pub program: String,
    /// The arguments; `{binary}` is replaced by the path of the binary.
    pub arguments: Vec<String>,
    /// The rate of the processor's counter, where the emulator executes an instruction in a nanosecond: the system timer of a
    /// Cortex-M, or 1 GHz on RISC-V. Left out, instructions are not counted.
    #[serde(default)]
    pub timer: Option<Frequency>,
    /// The Debian package of the emulator.
    pub package: String,
}

/// A board that appears as a drive and runs an image copied to the drive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// The label of the drive.
    pub drive: Name,
    /// The instruction for a person that makes the drive appear.
    pub attach: String,
}
