//! Whole binaries: a program becomes a project, the project a binary, and the binary computes what PyTorch computes.

mod tiny;

use std::path::Path;

use etbuild_link::*;
use etbuild_system::{Invocation, RealSystem, System};

#[test]
fn firmware_runs_its_cases_in_an_emulator() {
    let system = RealSystem::default();
    let facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    let project = Project::new(&facts, &Sources::embedded().unwrap()).unwrap();
    let target = tiny::mps2_target();
    let toolchain = toolchain::find(&system, &target, true).unwrap();
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let built = build(&system, &toolchain, &target, &project, scratch).unwrap();
    let path = scratch.join("tiny.elf");
    system.write(&path, &built.binary, true).unwrap();
    let mut run = Invocation::new("qemu-system-arm")
        .args(["-machine", "mps2-an505", "-nographic", "-semihosting-config", "enable=on,target=native", "-kernel"])
        .arg(path);
    run.timeout = Some(std::time::Duration::from_secs(20));
    let outcome = system.run(&run).unwrap();
    let text = String::from_utf8_lossy(&outcome.stdout).into_owned() + &String::from_utf8_lossy(&outcome.stderr);
    assert!(text.contains("\"argmax_equal\":8"), "{:?} {text}", outcome.status);
    panic!("{text}");
}
