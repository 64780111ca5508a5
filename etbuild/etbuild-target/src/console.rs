//! Where a program's text goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a program's text goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Console {
    /// Nowhere: the program runs and says nothing.
    None,
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
    /// The register writes at start, in order.
    pub setup: Vec<RegisterStep>,
    /// The register that takes the next byte.
    pub data: u32,
    /// The status register.
    pub status: u32,
    /// The bits of the status register that are set while the transmit queue is full; default: none.
    #[serde(default)]
    pub full: u32,
    /// The bits of the status register that are set while the transmit queue takes a byte; default: none.
    #[serde(default)]
    pub ready: u32,
    /// The bits per second that the setup chooses; default: 115200.
    #[serde(default = "usual_baud")]
    pub baud: u32,
}

const fn usual_baud() -> u32 {
    115_200
}

/// A register write of the setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RegisterStep {
    /// Writes a value.
    Write(RegisterValue),
    /// Sets bits and keeps the remaining bits.
    Set(RegisterBits),
    /// Clears bits and keeps the remaining bits.
    Clear(RegisterBits),
    /// Waits until all these bits are set.
    Wait(RegisterBits),
}

/// A register with its whole value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterValue {
    /// The register's address.
    pub address: u32,
    /// The value.
    pub value: u32,
}

/// A register with some of its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterBits {
    /// The register's address.
    pub address: u32,
    /// The bits.
    pub bits: u32,
}
