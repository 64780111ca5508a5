//! Custom operators: the crate of `examples/custom-operator`, with models that call its operators. Needs `ETBUILD_TEST_PYTHON`, a Python with
//! the executorch wheel; without one these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips the tests.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{self, Place, Ran, files, not_cached, repository, tensors, unit};

/// A project with the crate and a recipe for each model.
struct Project {
    place: Place,
    models: TempDir,
}

impl Project {
    fn new() -> Option<Self> {
        let models = support::python::written_by("operators.py", "the executorch wheel", &[])?;
        let project = Self { place: Place::cold_with_compiled_crates(), models };
        let example = repository().join("examples/custom-operator/my_ops");
        files::copy(&example, &project.place.path().join("my_ops"));
        for model in ["gate", "only", "rows", "most", "double"] {
            project.recipe(model, "[my_ops]");
        }
        Some(project)
    }

    /// Writes the recipe of a model.
    fn recipe(&self, model: &str, operators: &str) {
        let folder = self.models.path().display();
        let text = format!(
            "etbuild: 1\nname: {model}\nmodel: {{ pt2: {folder}/{model}.pt2 }}\noperators: {operators}\ntargets: [linux-x86_64]\n\
             verify: {{ inputs: {folder}/{model}.safetensors, tolerance: 1e-5 }}\n"
        );
        self.place.file(&format!("{model}.yaml"), text);
    }

    fn words(&self, command: &str, model: &str, options: &str) -> String {
        format!("{command} {} {options}", self.place.path().join(format!("{model}.yaml")).display())
    }

    fn deploy(&self, model: &str, options: &str) -> Value {
        self.place.json(&self.words("deploy", model, options))
    }

    fn model_file(&self, name: &str) -> PathBuf {
        self.models.path().join(name)
    }

    /// Replaces a part of a file of the crate.
    fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.place.path().join("my_ops").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}: {from}");
        fs::write(path, text.replace(from, to)).unwrap();
    }

    /// The message of a refused command.
    fn refusal(&self, command: &str, model: &str, code: &str) -> String {
        let ran = self.place.run(&self.words(command, model, ""));
        assert!(ran.stderr.contains(&format!("error[{code}]")), "{}", ran.stderr);
        assert_ne!(ran.status, 0);
        ran.stderr
    }
}

#[track_caller]
fn assert_verified(value: &Value, target: &str) {
    let verification = &unit(value, target)["verification"];
    assert_eq!(verification["state"], "done", "{value}");
    assert!(verification["max_error"].as_f64().unwrap() <= 1e-5, "{verification}");
}

#[test]
fn custom_operators_compute_what_pytorch_computed_on_every_kind_of_target() {
    let Some(project) = Project::new() else { return };
    let value = project.deploy("gate", "--target linux-x86_64 --target mps2-an505 --target web");
    for target in ["linux-x86_64", "mps2-an505", "web"] {
        assert_verified(&value, target);
    }
    assert_verified(&project.deploy("rows", ""), "linux-x86_64");
    assert_verified(&project.deploy("most", "--target mps2-an505"), "mps2-an505");
    for options in ["--set runtime=executorch", "--set library=true", "--partition portable"] {
        assert_verified(&project.deploy("gate", options), "linux-x86_64");
    }
}

#[test]
fn a_binary_has_the_kernels_that_the_program_calls() {
    let Some(project) = Project::new() else { return };
    // The linker's map names the modules of kernels.
    let report = |model: &str| project.place.run(&project.words("report", model, "--output json")).expect(0).stdout;
    let binary = |model: &str| {
        project.deploy(model, "");
        fs::read(project.place.out().join(model).join("linux-x86_64").join(model)).unwrap()
    };
    let contains = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let [one, both] = ["gate", "rows"].map(binary);
    assert!(contains(&one, "mylib::fused_gate.out") && !contains(&one, "mylib::low_high.out"));
    assert!(contains(&both, "mylib::fused_gate.out") && contains(&both, "mylib::low_high.out"));
    assert!(report("gate").contains("my_ops"));
}

#[test]
fn the_sources_and_not_the_path_of_a_crate_are_in_the_key() {
    let Some(project) = Project::new() else { return };
    project.deploy("gate", "");
    let path = |name: &str| project.place.path().join(name);
    fs::rename(path("my_ops"), path("moved")).unwrap();
    project.recipe("gate", "[moved]");
    assert_eq!(not_cached(&project.deploy("gate", ""), "linux-x86_64"), Vec::<String>::new());
    fs::rename(path("moved"), path("my_ops")).unwrap();
    project.recipe("gate", "[my_ops]");
    project.edit("src/fused_gate.rs", "x / (", "x * M::ONE / (");
    let value = project.deploy("gate", "");
    let again = not_cached(&value, "linux-x86_64");
    assert!(again.contains(&"link".to_owned()) && !again.contains(&"import".to_owned()), "{again:?}");
    assert_verified(&value, "linux-x86_64");
    let watched = project.place.json(&project.words("plan", "gate", ""));
    assert!(watched.to_string().contains("link"), "{watched}");
}

#[test]
fn schemes_without_calibration_take_custom_operators_and_others_refuse() {
    let Some(project) = Project::new() else { return };
    let value = project.deploy("gate", "--quantize dynamic-int8 --set verify.tolerance=0.1");
    assert_eq!(unit(&value, "linux-x86_64")["verification"]["state"], "done", "{value}");
    let calibrated = format!("--quantize int8 --calibrate {}", project.model_file("gate.safetensors").display());
    let ran = project.place.run(&project.words("check", "gate", &calibrated));
    assert!(ran.stderr.contains("error[ETB0408]") && ran.stderr.contains("dynamic-int8"), "{}", ran.stderr);
}

#[test]
fn explanations_name_the_kernel_of_a_custom_operator() {
    let Some(project) = Project::new() else { return };
    let ran = project.place.run(&project.words("explain --operators", "rows", "")).expect(0);
    assert!(ran.stdout.contains("my_ops::low_high::out<float32>"), "{}", ran.stdout);
    assert!(project.place.run(&project.words("check", "gate", "")).expect(0).stdout.contains("ok"));
}

#[test]
fn the_binary_runs_the_program_file_of_upstreams_pipeline() {
    let Some(project) = Project::new() else { return };
    project.deploy("only", "");
    let folder = project.place.out().join("only/linux-x86_64");
    fs::copy(project.model_file("upstream.pte"), folder.join("only.pte")).unwrap();
    let (inputs, outputs) = (project.model_file("only.safetensors"), project.place.path().join("outputs.safetensors"));
    let mut binary = Command::new(folder.join("only"));
    binary.arg("--inputs").arg(&inputs).arg("--outputs").arg(&outputs);
    Ran::of(&mut binary).expect(0);
    assert!(tensors::max_difference(&outputs, &inputs) <= 1e-5);
}

#[test]
fn a_crate_that_does_not_fit_is_refused_at_the_desk() {
    let Some(project) = Project::new() else { return };
    let found = project.refusal("check", "double", "ETB0402");
    assert!(found.contains("no kernel for float64; it has float16, float32"), "{found}");
    let edits = [
        ("operators.yaml", "mylib::fused_gate(", "mylib::gate(", "ETB0401", "mylib.fused_gate.default"),
        ("operators.yaml", "mylib::fused_gate(", "aten::fused_gate(", "ETB0213", "not the user's"),
        ("operators.yaml", "Tensor x, Tensor gate", "Tensor(a!) x, Tensor gate", "ETB0213", "shares the memory of `x`"),
        ("operators.yaml", "float alpha=1.0", "str alpha=\\\"a\\\"", "ETB0213", "argument `alpha`"),
        ("operators.yaml", "Tensor gate, float", "Tensor gate, Tensor bias, float", "ETB0213", "`bias` is missing"),
        ("operators.yaml", "float16", "float17", "ETB0213", "`float17` is no dtype"),
        ("operators.yaml", "fused_gate::out", "fused_gate::{}", "ETB0213", "no path of a function"),
        ("operators.yaml", "kernel: fused", "cornel: fused", "ETB0107", "cornel"),
        ("Cargo.toml", "et-core =", "libm = \"0.2\"\net-core =", "ETB0213", "not on `libm`"),
        ("Cargo.toml", "edition =", "build = \"build.rs\"\nedition =", "ETB0213", "runs on the host"),
    ];
    for (file, from, to, code, words) in edits {
        project.edit(file, from, to);
        let found = project.refusal("check", "gate", code);
        assert!(found.contains(words), "{to}: {found}");
        project.edit(file, to, from);
    }
    project.recipe("gate", "[my_ops, my_ops]");
    assert!(project.refusal("check", "gate", "ETB0213").contains("two crates of operators are called `my_ops`"));
    project.recipe("gate", "[my_ops/src]");
    assert!(project.refusal("check", "gate", "ETB0213").contains("no readable `operators.yaml`"));
    project.recipe("gate", "[elsewhere]");
    project.refusal("check", "gate", "ETB0201");
}

#[test]
fn a_mistake_in_a_kernel_is_shown_with_the_words_of_the_compiler() {
    let Some(project) = Project::new() else { return };
    project.edit("operators.yaml", "fused_gate::out", "fused_gate::inner");
    let found = project.refusal("deploy", "gate", "ETB0507");
    assert!(found.contains("`inner`") && found.contains("operators.yaml"), "{found}");
    project.edit("operators.yaml", "fused_gate::inner", "fused_gate::out");
    project.edit("src/fused_gate.rs", "args.double(2)?", "args.dubble(2)?");
    let found = project.refusal("deploy", "gate", "ETB0507");
    assert!(found.contains("`dubble`") && found.contains("my_ops/src/fused_gate.rs:"), "{found}");
}

#[test]
fn the_written_crate_passes_its_test_and_is_renewed() {
    let place = Place::cold();
    let folder = place.path().join("more ops");
    let init = || Ran::of(&mut place.command(["init", "operators", folder.to_str().unwrap()]));
    init().expect(0);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--offline"]).current_dir(&folder).env("CARGO_TARGET_DIR", folder.join("target"));
    assert!(Ran::of(&mut cargo).expect(0).stdout.contains("1 passed"));
    let copy = folder.join("etbuild/crates/et-core/src/lib.rs");
    fs::remove_file(&copy).unwrap();
    fs::write(folder.join("src/lib.rs"), "//! Mine.\n").unwrap();
    init().expect(0);
    assert!(copy.exists());
    assert_eq!(fs::read_to_string(folder.join("src/lib.rs")).unwrap(), "//! Mine.\n");
    let other = place.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("file"), "").unwrap();
    let ran = Ran::of(&mut place.command(["init", "operators", other.to_str().unwrap()])).expect(1);
    assert!(ran.stderr.contains("is no crate of operators"), "{}", ran.stderr);
}

/// The operators of the example by calls of torch's operators, in a folder without sources.
fn stated() -> String {
    fs::read_to_string(repository().join("examples/custom-operator/lowered/operators.yaml")).unwrap()
}

impl Project {
    /// The same with lowerings in place of kernels.
    fn lowered() -> Option<Self> {
        let project = Self::new()?;
        project.place.file("lowered/operators.yaml", stated());
        for model in ["gate", "rows", "most"] {
            project.recipe(model, "[lowered]");
        }
        Some(project)
    }
}

#[test]
fn lowered_operators_compute_what_pytorch_computed_without_a_kernel() {
    let Some(project) = Project::lowered() else { return };
    for model in ["gate", "rows", "most"] {
        assert_verified(&project.deploy(model, ""), "linux-x86_64");
    }
    assert_verified(&project.deploy("gate", "--target mps2-an505"), "mps2-an505");
    let whole = project.place.run(&project.words("explain --partition", "gate", "")).expect(0).stdout;
    assert!(whole.contains("backends cpu: cpu 5 nodes in 1 calls\n"), "{whole}");
    let explained = project.place.run(&project.words("explain --partition", "rows", "")).expect(0).stdout;
    assert!(explained.contains("aten.amax.default") && !explained.contains("mylib"), "{explained}");
    assert!(
        explained.lines().any(|line| line.contains("aten.sigmoid.default") && line.contains("cpu ")),
        "{explained}"
    );
}

#[test]
fn lowered_operators_are_calibrated_and_run_here() {
    let Some(project) = Project::lowered() else { return };
    let calibrated = format!(
        "--quantize w8a8 --calibrate {} --set verify.tolerance=0.1",
        project.model_file("gate.safetensors").display()
    );
    let value = project.deploy("gate", &calibrated);
    assert_eq!(unit(&value, "linux-x86_64")["verification"]["state"], "done", "{value}");
    let (inputs, outputs) = (project.model_file("gate.safetensors"), project.place.path().join("outputs.safetensors"));
    let (model, operators) = (project.model_file("gate.pt2"), project.place.path().join("lowered"));
    let words = format!(
        "run {} --set operators=[{}] --inputs {} --outputs {}",
        model.display(),
        operators.display(),
        inputs.display(),
        outputs.display()
    );
    project.place.run(&words).expect(0);
    assert!(tensors::max_difference(&outputs, &inputs) <= 1e-5);
}

#[test]
fn a_lowering_is_in_the_key_of_the_import_and_mistakes_have_a_line() {
    let Some(project) = Project::lowered() else { return };
    project.deploy("gate", "");
    let path = project.place.path().join("lowered/operators.yaml");
    let edited = |from: &str, to: &str| fs::write(&path, stated().replace(from, to)).unwrap();
    edited("aten::mul.Tensor(x, open)", "aten::mul.Tensor(open, x)");
    let value = project.deploy("gate", "");
    assert!(not_cached(&value, "linux-x86_64").contains(&"import".to_owned()), "{value}");
    for (from, to, words) in [
        (
            "aten::sigmoid(scaled)",
            "aten::sigmoid(other)",
            "`other` is neither an argument of the operator nor a result above",
        ),
        ("return low, high", "return low", "returns 1 tensors, and the schema has 2"),
        ("lowering:\n    - low", "kernel: out\n  lowering:\n    - low", "has no `dtypes`"),
        (
            "aten::mul.Tensor(x, open)",
            "aten::amax(x, [1])",
            "the lowering computes float32 [1], and the exported operator float32 [1, 4]",
        ),
    ] {
        edited(from, to);
        let found = project.refusal("check", "gate", "ETB0213");
        assert!(found.contains(words) && found.contains("operators.yaml"), "{found}");
    }
    edited(
        "lowering:\n    - low = aten::amin(x, [1])\n    - high = aten::amax(x, dim=[1], keepdim=False)\n    - return low, high\n",
        "",
    );
    let found = project.refusal("check", "gate", "ETB0213");
    assert!(found.contains("has neither a kernel nor a lowering"), "{found}");
}
