//! Prebuilt runtimes: deploys on a machine without Rust, and the projects that need Rust.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::recording::instructions;
use crate::support::{MODEL, Place, RECIPE, Ran, not_cached, unit, warm_out};

const TARGET: &str = "linux-x86_64";

/// A folder with the prebuilt runtime for [`TARGET`], compiled once.
fn runtimes() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runtimes");
        // Of an earlier build of etbuild.
        let _ = std::fs::remove_dir_all(&folder);
        let place = Place::cold_with_compiled_crates();
        place.run(&format!("prebuild {} --target {TARGET}", folder.display())).expect(0);
        folder
    })
}

/// A command on a machine without Rust, but with the prebuilt runtimes.
fn without_rust(place: &Place, words: &str) -> Ran {
    Ran::of(&mut bare(place, words, runtimes()))
}

fn bare(place: &Place, words: &str, runtimes: &Path) -> Command {
    let mut command = place.command(words.split_whitespace());
    command.env_clear().env("PATH", place.path()).env("HOME", place.path());
    command.env("ETBUILD_CACHE_DIR", place.cache()).env("ETBUILD_RUNTIMES", runtimes);
    command
}

fn deployed(place: &Place, words: &str) -> Value {
    without_rust(place, &format!("{words} --target {TARGET} --output json")).expect(0).json()
}

#[test]
fn a_model_is_deployed_and_verified() {
    let place = Place::cold();
    let value = deployed(&place, &format!("deploy {RECIPE}"));
    let unit = unit(&value, TARGET);
    assert_eq!(unit["verification"]["correct"], 357, "{unit}");
    assert!(unit["notes"].to_string().contains("a prebuilt runtime with all kernels"), "{unit}");
    // What a compiler makes of the same program says the same.
    let answer = |folder: &Path| {
        let outputs = place.path().join("outputs.safetensors");
        let mut binary = Command::new(folder.join("digits").join(TARGET).join("digits"));
        Ran::of(
            binary
                .args(["--inputs", "examples/digits/test.safetensors", "--outputs"])
                .arg(&outputs)
                .current_dir(&place.root),
        )
        .expect(0);
        std::fs::read(outputs).unwrap()
    };
    assert_eq!(answer(&place.out()), answer(&warm_out()));
    assert!(not_cached(&deployed(&place, &format!("deploy {RECIPE}")), TARGET).is_empty());
}

#[test]
fn a_single_file_carries_its_program_and_may_be_renamed() {
    let place = Place::cold();
    deployed(&place, &format!("build {RECIPE} --set output=single"));
    let elsewhere = place.path().join("renamed");
    std::fs::copy(place.out().join("digits").join(TARGET).join("digits"), &elsewhere).unwrap();
    let mut binary = Command::new(&elsewhere);
    binary.args(["--top-k", "1", "--inputs", "examples/digits/test.safetensors"]).current_dir(&place.root);
    Ran::of(&mut binary).expect(0);
    let usage = Ran::of(Command::new(&elsewhere).arg("--help")).expect(0).stdout;
    assert!(usage.starts_with("usage: digits --inputs"), "{usage}");
}

#[test]
fn a_language_model_writes_what_it_writes_here() {
    let place = Place::cold();
    deployed(&place, "deploy recipes/tiny-llama.yaml");
    let options = ["--prompt", "Once there was a fox", "--max-new-tokens", "40", "--temperature", "0"];
    let binary = place.out().join("tiny-llama").join(TARGET).join("tiny-llama");
    let written = Ran::of(Command::new(binary).args(options)).expect(0).stdout;
    let mut run = place.command(["run", "recipes/tiny-llama.yaml"]);
    assert_eq!(Ran::of(run.args(options)).expect(0).stdout, written);
}

#[test]
fn a_prebuilt_runtime_records_its_operators() {
    let place = Place::cold();
    deployed(&place, &format!("build {RECIPE} --partition cpu --set trace=true"));
    let (binary, recording) = (place.out().join("digits").join(TARGET).join("digits"), place.path().join("recording"));
    Ran::of(Command::new(binary).args(["--iters", "2", "--trace"]).arg(&recording)).expect(0);
    let call = format!("trace {RECIPE} --target {TARGET} --partition cpu --recording {}", recording.display());
    let trace = place.json(&call);
    assert_eq!(trace["methods"][0]["runs"], 2, "{trace}");
    assert!(instructions(&trace).iter().any(|row| row[2] == "\"Conv2d\"" && row[4] == "2"), "{trace}");
}

#[test]
fn what_has_to_be_compiled_asks_for_rust() {
    let place = Place::cold();
    for (words, reason) in [
        ("--target mps2-an505", "firmware is compiled for its program"),
        ("--target linux-x86_64 --set library=true", "a library is compiled for its program"),
        ("--target linux-x86_64 --set updates=unsigned", "a binary that takes updates is compiled with its key"),
        ("--target linux-aarch64", "this etbuild comes without a prebuilt runtime for aarch64-unknown-linux-musl"),
    ] {
        let ran = without_rust(&place, &format!("build {RECIPE} {words}")).expect(1);
        for part in ["error[ETB0501]", reason, "https://rustup.rs"] {
            assert!(ran.stderr.contains(part), "{words}:\n{}", ran.stderr);
        }
    }
}

#[test]
fn a_recipe_asks_for_the_prebuilt_runtime_where_rust_is() {
    let place = Place::cold();
    let words = format!("deploy {RECIPE} --target {TARGET} --set link=prebuilt");
    let deploy = |words: &str| {
        Ran::of(place.command(words.split_whitespace()).env("ETBUILD_RUNTIMES", runtimes()).env("PATH", place.path()))
    };
    let value = deploy(&format!("{words} --output json")).expect(0).json();
    let unit = unit(&value, TARGET);
    assert_eq!(unit["verification"]["correct"], 357, "{unit}");
    assert!(unit["notes"].to_string().contains("a prebuilt runtime with all kernels\""), "{unit}");
    // A command that asks for a compiler finds none.
    let ran = deploy(&words.replace("deploy", "build").replace("prebuilt", "selective")).expect(1);
    assert!(ran.stderr.contains("error[ETB0501]") && !ran.stderr.contains("prebuilt runtime"), "{}", ran.stderr);
}

#[test]
fn a_runtime_that_does_not_fit_is_refused_before_the_link() {
    let place = Place::cold();
    for (command, words, reason) in [
        ("check", "--target mps2-an505", "firmware is compiled for its program"),
        ("deploy", "--target linux-x86_64 --set library=true", "a library is compiled for its program"),
        ("build", "--target linux-aarch64", "without a prebuilt runtime for aarch64-unknown-linux-musl"),
    ] {
        let words = format!("{command} {RECIPE} {words} --set link=prebuilt");
        let ran = Ran::of(place.command(words.split_whitespace()).env("ETBUILD_RUNTIMES", runtimes())).expect(4);
        for part in ["error[ETB0508]", reason, "link=prebuilt", "docs/prebuilt-runtimes.md"] {
            assert!(ran.stderr.contains(part), "{words}:\n{}", ran.stderr);
        }
    }
}

#[test]
fn the_runtime_of_another_version_is_not_used() {
    let place = Place::cold();
    let folder = place.path().join("runtimes");
    std::fs::create_dir(&folder).unwrap();
    let runtime = std::fs::read_dir(runtimes()).unwrap().next().unwrap().unwrap();
    let name = runtime.file_name().into_string().unwrap();
    let (triple, digest) = name.rsplit_once('-').unwrap();
    let other: String = digest.chars().rev().collect();
    std::fs::copy(runtime.path(), folder.join(format!("{triple}-{other}"))).unwrap();
    let ran = Ran::of(&mut bare(&place, &format!("build {MODEL} --target {TARGET}"), &folder)).expect(1);
    assert!(ran.stderr.contains("without a prebuilt runtime"), "{}", ran.stderr);
}

#[test]
fn the_tools_of_a_machine_without_rust_are_shown() {
    let place = Place::cold();
    let value = without_rust(&place, "doctor --output json").expect(0).json();
    let row = value["targets"].as_array().unwrap().iter().find(|row| row["target"] == TARGET).unwrap();
    assert_eq!(row["toolchain"], "prebuilt runtime, no Rust");
}

#[test]
fn a_runtime_without_a_program_says_so() {
    let runtime = std::fs::read_dir(runtimes()).unwrap().next().unwrap().unwrap();
    let ran = Ran::of(&mut Command::new(runtime.path())).expect(8);
    assert!(ran.stderr.contains("this runtime has no program: `etbuild deploy` finishes it"), "{}", ran.stderr);
}

#[test]
fn runtimes_are_for_linux() {
    let place = Place::cold();
    let ran = place.run(&format!("prebuild {} --target mps2-an505", place.path().display())).expect(4);
    assert!(ran.stderr.contains("prebuilt runtimes are for Linux"), "{}", ran.stderr);
}
