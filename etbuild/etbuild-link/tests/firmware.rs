//! Firmware, from the program to what a processor computes.

mod tiny;

use etbuild_link::*;
use etbuild_system::Invocation;
use serde_json::Value;

#[test]
fn firmware_computes_what_pytorch_computes() {
    let facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    let binary = tiny::build_twice(&facts, &tiny::cortex_m33(false));
    let Some((status, report)) = emulate("tiny-mps2.elf", &binary) else { return };
    assert_eq!(status, Some(0));
    assert_eq!(report[0]["producer"], "etbuild test \"tiny\"");
    let outputs: String = report[1..=tiny::CASES].iter().map(|line| line["outputs"].as_str().unwrap()).collect();
    let expected: String = tiny::OUTPUTS.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(outputs, expected);
    let summary = serde_json::json!({ "cases": 8, "max_error_bits": 0, "argmax_equal": 8 });
    assert_eq!(report[9..], [summary]);
}

#[test]
fn a_difference_from_what_is_expected_is_reported() {
    let mut facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    let mut wrong = tiny::OUTPUTS.to_vec();
    wrong[..4].copy_from_slice(&8.0_f32.to_le_bytes());
    facts.board.as_mut().unwrap().verify.outputs = wrong;
    let binary = tiny::build_in(tiny::scratch(), &facts, &tiny::cortex_m33(false)).unwrap();
    let Some((_, report)) = emulate("tiny-wrong.elf", &binary) else { return };
    let summary = serde_json::json!({ "cases": 8, "max_error_bits": 8.0_f32.to_bits(), "argmax_equal": 7 });
    assert_eq!(report.last(), Some(&summary));
}

#[test]
fn a_failure_is_reported_with_its_place_and_becomes_the_status() {
    let mut facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    facts.method.values = 3;
    let binary = tiny::build_in(tiny::scratch(), &facts, &tiny::cortex_m33(false)).unwrap();
    let Some((status, report)) = emulate("tiny-failing.elf", &binary) else { return };
    let number = et_core::Error::MemoryAllocationFailed as u32;
    assert_eq!(status, Some(number as i32));
    assert_eq!(report.last(), Some(&serde_json::json!({ "error": number, "place": "method", "index": 0 })));
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

#[test]
fn the_size_report_tells_the_parts_apart() {
    let facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    let report = SizeReport::of(&tiny::build_in(tiny::scratch(), &facts, &tiny::cortex_m33(false)).unwrap()).unwrap();
    assert_eq!((report.arena, report.verify, report.program), (32, 256, tiny::PROGRAM.len() as u64));
    assert!((16 << 10..17 << 10).contains(&report.stack), "{report:?}");
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

/// Runs firmware; the lines of its report.
fn emulate(name: &str, binary: &[u8]) -> Option<(Option<i32>, Vec<Value>)> {
    let arguments =
        ["-machine", "mps2-an505", "-nographic", "-semihosting-config", "enable=on,target=native", "-kernel"];
    let outcome = tiny::run(Invocation::new("qemu-system-arm").args(arguments).arg(tiny::installed(name, binary)))?;
    let text = [outcome.stdout, outcome.stderr].concat();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Some((outcome.status, lines.map(|line| serde_json::from_slice(line).unwrap()).collect()))
}
