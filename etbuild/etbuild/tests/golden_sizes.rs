//! How much memory the example takes on boards: numbers that only a decision should change.

use serde_json::Value;

use crate::support::{Place, RECIPE};

/// The size of a board's binary in bytes.
struct Golden {
    target: &'static str,
    /// Flash beyond the program file and the verification data: instructions, constants, initial values.
    flash: u64,
    /// Memory of the model: planned tensors and values.
    arena: u64,
}

const GOLDEN: [Golden; 2] = [
    Golden { target: "mps2-an505", flash: 11_620, arena: 8_640 },
    Golden { target: "pico2", flash: 11_840, arena: 8_640 },
];

/// The most flash beyond the program file that the example may take on a Cortex-M33 with the default options.
const MOST_FLASH: u64 = 12 << 10;

/// The tolerance in per cent: compiler versions differ a little.
const BAND: u64 = 3;

#[test]
fn the_example_has_its_golden_sizes() {
    let place = Place::cold_with_compiled_crates();
    let targets = GOLDEN.map(|golden| format!("--target {}", golden.target)).join(" ");
    place.run(&format!("build {RECIPE} {targets}")).expect(0);
    for golden in &GOLDEN {
        let sizes = sizes(&place, golden.target);
        let flash = ["text", "rodata", "data"].map(|part| sizes[part].as_u64().unwrap()).iter().sum();
        check(golden.target, "flash", flash, golden.flash);
        assert!(flash <= MOST_FLASH, "{}: {flash} bytes of flash", golden.target);
        check(golden.target, "arena", sizes["arena"].as_u64().unwrap(), golden.arena);
        check_texts(&place, golden.target, sizes["program"].as_u64().unwrap());
        assert_eq!(sizes["bss"], 0, "{}: the runtime has no memory of its own", golden.target);
    }
}

/// Firmware has neither the names of the program file nor sentences, and less than the program file.
fn check_texts(place: &Place, target: &str, program: u64) {
    let read = |file: &str| std::fs::read(place.out().join("digits").join(target).join(file)).unwrap();
    let (binary, file) = (read("digits"), read("digits.pte"));
    let is_in = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    for text in ["aten::", "forward", "children_spec", "etbuild.inputs"] {
        assert!(is_in(&file, text) && !is_in(&binary, text), "{target}: {text}");
    }
    for text in ["panicked", "src/", "core::", "overflow", "out of range", "index out of bounds"] {
        assert!(!is_in(&binary, text), "{target}: {text}");
    }
    assert!(program + 2048 < file.len() as u64, "{target}: {program} of {} bytes", file.len());
}

fn check(target: &str, what: &str, got: u64, golden: u64) {
    let is_near = got.abs_diff(golden) * 100 <= golden * BAND;
    assert!(is_near, "{target}: {what} takes {got} bytes, more than {BAND} % from the golden {golden}");
}

/// The size report of the example for `target`.
fn sizes(place: &Place, target: &str) -> Value {
    let file = place.out().join("digits").join(target).join("size.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}
