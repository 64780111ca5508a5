//! Windows: executables linked without MinGW, under Wine.

use std::fs;
use std::process::Command;

use et_module::safetensors::SafeTensors;
use object::{NameOrOrdinal, Object, read::pe::PeFile64};

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
    assert_of_system(&fs::read(&path).unwrap());
}

/// An executable or a DLL asks for no DLL that Windows lacks.
fn assert_of_system(bytes: &[u8]) {
    let mut libraries: Vec<String> = PeFile64::parse(bytes)
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

/// The functions that a DLL exports.
fn exports(bytes: &[u8]) -> Vec<String> {
    let file = PeFile64::parse(bytes).unwrap();
    let names = file.exports().unwrap().map(|export| match export.unwrap().into_name() {
        NameOrOrdinal::Name(name) => String::from_utf8_lossy(&name).into_owned(),
        NameOrOrdinal::Ordinal(number) => number.to_string(),
    });
    names.collect()
}

/// A program links the import library and calls the functions of the header. The linker is Rust's: a compiler of C for Windows may be
/// missing here, and would make the same calls.
#[test]
fn a_dll_computes_what_pytorch_computed() {
    if !has("wine", &["--version"]) {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    place.run("build recipes/digits.yaml --target windows-x86_64 --set library=true").expect(0);
    let folder = place.out().join("digits/windows-x86_64");
    let dll = fs::read(folder.join("digits.dll")).unwrap();
    assert_of_system(&dll);
    let functions = exports(&dll);
    let wanted = ["et_module_load", "et_module_execute", "et_error_message"];
    assert!(wanted.iter().all(|name| functions.iter().any(|found| found == name)), "{functions:?}");
    assert!(fs::read_to_string(folder.join("etbuild.h")).unwrap().contains("et_module_load"));
    let cmake = fs::read_to_string(folder.join("digits-config.cmake")).unwrap();
    assert!(cmake.contains("add_library(digits SHARED IMPORTED)") && cmake.contains("digits.lib"), "{cmake}");
    let data = fs::read(repository().join(TEST_DATA)).unwrap();
    let cases = SafeTensors::parse(&data).unwrap();
    fs::write(folder.join("images"), cases.tensors["x"].bytes).unwrap();
    fs::write(folder.join("scores"), cases.tensors["output_0"].bytes).unwrap();
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/classify_windows.rs"), folder.join("classify.rs"))
        .unwrap();
    // Rust asks for the libraries of MinGW, of which the program uses nothing.
    for name in ["kernel32", "mingw32", "mingwex", "msvcrt", "user32"] {
        fs::write(folder.join(format!("lib{name}.a")), "!<arch>\n").unwrap();
    }
    let mut compiler = Command::new("rustc");
    compiler.args(["--edition", "2024", "--target", "x86_64-pc-windows-gnullvm", "-O", "-Cpanic=abort"]);
    compiler.args(["-Clinker=rust-lld", "-Clink-self-contained=no", "-Clink-arg=-L.", "-Clink-arg=digits.lib"]);
    Ran::of(compiler.arg("classify.rs").current_dir(&folder)).expect(0);
    Ran::of(Command::new("wine").arg("classify.exe").current_dir(&folder)).expect(0);
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
