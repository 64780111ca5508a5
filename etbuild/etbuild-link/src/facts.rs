//! What a project is made from: plain values, independent of recipes and target files.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::KernelTable;

/// Everything that a generated project states.
#[derive(Clone, Debug)]
pub struct ProjectFacts {
    /// The folder below `templates/`.
    pub template: String,
    /// The binary's name, for its messages.
    pub name: String,
    /// What `--version` prints: who made this binary, from what.
    pub stamp: String,
    /// The kernels, in the order of the program's operators.
    pub kernels: KernelTable,
    /// The engines of the program's delegates.
    pub engines: Vec<EngineFacts>,
    /// The method that runs.
    pub method: MethodFacts,
    /// The program file.
    pub program: Program,
    /// Whether a language model reads text, and not only tokens.
    pub text: bool,
    /// Whether there is a library for C beside the binary.
    pub library: bool,
    /// The board; `None` on a target with an operating system.
    pub board: Option<BoardFacts>,
}

/// An engine that a binary has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct EngineFacts {
    /// What program files call it.
    pub id: String,
    /// The device crate that executes its blobs.
    pub package: String,
    /// The features of that crate that the blobs need.
    pub features: BTreeSet<String>,
}

/// A method, as far as a generated project cares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MethodFacts {
    /// Its name.
    pub name: String,
    /// The names of its inputs.
    pub inputs: Vec<String>,
    /// The bytes of each input.
    pub input_bytes: Vec<usize>,
    /// The bytes of each output.
    pub output_bytes: Vec<usize>,
    /// The bytes of each planned arena: memory id 1 first.
    pub arenas: Vec<usize>,
    /// The integers that hold the shapes of its dynamic tensors.
    pub sizes: usize,
    /// The number of values.
    pub values: usize,
}

/// Where a binary finds its program file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// Inside itself.
    Embedded(Vec<u8>),
    /// Beside itself, under this file name.
    Beside(String),
}

/// A board without an operating system.
#[derive(Clone, Debug)]
pub struct BoardFacts {
    /// Its memory.
    pub memory: MemoryFacts,
    /// Where its text goes.
    pub console: Console,
    /// What it checks itself with.
    pub verify: VerifyData,
}

/// The memory of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryFacts {
    /// Instructions.
    pub code: Region,
    /// Read-only data: the program file, the weights, the verification data.
    pub constants: Region,
    /// Planned tensors, static data and the stack.
    pub arena: Region,
    /// Bytes kept for the stack.
    pub stack: u64,
    /// What a boot ROM looks for.
    pub boot_block: Option<BootBlock>,
}

/// A range of addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Region {
    /// The bank's name, by which errors call it.
    pub name: String,
    /// The first address.
    pub origin: u64,
    /// The size in bytes.
    pub size: u64,
}

/// Words that a boot ROM looks for near the start of the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BootBlock {
    /// The words.
    pub words: Vec<u32>,
    /// How far from the start they may lie, in bytes.
    pub within: u64,
}

/// Where a board's text goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Console {
    /// The debugger's or emulator's console.
    Semihosting,
    /// A serial port.
    Uart(Uart),
}

/// A serial port. Addresses and values are 32 bits wide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum RegisterStep {
    /// Writes `bits`.
    Write {
        /// The register's address.
        address: u32,
        /// Its whole value.
        bits: u32,
    },
    /// Sets `bits` and leaves the others.
    Set {
        /// The register's address.
        address: u32,
        /// The bits.
        bits: u32,
    },
    /// Clears `bits` and leaves the others.
    Clear {
        /// The register's address.
        address: u32,
        /// The bits.
        bits: u32,
    },
    /// Waits until all of `bits` are set.
    Wait {
        /// The register's address.
        address: u32,
        /// The bits.
        bits: u32,
    },
}

/// What a board checks itself with. Tensors of a case lie one after the other, row-major and little-endian.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyData {
    /// The number of cases.
    pub cases: usize,
    /// The inputs of the first case, then of the second, and so on.
    pub inputs: Vec<u8>,
    /// The outputs that PyTorch computed, likewise; `float32`.
    pub outputs: Vec<u8>,
}
