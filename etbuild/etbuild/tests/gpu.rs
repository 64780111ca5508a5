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
    assert!(refused.contains("the target states no `gpus:`"), "{refused}");
    // The best backends of a target are others.
    let auto = place.run(&format!("explain {RECIPE} --target {TARGET} --partition")).expect(0).stdout;
    assert!(!auto.contains("gpu"), "{auto}");
}

#[test]
fn what_crosses_between_backends_is_counted() {
    let place = Place::warm();
    let words = format!("explain {RECIPE} --target {TARGET} --partition");
    let json = place.json(&format!("{words}=gpu"));
    let crossing = |from: &str, to: &str, bytes: u64| serde_json::json!({ "method": "forward", "from": from, "to": to, "tensors": 1, "bytes": bytes });
    let both = serde_json::json!([crossing("gpu 0", "outputs", 40), crossing("inputs", "gpu 0", 256)]);
    assert_eq!(json["units"][0]["crossings"], both);
    let text = place.run(&format!("{words}=gpu")).expect(0).stdout;
    assert!(text.contains("crossings per execution: forward 2 tensors, 296 B\n"), "{text}");
    let portable = place.run(&format!("{words}=portable")).expect(0).stdout;
    assert!(!portable.contains("crossings"), "{portable}");
}

#[test]
fn a_report_describes_dispatches_and_stored_tensors() {
    let place = Place::cold_with_compiled_crates();
    let json = place.json(&format!("report {RECIPE} --partition gpu --target {TARGET} --latency"));
    let unit = &json["units"][0];
    let programs = unit["anatomy"]["blobs"][0]["gpu"].as_array().unwrap();
    // The driver of this machine, Mesa's for CPUs, has a program of its own.
    let gpu = programs.iter().find(|program| program["on_cpu"] == true).unwrap();
    assert!(programs.len() > 1, "{programs:?}");
    let (dispatches, tensors) = (gpu["dispatches"].as_array().unwrap(), gpu["tensors"].as_array().unwrap());
    let first = &dispatches[0];
    let [input, rest @ ..] = &first["reads"].as_array().unwrap()[..] else { panic!("{first}") };
    let input = &tensors[input.as_u64().unwrap() as usize];
    assert_eq!((&input["name"], &input["role"], &input["bytes"]), (&"input0".into(), &"input".into(), &256.into()));
    let size = |position: &serde_json::Value| tensors[position.as_u64().unwrap() as usize]["bytes"].as_u64().unwrap();
    let read: u64 = rest.iter().map(size).sum();
    assert_eq!((&first["bytes_read"], &first["bytes_written"]), (&(256 + read).into(), &size(&first["writes"]).into()));
    // The feature map of a convolution is an image of texels.
    let map = &tensors[first["writes"].as_u64().unwrap() as usize];
    assert_eq!((&map["storage"], &map["role"]), (&"image".into(), &"scratch".into()));
    let texels: u64 = map["extent"].as_array().unwrap().iter().map(|extent| extent.as_u64().unwrap()).product();
    assert_eq!(map["bytes"].as_u64().unwrap(), 16 * texels);
    let scratch = &gpu["scratch"];
    let [placed, sum] = ["placed", "sum"].map(|key| scratch[key].as_u64().unwrap());
    assert!(placed > 0 && placed < sum, "{scratch}");

    let html = fs::read_to_string(place.out().join(format!("digits/{TARGET}/report.html"))).unwrap();
    let counted = format!("<b>{}</b> dispatches of {} kernels", dispatches.len(), gpu["kernels"]);
    assert!(html.contains("<section id=\"gpu\"") && html.contains(&counted), "{counted}");
    // The times of the dispatches, by the values that they compute.
    let layers = unit["latency"]["layers"].as_array().unwrap();
    let times = layers.iter().map(|layer| (&layer["operator"], &layer["value"]));
    let dispatch = "Dispatch".into();
    assert!(times.eq(dispatches.iter().map(|of| (&dispatch, &of["value"]))), "{layers:?}");
    place.run(&format!("report {RECIPE} --partition portable --target {TARGET}")).expect(0);
    let html = fs::read_to_string(place.out().join(format!("digits/{TARGET}/report.html"))).unwrap();
    assert!(!html.contains("id=\"gpu\""));
}

#[test]
fn a_trace_has_the_dispatches_within_the_call_and_the_memory() {
    let place = Place::warm();
    let file = place.path().join("trace.json");
    let json = place.json(&format!("trace {MODEL} --partition gpu --iters 2 -o {}", file.display()));
    let rows = json["methods"][0]["rows"].as_array().unwrap();
    assert!(rows.len() > 2 && rows.iter().all(|row| row["operator"] == "Dispatch" && row["value"] != ""), "{json}");
    let memory = &json["gpu_memory"];
    assert!(memory["scratch"].as_u64() > Some(0) && memory["total"].as_u64() >= memory["scratch"].as_u64(), "{memory}");
    let trace: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let spans = |category: &str| -> Vec<(f64, f64)> {
        let events = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["cat"] == category);
        let span = |event: &serde_json::Value| {
            let [begin, length] = ["ts", "dur"].map(|key| event[key].as_f64().unwrap());
            (begin, begin + length)
        };
        events.map(span).collect()
    };
    let (calls, dispatches) = (spans("instruction"), spans("delegate"));
    assert_eq!(dispatches.len(), 2 * rows.len());
    assert!(dispatches.is_sorted_by(|one, next| one.1 <= next.0 + 1e-3), "{dispatches:?}");
    let is_inside = |span: &(f64, f64)| calls.iter().any(|call| call.0 <= span.0 && span.1 <= call.1 + 1e-3);
    assert!(dispatches.iter().all(is_inside), "{dispatches:?} in {calls:?}");
    let other = place.json(&format!("trace {MODEL} --partition cpu --iters 1"));
    assert!(other["gpu_memory"].is_null(), "{other}");
}
