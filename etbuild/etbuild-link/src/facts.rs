//! The facts of a project: plain values, independent of recipes and target files.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::packed;
use crate::plan::PlanFacts;
use crate::{KernelTable, LibraryForm, LinkError, OperatorCrate, SystemFiles};

/// The facts of a generated project.
#[derive(Clone, Debug)]
pub struct ProjectFacts {
    /// The folder below `templates/`.
    pub template: String,
    /// The binary's name, for messages.
    pub name: String,
    /// The text of `--version`: the producer of this binary and the inputs.
    pub stamp: String,
    /// The kernels, in the order of the program's operators.
    pub kernels: KernelTable,
    /// The crates of custom operators that have some of the kernels.
    pub operators: Vec<OperatorCrate>,
    /// The delegates of the program.
    pub engines: Vec<EngineFacts>,
    /// The method that runs.
    pub method: MethodFacts,
    /// The program file.
    pub program: Program,
    /// Whether a language model reads text, and not only tokens.
    pub text: bool,
    /// Whether the binary reads pictures and recordings.
    pub media: bool,
    /// Whether the binary of a language model reads pictures.
    pub vision: bool,
    /// The updates that the binary takes; `None` for none.
    pub updates: Option<UpdateFacts>,
    /// Whether the binary of a language model hears.
    pub hearing: bool,
    /// The library beside the binary, if any.
    pub library: Option<LibraryForm>,
    /// Whether the binary of a language model has a server.
    pub server: bool,
    /// Whether the binary of a language model has constrained output.
    pub constrain: bool,
    /// Whether the binary records its executions.
    pub trace: bool,
    /// The processor, for a binary that Rust's own linker links with Android's C library.
    pub system: Option<SystemFiles>,
    /// The board; `None` on a target with an operating system.
    pub board: Option<BoardFacts>,
}

/// A delegate of a binary.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct EngineFacts {
    /// The backend's name in program files.
    pub id: String,
    /// The device crate that executes the blobs.
    pub package: String,
    /// The features of that crate that the blobs need.
    pub features: BTreeSet<String>,
    /// Whether that crate has `problem()`, the last failure in words.
    pub explains: bool,
    /// Whether that crate has `reporting_delegate()`, which reports each instruction.
    pub reports: bool,
}

/// A method, as far as a generated project cares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MethodFacts {
    /// The name.
    pub name: String,
    /// The names of the inputs.
    pub inputs: Vec<String>,
    /// The bytes of each input.
    pub input_bytes: Vec<usize>,
    /// The bytes of each output.
    pub output_bytes: Vec<usize>,
    /// The number of the element type of each output, as in program files.
    pub output_types: Vec<u8>,
    /// The planned arenas: memory id 1 first.
    pub arenas: Vec<ArenaFacts>,
    /// The integers that hold the shapes of the dynamic tensors.
    pub sizes: usize,
    /// The number of values.
    pub values: usize,
    /// The delegate id of each blob, in the order of the file's delegates.
    pub delegates: Vec<String>,
}

/// Memory for planned tensors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArenaFacts {
    /// The name of the memory bank.
    pub bank: String,
    /// The size in bytes.
    pub size: usize,
}

/// The place of the program file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// Inside itself.
    Embedded(Vec<u8>),
    /// Beside itself, under this file name.
    Beside(String),
    /// Not known yet: the end of the binary's file will say.
    Later,
}

/// A board without an operating system.
#[derive(Clone, Debug)]
pub struct BoardFacts {
    /// The processor.
    pub processor: Processor,
    /// The memory.
    pub memory: MemoryFacts,
    /// The console.
    pub console: Console,
    /// The register that counts cycles on RISC-V; `None` for `mcycle`.
    pub counter: Option<Counter>,
    /// Whether the compiler aims at speed, and not at small code.
    pub speed: bool,
    /// How many times the firmware executes each verification case again and counts; 0 for not at all.
    pub bench: u32,
    /// The digest of everything that the firmware is made from, code and data.
    pub build: String,
    /// The verification data.
    pub verify: VerifyData,
}

impl ProjectFacts {
    /// Refuses a program file and verification data that the bank for constants cannot have, before anything is compiled.
    ///
    /// # Errors
    /// [`LinkError::ConstantsTooLarge`].
    pub fn check_constants(&self) -> Result<(), LinkError> {
        let (Some(board), Program::Embedded(program)) = (&self.board, &self.program) else { return Ok(()) };
        let VerifyData { cases, inputs, outputs } = &board.verify;
        let program = if program.is_empty() { 0 } else { program_in_firmware(program, &self.method.name)? };
        let verify = (inputs.len() + outputs.len()) as u64;
        let Region { name, size, .. } = &board.memory.constants;
        if program + verify <= *size {
            return Ok(());
        }
        Err(LinkError::ConstantsTooLarge { bank: name.clone(), size: *size, program, verify, cases: *cases })
    }
}

/// The bytes of a method of a program file that firmware has: weights, blobs, lists of numbers.
///
/// # Errors
/// [`LinkError::Template`] for a program file that firmware cannot execute.
pub fn program_in_firmware(program: &[u8], method: &str) -> Result<u64, LinkError> {
    Ok(PlanFacts::of(program, method)?.data.len().next_multiple_of(packed::DATA) as u64)
}

/// A family of processors that firmware starts on in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Processor {
    /// Cortex-M0, M0+, M1 and M23: 16-bit Thumb.
    Armv6M,
    /// Cortex-M3, M4 and M7: 32-bit Thumb.
    Armv7M,
    /// Cortex-M33 and later: 32-bit Thumb, and a limit of the stack.
    Armv8M,
    /// 32-bit RISC-V.
    RiscV,
}

impl Processor {
    /// The starts of the triples of each family, longer ones ahead of shorter ones.
    const TRIPLES: [(&str, Self); 5] = [
        ("thumbv6m-", Self::Armv6M),
        ("thumbv8m.base-", Self::Armv6M),
        ("thumbv7", Self::Armv7M),
        ("thumbv8m.main-", Self::Armv8M),
        ("riscv32", Self::RiscV),
    ];

    /// The family of a triple; `None` for processors that no template starts on.
    pub fn of(triple: &str) -> Option<Self> {
        Self::TRIPLES.into_iter().find(|(start, _)| triple.starts_with(start)).map(|(_, processor)| processor)
    }
}

/// The memory of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryFacts {
    /// Instructions.
    pub code: Region,
    /// Read-only data: the program file, the weights, the verification data.
    pub constants: Region,
    /// Where the program file and the weights are copied to at start; `None` where they are read in place.
    pub copy_program_to: Option<Region>,
    /// Planned tensors, static data and the stack.
    pub arena: Region,
    /// Further banks of planned tensors.
    pub tensors: Vec<Region>,
    /// Bytes kept for the stack.
    pub stack: u64,
    /// The header for a boot ROM.
    pub boot_block: Option<BootBlock>,
}

impl MemoryFacts {
    /// All banks, each once.
    pub fn banks(&self) -> Vec<&Region> {
        let mut banks: Vec<&Region> = Vec::new();
        let used = [&self.code, &self.constants, &self.arena].into_iter().chain(&self.tensors);
        for bank in used.chain(&self.copy_program_to) {
            if !banks.iter().any(|known| known.name == bank.name) {
                banks.push(bank);
            }
        }
        banks
    }
}

/// A range of addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Region {
    /// The bank's name, for errors.
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
    /// The largest distance from the start, in bytes.
    pub within: u64,
}

/// A control and status register of RISC-V that counts cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counter {
    /// The number of the register.
    pub csr: u32,
    /// The registers that are written at start, with their values, in order.
    pub setup: Vec<(u32, u32)>,
}

/// Where a board's text goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Console {
    /// Nowhere.
    None,
    /// The debugger's or emulator's console.
    Semihosting,
    /// A serial port.
    Uart(Uart),
}

/// A serial port. Addresses and values are 32 bits wide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Uart {
    /// The steps at start, in order.
    pub setup: Vec<RegisterStep>,
    /// The register that takes the next byte.
    pub data: u32,
    /// The register that tells whether the transmitter is ready.
    pub status: u32,
    /// The bits of the status register that are set while the transmitter is busy.
    pub full: u32,
    /// The bits of the status register that are set while the transmitter takes a byte.
    pub ready: u32,
}

/// One step of a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum RegisterStep {
    /// Writes `bits`.
    Write {
        /// The register's address.
        address: u32,
        /// Writes the whole register.
        bits: u32,
    },
    /// Sets `bits` and leaves the other bits.
    Set {
        /// The register's address.
        address: u32,
        /// The bits.
        bits: u32,
    },
    /// Clears `bits` and leaves the other bits.
    Clear {
        /// The register's address.
        address: u32,
        /// The bits.
        bits: u32,
    },
    /// Waits until every bit of `bits` is set.
    Wait {
        /// The register's address.
        address: u32,
        /// The bits.
        bits: u32,
    },
}

/// Verification data of a board. Tensors of a case lie one after the other, row-major and little-endian.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyData {
    /// The number of cases.
    pub cases: usize,
    /// The inputs of the first case, then of the second, and so on.
    pub inputs: Vec<u8>,
    /// The outputs that PyTorch computed, likewise; `float32`.
    pub outputs: Vec<u8>,
}

/// The updates over the air that a binary takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UpdateFacts {
    /// The public key of Ed25519 that verifies updates; `None` for unsigned updates.
    pub key: Option<[u8; 32]>,
}
