//! Firmware, from the program to what a processor computes.

mod tiny;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use et_core::ScalarType;
use et_format::write::{self, Allocation, Chain, EValue, ExecutionPlan, Instruction, Operator, Tensor};
use etbuild_link::report::{End, Report};
use etbuild_link::*;
use etbuild_system::{FileStamp, Invocation, Outcome, RealSystem, System};

#[test]
fn firmware_computes_what_pytorch_computes() {
    let facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    let binary = tiny::build_twice(&facts, &tiny::cortex_m33(false));
    let Some((status, report)) = emulate("tiny-mps2.elf", &binary) else { return };
    assert_eq!((status, report.producer.as_str()), (Some(0), "etbuild test \"tiny\""));
    assert_eq!((report.outputs.len(), report.outputs.concat().as_slice()), (tiny::CASES, tiny::OUTPUTS));
    let Some(End::Finished { cases, max_error_bits, argmax_equal, ticks, stack }) = report.end else {
        panic!("{report:?}")
    };
    assert_eq!((cases, max_error_bits, argmax_equal), (8, 0, 8));
    assert!(ticks > 0 && (256..2048).contains(&stack), "{ticks} {stack}");
}

/// `x + [1, 2, 3, 4]` of dynamic tensors, where the sum is a buffer with an initial value, behind a jump over a `relu`; a move makes the
/// sum the output.
fn flowing() -> Vec<u8> {
    let tensor = |data_buffer, offset: Option<u64>, dynamic| {
        EValue::Tensor(Tensor {
            scalar_type: ScalarType::Float,
            sizes: vec![4],
            dim_order: vec![0],
            data_buffer,
            allocation: offset.map(|offset| Allocation { memory_id: 1, offset }),
            dynamic,
            extra: None,
        })
    };
    let operator = |name: &str| Operator { name: name.to_owned(), overload: "out".to_owned() };
    let plan = ExecutionPlan {
        name: "forward".to_owned(),
        values: vec![
            tensor(0, Some(0), true),
            tensor(1, Some(16), false),
            EValue::Int(1),
            tensor(0, Some(32), true),
            EValue::Bool(false),
            tensor(0, None, false),
        ],
        inputs: vec![0],
        outputs: vec![5],
        chains: vec![Chain {
            instructions: vec![
                Instruction::JumpFalseCall { condition: 4, destination: 2 },
                Instruction::KernelCall { operator: 1, arguments: vec![0, 0] },
                Instruction::KernelCall { operator: 0, arguments: vec![0, 1, 2, 3] },
                Instruction::MoveCall { from: 3, to: 5 },
            ],
        }],
        operators: vec![operator("aten::add"), operator("aten::relu")],
        arena_sizes: vec![48],
        ..ExecutionPlan::default()
    };
    let buffer: Vec<u8> = BUFFER.into_iter().flat_map(f32::to_le_bytes).collect();
    let program =
        write::Program { execution_plans: vec![plan], initial_values: vec![&buffer], ..write::Program::default() };
    let mut file = Vec::new();
    write::write_program(&program, &mut file).unwrap();
    file
}

const BUFFER: [f32; 4] = [1.0, 2.0, 3.0, 4.0];

#[test]
fn firmware_jumps_moves_and_has_dynamic_shapes_and_state() {
    let mut facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    facts.program = Program::Embedded(flowing());
    facts.method = MethodFacts {
        arenas: vec![ArenaFacts { bank: "sram".to_owned(), size: 48 }],
        sizes: 4,
        values: 6,
        ..facts.method
    };
    let inputs = tiny::INPUTS.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    let sums = inputs.zip(BUFFER.into_iter().cycle()).flat_map(|(input, number)| (input + number).to_le_bytes());
    let sums: Vec<u8> = sums.collect();
    facts.board.as_mut().unwrap().verify.outputs = sums.clone();
    let binary = tiny::build_in(tiny::scratch(), &facts, &tiny::cortex_m33(false)).unwrap();
    let Some((status, report)) = emulate("tiny-flowing.elf", &binary) else { return };
    assert_eq!((status, report.outputs.concat()), (Some(0), sums), "{report:?}");
}

#[test]
fn a_difference_from_what_is_expected_is_reported() {
    let mut facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    let mut wrong = tiny::OUTPUTS.to_vec();
    wrong[..4].copy_from_slice(&8.0_f32.to_le_bytes());
    facts.board.as_mut().unwrap().verify.outputs = wrong;
    let binary = tiny::build_in(tiny::scratch(), &facts, &tiny::cortex_m33(false)).unwrap();
    let Some((_, report)) = emulate("tiny-wrong.elf", &binary) else { return };
    let Some(End::Finished { cases, max_error_bits, argmax_equal, .. }) = report.end else { panic!("{report:?}") };
    assert_eq!((cases, max_error_bits, argmax_equal), (8, 8.0_f32.to_bits(), 7));
}

#[test]
fn a_failure_is_reported_with_its_place_and_becomes_the_status() {
    let mut facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    facts.method.values = 3;
    let binary = tiny::build_in(tiny::scratch(), &facts, &tiny::cortex_m33(false)).unwrap();
    let Some((status, report)) = emulate("tiny-failing.elf", &binary) else { return };
    let error = et_core::Error::MemoryAllocationFailed as u32;
    assert_eq!(status, Some(error as i32));
    assert_eq!(report.end, Some(End::Failed { error, place: "method".to_owned(), index: 0 }));
}

#[test]
fn an_overflow_of_the_stack_is_a_fault_and_not_silence() {
    let mut memory = tiny::mps2_memory();
    memory.stack = 64;
    let facts = tiny::firmware(memory, Console::Semihosting);
    let binary = tiny::build_in(tiny::scratch(), &facts, &tiny::cortex_m33(false)).unwrap();
    let Some((status, _)) = emulate("tiny-overflowing.elf", &binary) else { return };
    assert_eq!(status, Some(0xfe));
}

/// A Cortex-M3 has no register for the limit: the stack is first in its bank, so an overflow leaves the memory.
#[test]
fn an_overflow_is_a_fault_on_a_processor_without_a_limit_too() {
    let (mut memory, mut facts) = (tiny::mps2_memory(), tiny::firmware(tiny::mps2_memory(), Console::Semihosting));
    (memory.code.origin, memory.constants.origin, memory.arena.origin, memory.stack) = (0, 0, 0x2000_0000, 64);
    let board = facts.board.as_mut().unwrap();
    (board.processor, board.memory) = (Processor::Armv7M, memory);
    let target =
        CompileTarget { cpu: Some("cortex-m3".to_owned()), ..tiny::process("thumbv7m-none-eabi", Linker::RustLld) };
    let binary = tiny::build_in(tiny::scratch(), &facts, &target).unwrap();
    let Some((status, _)) = emulate_on("mps2-an385", "tiny-overflowing-m3.elf", &binary) else { return };
    assert_eq!(status, Some(0xfe));
}

#[test]
fn a_processor_that_the_compiler_does_not_know_is_a_sentence() {
    let facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    let target = CompileTarget { cpu: Some("cortex-m99".to_owned()), ..tiny::cortex_m33(false) };
    let error = tiny::build_in(tiny::scratch(), &facts, &target).unwrap_err().to_string();
    assert_eq!(error, "the compiler knows no processor `cortex-m99` of `thumbv8m.main-none-eabi`");
}

#[test]
fn the_size_report_tells_the_parts_apart() {
    let facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    let report = SizeReport::of(&tiny::build_in(tiny::scratch(), &facts, &tiny::cortex_m33(false)).unwrap()).unwrap();
    let program = program_in_firmware(tiny::PROGRAM, &facts.method.name).unwrap();
    assert_eq!((report.stack, report.verify, report.program), (16 << 10, 256, program));
    assert!((16..tiny::PROGRAM.len() as u64 / 4).contains(&program), "{program} bytes");
    // The arena of 32 bytes, the values and the method.
    assert!((32..256).contains(&report.arena), "{report:?}");
    assert!(report.flash_beyond_program() < 16 << 10, "{report:?}");
    assert!(report.static_ram() < 64, "{report:?}");
}

#[test]
fn a_bank_that_is_too_small_is_named() {
    let mut memory = tiny::mps2_memory();
    memory.arena.size = 8 << 10;
    let facts = tiny::firmware(memory, Console::Semihosting);
    let error = tiny::build_in(tiny::scratch(), &facts, &tiny::cortex_m33(false)).unwrap_err();
    assert!(matches!(&error, LinkError::BankTooSmall { bank, excess } if bank == "sram" && *excess > 8000), "{error}");
}

#[test]
fn an_image_for_a_boot_rom_starts_with_vectors_and_holds_the_boot_block() {
    let memory = tiny::pico2_memory();
    let block: Vec<u8> =
        memory.boot_block.iter().flat_map(|block| &block.words).flat_map(|word| word.to_le_bytes()).collect();
    let facts = tiny::firmware(memory.clone(), tiny::uart());
    let binary = tiny::build_twice(&facts, &tiny::cortex_m33(true));
    let image = uf2::write(&binary, 0xe48b_ff59, &memory.code).unwrap();
    let flash: Vec<u8> = image.chunks(512).flat_map(|block| &block[32..288]).copied().collect();
    let word = |index: usize| u32::from_le_bytes(flash[4 * index..][..4].try_into().unwrap());
    assert!((0x2000_0000..=0x2008_2000).contains(&word(0)), "the stack is in RAM");
    assert!(
        word(1) % 2 == 1 && (0x1000_0000..0x1001_0000).contains(&word(1)),
        "the reset handler is Thumb code in flash"
    );
    assert!(flash[..4096].windows(block.len()).any(|window| window == block));
    assert_eq!(image.len() / 512, flash.len() / 256);
}

#[test]
fn the_environment_of_the_user_does_not_reach_the_compiler() {
    let facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    let target = tiny::cortex_m33(false);
    let clean = tiny::build_in(tiny::scratch(), &facts, &target).unwrap();
    let polluted = tiny::build_on(&Polluted(RealSystem::default()), tiny::scratch(), &facts, &target).unwrap();
    assert!(clean == polluted);
}

/// The real machine with variables in the environment that make cargo do something else.
struct Polluted(RealSystem);

const POLLUTION: [(&str, &str); 6] = [
    ("RUSTFLAGS", "-Copt-level=0"),
    ("CARGO_BUILD_RUSTFLAGS", "-Copt-level=0"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true"),
    ("CARGO_BUILD_TARGET", "nonsense"),
    ("RUSTC_WRAPPER", "/nonexistent"),
];

impl System for Polluted {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.read(path)
    }
    fn stamp(&self, path: &Path) -> io::Result<FileStamp> {
        self.0.stamp(path)
    }
    fn is_dir(&self, path: &Path) -> bool {
        self.0.is_dir(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.0.list(path)
    }
    fn write(&self, path: &Path, bytes: &[u8], executable: bool) -> io::Result<()> {
        self.0.write(path, bytes, executable)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(path)
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }
    fn now(&self) -> Duration {
        self.0.now()
    }
    fn run(&self, invocation: &Invocation) -> io::Result<Outcome> {
        let inherited = POLLUTION.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let kept = inherited.filter(|(name, _)| !invocation.removed_variables.contains(name));
        let variables = kept.chain(invocation.variables.iter().cloned()).collect();
        self.0.run(&Invocation { variables, ..invocation.clone() })
    }
}

/// Runs firmware; its exit status and its report.
fn emulate(name: &str, binary: &[u8]) -> Option<(Option<i32>, Report)> {
    emulate_on("mps2-an505", name, binary)
}

/// Runs firmware on a machine of QEMU, with the clock of instructions that the shipped targets have: by the clock of a busy host the system
/// timer may begin late.
fn emulate_on(machine: &str, name: &str, binary: &[u8]) -> Option<(Option<i32>, Report)> {
    let arguments = [
        "-machine",
        machine,
        "-nographic",
        "-icount",
        "shift=0",
        "-semihosting-config",
        "enable=on,target=native",
        "-kernel",
    ];
    let outcome = tiny::run(Invocation::new("qemu-system-arm").args(arguments).arg(tiny::installed(name, binary)))?;
    let text = [outcome.stdout, outcome.stderr].concat();
    Some((outcome.status, report::parse(&String::from_utf8_lossy(&text)).unwrap()))
}
