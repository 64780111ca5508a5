//! Hosted targets besides those that other tests use: static binaries of Linux for more processors, in emulators of these processors.

use std::fs;

use object::{Architecture, BinaryFormat, Object, ObjectKind};

use crate::support::programs::has;
use crate::support::{Place, unit};

/// Targets with their processor, and the emulator where there is one.
const TARGETS: [(&str, Architecture, Option<&str>); 5] = [
    ("jetson-orin-nano", Architecture::Aarch64, Some("qemu-aarch64")),
    ("linux-riscv64", Architecture::Riscv64, Some("qemu-riscv64")),
    ("linux-x86_64-musl", Architecture::X86_64, None),
    ("raspberry-pi-4", Architecture::Aarch64, Some("qemu-aarch64")),
    ("raspberry-pi-5", Architecture::Aarch64, Some("qemu-aarch64")),
];

#[test]
fn static_binaries_of_more_processors_compute_what_pytorch_computed() {
    let emulators = TARGETS.iter().filter_map(|(_, _, emulator)| *emulator);
    if !emulators.chain(["riscv64-linux-gnu-gcc"]).all(|program| has(program, &["--version"])) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let targets = TARGETS.map(|(target, ..)| format!("--target {target}")).join(" ");
    let result = place.json(&format!("deploy recipes/digits-int8.yaml {targets}"));
    for (target, architecture, _) in TARGETS {
        let verified = &unit(&result, target)["verification"];
        let [correct, cases] = ["correct", "cases"].map(|key| verified[key].as_f64().unwrap());
        assert!(cases > 300.0 && correct / cases > 0.97, "{target}: {verified}");
        let bytes = fs::read(place.out().join("digits-int8").join(target).join("digits-int8")).unwrap();
        let file = object::File::parse(bytes.as_slice()).unwrap();
        assert_eq!((file.format(), file.architecture()), (BinaryFormat::Elf, architecture), "{target}");
        assert!(matches!(file.kind(), ObjectKind::Executable | ObjectKind::Dynamic), "{target}");
        assert!(file.dynamic_symbols().all(|symbol| !object::ObjectSymbol::is_undefined(&symbol)), "{target}");
    }
}
