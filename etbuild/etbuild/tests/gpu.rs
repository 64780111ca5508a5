//! The backend `gpu`: deployed, run on the Vulkan driver of this machine, and explained.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{MODEL, Place, RECIPE, Ran, repository, tensors, unit};

const TARGET: &str = "linux-x86_64";

/// A place in which a recipe of the digits is deployed on the GPU, the result, and the binary.
fn deployed() -> (Place, serde_json::Value, PathBuf) {
    let place = Place::cold_with_compiled_crates();
    let model = repository().join(MODEL).display().to_string();
    let data = repository().join("examples/digits/test.safetensors").display().to_string();
    let recipe = place.file(
        "gpu.yaml",
        format!(
            "etbuild: 1\nname: digits-gpu\nmodel: {{ pt2: {model} }}\npartition: [gpu, cpu]\ntargets: [{TARGET}]\n\
             verify: {{ inputs: {data}, tolerance: 1e-4 }}\n"
        ),
    );
    let result = place.json(&format!("deploy {}", recipe.display()));
    let binary = place.out().join(format!("digits-gpu/{TARGET}/digits-gpu"));
    (place, result, binary)
}

/// A command that finds no Vulkan driver.
fn without_driver(command: &mut Command) -> &mut Command {
    ["VK_ICD_FILENAMES", "VK_DRIVER_FILES"].iter().fold(command, |command, name| command.env(name, "/no/driver.json"))
}

const NO_DRIVER: &str = "no Vulkan driver is installed: ";

#[test]
fn a_binary_computes_on_the_gpu_what_pytorch_computed() {
    let (place, result, binary) = deployed();
    let verification = &unit(&result, TARGET)["verification"];
    assert_eq!((&verification["state"], &verification["cases"]), (&"done".into(), &360.into()), "{result}");
    assert_eq!(verification["same_prediction"], 360, "{verification}");

    let case = tensors::first_cases(&repository().join("examples/digits/test.safetensors"), 1);
    let (inputs, outputs) = (place.file("case.safetensors", case), place.path().join("y.safetensors"));
    let run = |more: &str| {
        let mut command = Command::new(&binary);
        command.arg("--inputs").arg(&inputs).args(more.split_whitespace());
        command
    };
    Ran::of(run("").arg("--outputs").arg(&outputs)).expect(0);
    let by_binary = fs::read(&outputs).unwrap();
    let words = format!("run {MODEL} --inputs {} --outputs {} --partition", inputs.display(), outputs.display());
    for (partition, tolerance) in [("gpu", 0.0), ("cpu", 1e-5)] {
        place.run(&format!("{words} {partition}")).expect(0);
        let other = fs::read(&outputs).unwrap();
        let [ours, other] = [&by_binary, &other].map(|bytes| floats(bytes));
        let difference = ours.iter().zip(&other).map(|(ours, other)| (ours - other).abs()).fold(0.0, f32::max);
        assert!(ours.len() == other.len() && difference <= tolerance, "{partition}: {difference}");
    }
    let bench = Ran::of(&mut run("--bench --iters 2")).expect(0).json();
    assert_eq!(bench["samples_ms"].as_array().unwrap().len(), 2, "{bench}");

    let failed = Ran::of(without_driver(&mut run("--top-k 1"))).expect(8);
    assert!(failed.stderr.starts_with(&format!("digits-gpu: delegate 0: {NO_DRIVER}")), "{}", failed.stderr);
}

/// The numbers of `output_0`.
fn floats(file: &[u8]) -> Vec<f32> {
    let array = tensors::tensor(file, "output_0");
    array.bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn a_missing_driver_is_told_by_run_and_by_the_doctor() {
    let place = Place::warm();
    let case = tensors::first_cases(&repository().join("examples/digits/test.safetensors"), 1);
    let inputs = place.file("case.safetensors", case).display().to_string();
    let words = ["run", MODEL, "--partition", "gpu", "--inputs", &inputs, "--top-k", "1"];
    let failed = Ran::of(without_driver(&mut place.command(words))).expect(8);
    assert!(failed.stderr.contains(&format!("delegate 0: {NO_DRIVER}")), "{}", failed.stderr);
    assert!(failed.stderr.contains("`etbuild doctor` describes the GPU"), "{}", failed.stderr);

    let absent = Ran::of(without_driver(&mut place.command(["doctor", "--output", "json"]))).expect(0).json();
    assert!(absent["gpu"]["problem"].as_str().unwrap().starts_with(NO_DRIVER), "{absent}");
    let found = place.json("doctor");
    let gpu = &found["gpu"];
    assert!(gpu["api"] == "vulkan" && gpu["name"].is_string() && gpu["driver"].is_string(), "{gpu}");
    assert!(gpu["api_version"].as_str().unwrap().starts_with("1."), "{gpu}");
    assert!(place.run("doctor").expect(0).stdout.contains(&format!("\ngpu: {}", gpu["name"].as_str().unwrap())));
}

#[test]
fn the_backend_of_every_node_is_shown() {
    let place = Place::warm();
    let shown = place.run(&format!("explain {RECIPE} --target {TARGET} --partition=gpu")).expect(0).stdout;
    assert!(shown.contains("gpu 8 nodes in 1 calls"), "{shown}");
    assert!(shown.lines().any(|line| line.contains("aten.convolution.default") && line.contains("gpu 0")), "{shown}");
    let refused = place.run(&format!("explain {RECIPE} --target linux-aarch64 --partition=gpu")).expect(0).stdout;
    assert!(refused.contains("the target states no `gpu:`"), "{refused}");
    // The best backends of a target are others.
    let auto = place.run(&format!("explain {RECIPE} --target {TARGET} --partition")).expect(0).stdout;
    assert!(!auto.contains("gpu"), "{auto}");
}
