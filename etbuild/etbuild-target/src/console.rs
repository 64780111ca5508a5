//! Where a program's text goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a program's text goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Console {
    /// Standard output of a process.
    Stdio,
    /// The debugger's or emulator's console, through Arm semihosting.
    Semihosting,
    /// A serial port.
    Uart(Uart),
}

/// A serial port, described by its registers. Addresses and values are 32 bits wide.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uart {
    /// What is done once at start, in order.
    pub setup: Vec<RegisterStep>,
    /// The register that takes the next byte.
    pub data: u32,
    /// The register that says whether there is room.
    pub status: u32,
    /// The bits of the status register that are set while there is no room.
    pub full: u32,
}

/// One step of a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RegisterStep {
    /// Writes a value.
    Write(RegisterValue),
    /// Sets bits and leaves the others.
    Set(RegisterBits),
    /// Clears bits and leaves the others.
    Clear(RegisterBits),
    /// Waits until all these bits are set.
    Wait(RegisterBits),
}

/// A register and its whole value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterValue {
    /// The register's address.
    pub address: u32,
    /// The value.
    pub value: u32,
}

/// A register and some of its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterBits {
    /// The register's address.
    pub address: u32,
    /// The bits.
    pub bits: u32,
}
