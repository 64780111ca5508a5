//! A program of two operators, the facts that projects for it are made from, and how tests build and run them.
#![allow(dead_code)] // Each test binary uses a part.

use std::path::{Path, PathBuf};
use std::time::Duration;

use et_core::{Dtypes, ScalarType};
use etbuild_link::*;
use etbuild_system::{Invocation, Outcome, RealSystem, Slots, System};

/// `relu(x + offset)` on a tensor of four numbers, written by ExecuTorch.
pub const PROGRAM: &[u8] = include_bytes!("../data/tiny.pte");
/// The inputs of eight cases.
pub const INPUTS: &[u8] = include_bytes!("../data/tiny.inputs.bin");
/// PyTorch's outputs for the inputs.
pub const OUTPUTS: &[u8] = include_bytes!("../data/tiny.outputs.bin");
/// How many cases there are.
pub const CASES: usize = 8;

/// The digest of what firmware is made from.
pub const BUILD: &str = "0123456789abcdef0123";

/// The program as a process that finds its program file there.
pub fn hosted(program: Program) -> ProjectFacts {
    ProjectFacts {
        template: "host-app".to_owned(),
        name: "tiny".to_owned(),
        stamp: "etbuild test \"tiny\"".to_owned(),
        kernels: kernels(),
        operators: Vec::new(),
        engines: Vec::new(),
        method: method(),
        program,
        text: false,
        media: false,
        vision: false,
        hearing: false,
        updates: None,
        library: None,
        server: false,
        constrain: false,
        trace: false,
        system: None,
        board: None,
    }
}

/// The program inside of firmware.
pub fn firmware(memory: MemoryFacts, console: Console) -> ProjectFacts {
    let verify = VerifyData { cases: CASES, inputs: INPUTS.to_vec(), outputs: OUTPUTS.to_vec() };
    let board = Some(BoardFacts {
        processor: Processor::Armv8M,
        memory,
        console,
        counter: None,
        speed: false,
        bench: 0,
        build: BUILD.to_owned(),
        verify,
    });
    ProjectFacts { template: "firmware".to_owned(), board, ..hosted(Program::Embedded(PROGRAM.to_vec())) }
}

fn kernels() -> KernelTable {
    let float = Dtypes::of(&[ScalarType::Float]);
    let wanted = |operator: &str| KernelUse { operator: operator.to_owned(), dtypes: float };
    select(&[wanted("aten::add.out"), wanted("aten::relu.out")], et_ops::OPERATORS, &[]).unwrap()
}

fn method() -> MethodFacts {
    MethodFacts {
        name: "forward".to_owned(),
        inputs: vec!["x".to_owned()],
        input_bytes: vec![16],
        output_bytes: vec![16],
        output_types: vec![ScalarType::Float as u8],
        arenas: vec![ArenaFacts { bank: "sram".to_owned(), size: 32 }],
        sizes: 0,
        values: 5,
        delegates: Vec::new(),
    }
}

/// The memory of QEMU's `mps2-an505`.
pub fn mps2_memory() -> MemoryFacts {
    memory(0x3800_0000, 4 << 20, None)
}

/// The memory of a Raspberry Pi Pico 2.
pub fn pico2_memory() -> MemoryFacts {
    let words = vec![0xffff_ded3, 0x1021_0142, 0x0000_01ff, 0x0000_0000, 0xab12_3579];
    memory(0x2000_0000, 520 << 10, Some(BootBlock { words, within: 4 << 10 }))
}

fn memory(origin: u64, size: u64, boot_block: Option<BootBlock>) -> MemoryFacts {
    let flash = Region { name: "flash".to_owned(), origin: 0x1000_0000, size: 4 << 20 };
    let arena = Region { name: "sram".to_owned(), origin, size };
    MemoryFacts {
        code: flash.clone(),
        constants: flash,
        copy_program_to: None,
        arena,
        tensors: Vec::new(),
        stack: 16 << 10,
        boot_block,
    }
}

/// A serial port that needs every kind of step.
pub fn uart() -> Console {
    let setup = vec![
        RegisterStep::Write { address: 0x4004_8000, bits: 0x00fa_baa0 },
        RegisterStep::Wait { address: 0x4004_8004, bits: 0x8000_0000 },
        RegisterStep::Clear { address: 0x4002_0000, bits: 0x0400_0240 },
        RegisterStep::Set { address: 0x4007_0030, bits: 0x101 },
    ];
    Console::Uart(Uart { setup, data: 0x4007_0000, status: 0x4007_0018, full: 0x20, ready: 0 })
}

/// How Rust compiles for a Cortex-M33; `hard` passes floating-point numbers in registers.
pub fn cortex_m33(hard: bool) -> CompileTarget {
    let triple = if hard { "thumbv8m.main-none-eabihf" } else { "thumbv8m.main-none-eabi" };
    CompileTarget { cpu: Some("cortex-m33".to_owned()), ..process(triple, Linker::RustLld) }
}

/// How Rust compiles for a process.
pub fn process(triple: &str, linker: Linker) -> CompileTarget {
    let crt_static = triple.contains("musl");
    CompileTarget { triple: triple.to_owned(), cpu: None, features: Vec::new(), linker, crt_static }
}

/// The project that `facts` make.
pub fn project(facts: &ProjectFacts) -> Project {
    Project::new(facts, &Sources::embedded().unwrap()).unwrap()
}

/// The folder that the tests of this crate build in.
pub fn scratch() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// Builds below `folder`.
pub fn build_in(folder: &Path, facts: &ProjectFacts, target: &CompileTarget) -> Result<Vec<u8>, LinkError> {
    build_on(&RealSystem::default(), folder, facts, target)
}

/// Builds below `folder` on a machine of one's own.
pub fn build_on(
    system: &dyn System,
    folder: &Path,
    facts: &ProjectFacts,
    target: &CompileTarget,
) -> Result<Vec<u8>, LinkError> {
    let toolchain = toolchain::find(system, target, true)?;
    build(system, &toolchain, target, &project(facts), &Workshop { folder, offline: false, slots: &Slots::new(1) })
        .map(|built| built.binary.unwrap())
}

/// Builds in two folders of different length, and asserts that this makes no difference.
pub fn build_twice(facts: &ProjectFacts, target: &CompileTarget) -> Vec<u8> {
    let binary = build_in(scratch(), facts, target).unwrap();
    let elsewhere = tempfile::Builder::new().prefix("another folder of another length").tempdir().unwrap();
    let again = build_in(elsewhere.path(), facts, target).unwrap();
    assert!(binary == again, "the folder changes the bytes: {} and {}", binary.len(), again.len());
    binary
}

/// Writes a binary where tests may run it.
pub fn installed(name: &str, binary: &[u8]) -> PathBuf {
    let path = scratch().join(name);
    RealSystem::default().write(&path, binary, true).unwrap();
    path
}

/// Runs a program within a time limit. `None`, said on stderr, where an emulator is not installed and need not be.
pub fn run(invocation: Invocation) -> Option<Outcome> {
    let program = invocation.program.to_string_lossy().into_owned();
    match RealSystem::default().run(&Invocation { timeout: Some(Duration::from_secs(60)), ..invocation }) {
        Ok(outcome) => Some(outcome),
        Err(error) if std::env::var_os("ETBUILD_REQUIRE_EMULATORS").is_some() => panic!("{program}: {error}"),
        #[allow(clippy::print_stderr)] // The reader of the test run should know.
        Err(error) => {
            eprintln!("not run: {program}: {error}");
            None
        }
    }
}
