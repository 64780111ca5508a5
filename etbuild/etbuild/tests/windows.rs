//! Windows: executables linked without MinGW, under Wine.

use std::fs;
use std::process::Command;

use object::{Object, read::pe::PeFile64};

use crate::support::programs::has;
use crate::support::{Place, Ran, repository, tensors, unit};

/// The DLLs of every Windows 10.
const OF_SYSTEM: [&str; 7] = [
    "advapi32.dll",
    "api-ms-win-core-synch-l1-2-0.dll",
    "kernel32.dll",
    "ntdll.dll",
    "ucrtbase.dll",
    "userenv.dll",
    "ws2_32.dll",
];

const TEST_DATA: &str = "examples/digits/test.safetensors";

#[test]
fn an_executable_computes_what_pytorch_computed() {
    if !has("wine", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let result = place.json("deploy recipes/digits.yaml --target windows-x86_64");
    let unit = unit(&result, "windows-x86_64");
    assert_eq!(unit["verification"]["state"], "done", "{unit}");
    let path = place.out().join("digits/windows-x86_64/digits.exe");
    let outputs = place.path().join("outputs.safetensors");
    let mut binary = Command::new("wine");
    binary.arg(&path).arg("--inputs").arg(repository().join(TEST_DATA)).args(["--threads", "2", "--outputs"]);
    Ran::of(binary.arg(&outputs)).expect(0);
    assert!(tensors::max_difference(&outputs, &repository().join(TEST_DATA)) < 1e-4);
    let bytes = fs::read(&path).unwrap();
    let mut libraries: Vec<String> = PeFile64::parse(bytes.as_slice())
        .unwrap()
        .imports()
        .unwrap()
        .map(|import| String::from_utf8_lossy(import.unwrap().library()).to_lowercase())
        .collect();
    libraries.sort_unstable();
    libraries.dedup();
    assert!(
        libraries.contains(&"kernel32.dll".to_owned())
            && libraries.iter().all(|name| OF_SYSTEM.contains(&name.as_str())),
        "{libraries:?}"
    );
}

#[test]
fn a_language_model_writes_the_text_of_this_machine() {
    if !has("wine", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let result = place.json("deploy recipes/tiny-llama.yaml --target windows-x86_64 --target linux-x86_64");
    assert_eq!(unit(&result, "windows-x86_64")["verification"]["state"], "done");
    let of = |target: &str, file: &str| place.out().join("tiny-llama").join(target).join(file);
    let prompt = ["--prompt", "Once there was a fox", "--max-new-tokens", "24", "--threads", "2"];
    let mut windows = Command::new("wine");
    let told = Ran::of(windows.arg(of("windows-x86_64", "tiny-llama.exe")).args(prompt)).expect(0).stdout;
    let wanted = Ran::of(Command::new(of("linux-x86_64", "tiny-llama")).args(prompt)).expect(0).stdout;
    assert_eq!(told, wanted);
    assert!(told.len() > 40, "{told}");
}
