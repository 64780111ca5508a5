//! Recordings: a binary with `trace: true` writes when each operator ran, and `etbuild trace` names the operators at the desk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Place, RECIPE, Ran, repository, tensors};

const TARGET: &str = "linux-x86_64";

/// The instructions of a trace: method, backend, operator, value and the number of executions.
pub fn instructions(trace: &Value) -> Vec<[String; 5]> {
    let mut found = Vec::new();
    for method in trace["methods"].as_array().unwrap() {
        for row in method["rows"].as_array().unwrap() {
            let of = |key: &str| row[key].to_string();
            found.push([method["method"].to_string(), of("backend"), of("operator"), of("value"), of("calls")]);
        }
    }
    found
}

/// Builds a recipe with a binary that records.
fn built(place: &Place, recipe: &str) -> PathBuf {
    place.json(&format!("build {recipe} --target {TARGET} --partition cpu --set trace=true"));
    let name = Path::new(recipe).file_stem().unwrap();
    place.out().join(name).join(TARGET).join(name)
}

#[test]
fn a_binary_records_the_events_that_the_host_tool_records() {
    let place = Place::cold_with_compiled_crates();
    let inputs = place
        .file("images.safetensors", tensors::first_cases(&repository().join("examples/digits/test.safetensors"), 2));
    let (recording, dump) = (place.path().join("recording"), place.path().join("trace.json"));
    let binary = built(&place, RECIPE);
    let options = ["--iters", "3", "--warmup", "1", "--threads", "2", "--inputs"];
    Ran::of(Command::new(&binary).args(options).arg(&inputs).arg("--trace").arg(&recording)).expect(0);
    let call = format!("trace {RECIPE} --target {TARGET} --partition cpu --recording {}", recording.display());
    let files = |name: &str| {
        let path = place.path().join(name);
        (format!("--etdump {}.etdp --etrecord {}", path.display(), path.display()), path)
    };
    let ((there_files, there_record), (here_files, here_record)) = (files("there"), files("here"));
    let there = place.json(&format!("{call} -o {} {there_files}", dump.display()));
    let options = options.join(" ");
    let here = place.json(&format!("trace {RECIPE} --partition cpu {options} {} {here_files}", inputs.display()));
    for member in ["debug_handle_map", "delegate_map", "edge_dialect_exported_program/forward"] {
        assert_eq!(recorded(&there_record, member), recorded(&here_record, member), "{member}");
    }
    assert!(recorded(&there_record, "delegate_map").contains("relu:Conv2d"));
    assert_eq!(instructions(&there), instructions(&here));
    assert!(instructions(&there).len() >= 5 && there["left_out"] == 0, "{there}");
    let method = &there["methods"][0];
    assert_eq!((&there["recipe"], &method["runs"]), (&"digits".into(), &6.into()));
    let rows = method["rows"].as_array().unwrap();
    let sum: f64 = rows.iter().map(|row| row["milliseconds"].as_f64().unwrap()).sum();
    assert!(sum > 0.0 && sum <= method["milliseconds"].as_f64().unwrap() * 6.0, "{method}");
    assert!(rows.iter().any(|row| row["module"] == "conv1"), "{method}");
    let events: Value = serde_json::from_slice(&fs::read(&dump).unwrap()).unwrap();
    let count = |category: &str| {
        events["traceEvents"].as_array().unwrap().iter().filter(|event| event["cat"] == category).count()
    };
    assert_eq!((count("method"), count("delegate") + count("kernel")), (6, 6 * rows.len()));
    refuses_other_files(&place, &call, &recording);
    // Without inputs, the inputs are zeros, as in a benchmark.
    Ran::of(Command::new(&binary).arg("--trace").arg(&recording)).expect(0);
    assert_eq!(place.json(&call)["methods"][0]["runs"], 10);
}

/// A text in an ETRecord.
fn recorded(record: &Path, member: &str) -> String {
    let mut archive = zip::ZipArchive::new(fs::File::open(record).unwrap()).unwrap();
    std::io::read_to_string(archive.by_name(member).unwrap()).unwrap()
}

/// A cut recording, and the recording of another program.
fn refuses_other_files(place: &Place, call: &str, recording: &Path) {
    let other = place.run(&call.replace(RECIPE, "recipes/tiny-llama.yaml")).expect(8).stderr;
    assert!(other.contains("is not of `tiny-llama` for `linux-x86_64`"), "{other}");
    let bytes = fs::read(recording).unwrap();
    fs::write(recording, &bytes[..bytes.len() / 2]).unwrap();
    let cut = place.run(call).expect(8).stderr;
    assert!(cut.contains("error[ETB0712]") && cut.contains("is no recording"), "{cut}");
}

#[test]
fn a_language_model_records_prefill_and_decode() {
    let place = Place::cold_with_compiled_crates();
    let (recipe, recording) = ("recipes/tiny-llama.yaml", place.path().join("recording"));
    // More tokens than a prefill has.
    let tokens = place.file("tokens.txt", "5 6 7 8 ".repeat(20));
    let options = ["--max-new-tokens", "3", "--temperature", "0", "--tokens-in"];
    let binary = built(&place, recipe);
    Ran::of(Command::new(binary).args(options).arg(&tokens).arg("--trace").arg(&recording)).expect(0);
    let there = place.json(&format!("trace {recipe} --target {TARGET} --recording {}", recording.display()));
    let here = place.json(&format!("trace {recipe} {} {}", options.join(" "), tokens.display()));
    assert_eq!(instructions(&there), instructions(&here));
    for method in ["\"prefill", "\"decode"] {
        assert!(instructions(&there).iter().any(|row| row[0].starts_with(method)), "{method}");
    }
}

#[test]
fn a_binary_records_only_where_the_recipe_asks() {
    let place = Place::warm();
    let binary = crate::support::warm_out().join("digits").join(TARGET).join("digits");
    let refused = Ran::of(Command::new(binary).args(["--trace", "file"])).expect(2).stderr;
    assert!(refused.contains("unknown argument --trace"), "{refused}");
    let both = place.run(&format!("trace {RECIPE} --recording a --device adb")).expect(2).stderr;
    assert!(both.contains("cannot be used with"), "{both}");
    let tensors = place.run(&format!("trace {RECIPE} --device adb --etdump a --intermediates")).expect(2).stderr;
    assert!(tensors.contains("`--intermediates` keeps tensors"), "{tensors}");
}
