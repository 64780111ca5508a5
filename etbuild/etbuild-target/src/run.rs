//! The forms of a binary, and the ways to run it.

use etbuild_yaml::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A form in which the binary is delivered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Image {
    /// The linked file itself.
    Elf,
    /// USB flashing format: blocks that a boot ROM copies to where they say.
    Uf2(Uf2),
}

/// What a UF2 file says about its chip.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uf2 {
    /// The family id that the boot ROM accepts.
    pub family: u32,
}

/// How a binary is run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Run {
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
    /// Its arguments; `{binary}` stands for the path of the binary.
    pub arguments: Vec<String>,
    /// The Debian package that holds it.
    pub package: String,
}

/// A board that shows itself as a drive and runs the image that is copied to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// The label of the drive.
    pub drive: Name,
    /// What a person does to make the drive appear.
    pub attach: String,
}
