//! Android: what a phone's target builds, and the very binaries in an emulator, with musl's C library in the place of Android's.

use std::fs;

use crate::support::android::emulated;
use crate::support::{Place, Ran, repository, tensors, unit};

const TEST_DATA: &str = "examples/digits/test.safetensors";

#[test]
fn the_binary_of_a_phone_computes_the_numbers_of_its_twin() {
    let place = Place::cold_with_compiled_crates();
    let result = place.json("deploy recipes/digits.yaml --target galaxy-s25 --set library=true");
    let unit = unit(&result, "galaxy-s25");
    assert_eq!(unit["verification"]["state"], "done", "{unit}");
    assert!(unit["notes"].to_string().contains("verified as a binary for aarch64-unknown-linux-musl"), "{unit}");
    let folder = place.out().join("digits/galaxy-s25");
    for file in ["libdigits.so", "libdigits.a", "etbuild.h"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let Some(mut binary) = emulated(folder.join("digits")) else { return };
    let outputs = place.path().join("outputs.safetensors");
    binary.arg("--inputs").arg(repository().join(TEST_DATA)).args(["--threads", "3", "--outputs"]).arg(&outputs);
    Ran::of(&mut binary).expect(0);
    assert!(tensors::max_difference(&outputs, &repository().join(TEST_DATA)) < 1e-4);
}

#[test]
fn a_language_model_of_a_phone_writes_the_text_of_this_machine() {
    let place = Place::cold_with_compiled_crates();
    place.run("build recipes/tiny-llama.yaml --target android-arm64 --target linux-x86_64").expect(0);
    let of = |target: &str| place.out().join("tiny-llama").join(target).join("tiny-llama");
    let Some(mut phone) = emulated(of("android-arm64")) else { return };
    let prompt = ["--prompt", "Once there was a fox", "--max-new-tokens", "24", "--threads", "2"];
    let told = Ran::of(phone.args(prompt)).expect(0).stdout;
    let wanted = Ran::of(std::process::Command::new(of("linux-x86_64")).args(prompt)).expect(0).stdout;
    assert_eq!(told, wanted);
    assert!(told.len() > 40, "{told}");
}

#[test]
fn partitions_of_a_chip_that_is_not_here_are_not_run() {
    let place = Place::cold_with_compiled_crates();
    let result = place.json("deploy recipes/digits.yaml --target galaxy-s25 --set partition=[gpu,cpu]");
    let unit = unit(&result, "galaxy-s25");
    assert_eq!(unit["verification"]["state"], "skipped", "{unit}");
    let reason = unit["verification"]["reason"]["message"].as_str().unwrap();
    assert_eq!(reason, "not run here: partitions of `gpu` open libraries of the device");
    let binary = fs::read(place.out().join("digits/galaxy-s25/digits")).unwrap();
    assert!(binary.windows(12).any(|bytes| bytes == b"libvulkan.so"), "the binary opens the driver of the phone");
    let strict = "deploy recipes/digits.yaml --target galaxy-s25 --set partition=[gpu,cpu] --require-verify";
    assert!(place.run(strict).expect(8).stderr.contains("not run here"));
}
