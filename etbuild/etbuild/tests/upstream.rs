//! Our program files in upstream's runtime, and upstream's in ours. Needs `ETBUILD_TEST_PYTHON`, a Python with the
//! executorch wheel; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, MODEL, Place, Ran, repository, tensors};

/// How far two implementations of float32 kernels may be apart.
/// For 16-bit floating-point numbers.
const HALF: et_module::Tolerance = et_module::Tolerance { absolute: 2e-3, relative: 1e-2 };
const LOOSE: et_module::Tolerance = et_module::Tolerance { absolute: 1e-6, relative: 1e-5 };

/// The test images with the logits that PyTorch computed.
fn images() -> PathBuf {
    repository().join("examples/digits/test.safetensors")
}

/// Runs a script of this folder; `None` without a Python.
fn python(script: &str, arguments: &[&Path]) -> Option<Ran> {
    let python = support::python::with("the executorch wheel")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script);
    Some(Ran::of(Command::new(python).arg(script).args(arguments)).expect(0))
}

#[test]
fn upstreams_runtime_computes_the_same_from_our_program() {
    let place = Place::warm();
    place.run("build recipes/digits.yaml --partition portable --target linux-x86_64 --target pico2").expect(0);
    for target in ["linux-x86_64", "pico2"] {
        let program = place.out().join("digits").join(target).join("digits.pte");
        let outputs = place.path().join("outputs.safetensors");
        let Some(ran) = python("upstream.py", &[&program, &images(), &outputs]) else { return };
        assert_eq!(ran.stdout, "methods: forward\n");
        assert!(tensors::max_difference(&outputs, &images()) <= 1e-5, "{target}");
        assert_eq!(tensors::predictions(&outputs), tensors::predictions(&images()));
        assert_eq!(tensors::predictions(&outputs).len(), 360);
    }
}

/// The program file of the archive of layers, lowered for a runtime, and its operators.
fn layers(place: &Place, runtime: &str) -> (PathBuf, serde_json::Value) {
    let model = archives().join("layers.pt2");
    // Without `partition`, a program for upstream's runtime has no delegate of ours.
    let partition = if runtime == "etbuild" { "partition: portable\n" } else { "" };
    let text = format!("etbuild: 1\nname: {runtime}\nmodel: {{ pt2: {model:?} }}\nruntime: {runtime}\n{partition}");
    let recipe = place.file(&format!("{runtime}.yaml"), text);
    place.run(&format!("build {} --target linux-x86_64", recipe.display())).expect(0);
    let program = place.out().join(runtime).join("linux-x86_64").join(format!("{runtime}.pte"));
    let described = place.json(&format!("inspect {}", program.display()));
    (program, described["methods"][0]["operators"].clone())
}

fn archives() -> PathBuf {
    repository().join("etbuild/etbuild-import/tests/data")
}

#[test]
fn layers_are_whole_in_our_runtime_and_decomposed_in_upstreams() {
    let place = Place::cold_with_compiled_crates();
    let outputs = place.path().join("outputs.safetensors");
    let [inputs, recorded] = ["inputs", "outputs"].map(|kind| archives().join(format!("layers.{kind}.safetensors")));

    let (program, operators) = layers(&place, "etbuild");
    assert_eq!(operators["aten::lstm.input_out"], 2);
    assert_eq!(operators["aten::scaled_dot_product_attention.out"], 2);
    let words = format!("run {} --inputs {} --outputs {}", program.display(), inputs.display(), outputs.display());
    place.run(&words).expect(0);
    assert!(tensors::max_difference(&outputs, &recorded) <= 1e-5);

    let (program, operators) = layers(&place, "executorch");
    assert_eq!(operators["aten::lstm.input_out"], serde_json::Value::Null);
    let words = [&program, &inputs, &outputs, Path::new("x"), Path::new("hidden")];
    let Some(_) = python("upstream.py", &words) else { return };
    assert!(tensors::max_difference(&outputs, &recorded) <= 1e-5);
}

#[test]
fn our_runtime_computes_the_same_from_upstreams_program() {
    let place = Place::cold();
    let (program, outputs) = (place.path().join("upstream.pte"), place.path().join("outputs.safetensors"));
    let Some(_) = python("export.py", &[&repository().join(MODEL), &program]) else { return };
    let words = format!("run {} --inputs {} --outputs {}", program.display(), images().display(), outputs.display());
    place.run(&words).expect(0);
    assert!(tensors::max_difference(&outputs, &images()) <= 1e-5);
    assert_eq!(tensors::predictions(&outputs), tensors::predictions(&images()));

    let described = place.json(&format!("inspect {}", program.display()));
    assert_eq!(described["producer"], serde_json::Value::Null);
    assert_eq!(described["methods"][0]["operators"]["aten::convolution.out"], 2);
}

/// Every kind of file of upstream's exporter: `programs.py` lists the files with inputs and outputs.
#[test]
fn upstreams_files_of_every_kind_run_in_ours() {
    let place = Place::cold();
    let Some(_) = python("programs.py", &[place.path()]) else { return };
    let runs = std::fs::read_to_string(place.path().join("runs.json")).unwrap();
    let runs: Vec<serde_json::Value> = serde_json::from_str(&runs).unwrap();
    assert!(runs.len() > 50, "{} runs", runs.len());
    runs.iter().for_each(|run| check_run(&place, run));
}

fn check_run(place: &Place, run: &serde_json::Value) {
    let text = |key: &str| run[key].as_str().unwrap();
    let outputs = place.path().join("outputs.safetensors");
    let mut words = format!("run {} --method {}", text("file"), text("method"));
    for data in run["data"].as_array().unwrap() {
        words += &format!(" --data {}", data.as_str().unwrap());
    }
    if run["case"].is_string() {
        words += &format!(" --inputs {}/inputs.safetensors --outputs {}", text("case"), outputs.display());
    }
    let ran = place.run(&words);
    if run["refused"].is_string() {
        assert!(ran.status != 0 && ran.stderr.contains(text("refused")), "{words}: {}", ran.stderr);
        return;
    }
    let ran = ran.expect(0);
    match run["bundled"].as_u64() {
        Some(count) => assert_eq!(ran.stdout, format!("{count} bundled cases passed\n"), "{words}"),
        None => check_outputs(&words, Path::new(text("case")), &outputs),
    }
}

/// The outputs equal eager mode's and, if upstream's runtime ran the program, upstream's outputs.
fn check_outputs(words: &str, case: &Path, outputs: &Path) {
    let (eager, upstream) = (case.join("outputs.safetensors"), case.join("upstream.safetensors"));
    let answers = [eager, upstream].into_iter().filter(|answer| answer.exists());
    // A 16-bit sum in another order differs by a unit in the last place.
    let tolerance = if words.contains("float16/") { HALF } else { LOOSE };
    let differences = answers.flat_map(|answer| tensors::differences(outputs, &answer, tolerance));
    let differences: Vec<String> = differences.collect();
    assert!(differences.is_empty(), "{words}: {differences:?}");
}
