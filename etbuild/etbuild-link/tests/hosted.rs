//! Processes, from the program to what they compute.

mod tiny;

use std::path::Path;

use etbuild_link::*;
use etbuild_system::Invocation;

#[test]
fn a_process_of_this_machine_maps_the_program_beside_it() {
    let facts = tiny::hosted(Program::Beside("tiny.pte".to_owned()));
    let binary = tiny::build_twice(&facts, &tiny::process("x86_64-unknown-linux-gnu", Linker::System));
    std::fs::write(tiny::scratch().join("tiny.pte"), tiny::PROGRAM).unwrap();
    check(Invocation::new(tiny::installed("tiny-x86_64", &binary)), "x86_64");
}

#[test]
fn a_static_process_of_another_architecture_carries_its_program() {
    let facts = tiny::hosted(Program::Embedded(tiny::PROGRAM.to_vec()));
    let binary = tiny::build_twice(&facts, &tiny::process("aarch64-unknown-linux-musl", Linker::RustLld));
    check(Invocation::new("qemu-aarch64").arg(tiny::installed("tiny-aarch64", &binary)), "aarch64");
}

#[test]
fn a_changed_program_is_never_mistaken_for_the_last_one() {
    assert_eq!(["one", "two", "one"].map(version), ["one\n", "two\n", "one\n"]);
}

#[test]
fn builds_at_the_same_time_do_not_mix() {
    let stamps = ["first", "second", "third", "fourth"];
    let threads = stamps.map(|stamp| std::thread::spawn(move || version(stamp)));
    assert_eq!(threads.map(|thread| thread.join().unwrap()), stamps.map(|stamp| format!("{stamp}\n")));
}

/// What a binary with this stamp says about itself.
fn version(stamp: &str) -> String {
    let target = tiny::process("x86_64-unknown-linux-gnu", Linker::System);
    let facts = ProjectFacts { stamp: stamp.to_owned(), ..tiny::hosted(Program::Beside("tiny.pte".to_owned())) };
    let binary = tiny::installed(&format!("tiny-{stamp}"), &tiny::build_in(tiny::scratch(), &facts, &target).unwrap());
    String::from_utf8(tiny::run(Invocation::new(binary).arg("--version")).unwrap().stdout).unwrap()
}

/// Runs all cases at once and compares with what PyTorch computed.
fn check(binary: Invocation, name: &str) {
    let file = |part: &str| tiny::scratch().join(format!("{name}.{part}.safetensors"));
    write_safetensors(&file("inputs"), tiny::INPUTS);
    let arguments =
        [std::ffi::OsString::from("--inputs"), file("inputs").into(), "--outputs".into(), file("outputs").into()];
    let Some(outcome) = tiny::run(binary.args(arguments)) else { return };
    assert_eq!(outcome.status, Some(0), "{}", String::from_utf8_lossy(&outcome.stderr));
    let outputs = std::fs::read(file("outputs")).unwrap();
    assert!(outputs.ends_with(tiny::OUTPUTS));
}

/// Writes a safetensors file with the tensor `x` of one row per case.
fn write_safetensors(path: &Path, bytes: &[u8]) {
    let entry = serde_json::json!({ "dtype": "F32", "shape": [tiny::CASES, 4], "data_offsets": [0, bytes.len()] });
    let header = serde_json::json!({ "x": entry }).to_string();
    let parts = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), bytes];
    std::fs::write(path, parts.concat()).unwrap();
}
