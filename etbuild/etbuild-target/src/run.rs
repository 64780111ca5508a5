//! The formats of a binary, and the ways to run a binary.

use std::borrow::Cow;
use std::fmt;

use etbuild_yaml::{Frequency, quote};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use crate::{Board, Rust};

/// A form in which the binary is delivered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Image {
    /// The linked file itself.
    Elf,
    /// An executable of Windows.
    Exe,
    /// A module of WebAssembly.
    Wasm,
    /// USB flashing format: blocks with target addresses, which a boot ROM copies.
    Uf2(Uf2),
}

impl Image {
    /// What systems expect at the end of a binary's file name.
    pub(crate) const fn binary_ending(&self) -> Option<&'static str> {
        match self {
            Self::Exe => Some(".exe"),
            Self::Wasm => Some(".wasm"),
            Self::Elf | Self::Uf2(_) => None,
        }
    }
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
    /// On the machine that etbuild runs on, as a program file: the kernels of the processor natively, and the command streams of an Ethos-U on a
    /// model of the NPU. The binary itself does not run.
    Model,
    /// Inside an emulator.
    Emulator(Emulator),
    /// On a board: `probe`, or the way to bring firmware to it.
    Device(Board),
    /// On the one Android device that is attached, through the Android Debug Bridge.
    Adb,
    /// On a host, as `ssh` takes it: `user@host`, or `ssh://user@host:port`.
    Ssh(Host),
}

/// The name of a device for `ssh` or `adb`, which is never an option or a command of a shell.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Host(String);

impl Host {
    /// The name in `text`; `None` for a text that begins like an option, or has other characters than names and addresses have.
    pub fn new(text: &str) -> Option<Self> {
        let is_allowed = |character: char| character.is_ascii_alphanumeric() || ".-_@:/[]%".contains(character);
        let is_host = text.starts_with(|first: char| first != '-') && text.len() <= 255 && text.chars().all(is_allowed);
        is_host.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Host {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).ok_or_else(|| de::Error::custom(format!("{} is no host; write `user@host`", quote(&text))))
    }
}

impl JsonSchema for Host {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Host".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9._@:/\\[\\]%][A-Za-z0-9._@:/\\[\\]%-]{0,254}$" })
    }
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
    /// How Rust compiles the twin of the binary, for an emulator of the processor without the operating system of the target: the
    /// same crates and the same program file with another C library. Left out, the binary itself runs.
    #[serde(default)]
    pub twin: Option<Rust>,
}
