//! Programs with several methods, constant methods, and weights in a data file: built from PyTorch's archives, run in
//! our runtime and in upstream's. Needs `ETBUILD_TEST_PYTHON`, a Python with the executorch wheel; without it these
//! tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use et_format::{DataFile, ProgramFile};

use crate::support::{self, Place, Ran, not_cached, tensors};

const METHODS: &str = "etbuild: 1
name: pair
model: { methods: { encode: encode.pt2, forward: forward.pt2 } }
targets: [linux-x86_64]
partition: portable
";

const CONSTANTS: &str = "export:
  constants: { get_max_seq_len: 128, get_eos: [1, 2], get_scale: 0.5, use_cache: true, get_name: pair }
";

/// Runs the script of these tests; `None` without a Python.
fn python<A: AsRef<OsStr>>(arguments: &[A]) -> Option<Ran> {
    let python = support::python::with("the executorch wheel")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/methods.py");
    Some(Ran::of(Command::new(python).arg(script).args(arguments)))
}

/// A folder with the archives and this recipe, where the command runs; `None` without a Python.
fn place(recipe: &str) -> Option<Place> {
    let mut place = Place::cold_with_compiled_crates();
    place.root = place.path().to_owned();
    place.file("r.yaml", recipe);
    python(&[OsStr::new("write"), place.path().as_os_str()])?.expect(0);
    Some(place)
}

fn built(place: &Place, name: &str) -> PathBuf {
    place.out().join("pair/linux-x86_64").join(name)
}

/// `etbuild run` of a method gives the outputs of eager PyTorch.
fn check_method(place: &Place, method: &str, options: &str) {
    let outputs = place.path().join(format!("{method}.outputs.safetensors"));
    let words = format!(
        "run {} --method {method} --inputs {method}.inputs.safetensors --outputs {} {options}",
        built(place, "pair.pte").display(),
        outputs.display()
    );
    place.run(&words).expect(0);
    let difference = tensors::max_difference(&outputs, &place.path().join(format!("{method}.test.safetensors")));
    assert!(difference <= 1e-5, "{method}: {difference}");
}

/// The outputs and messages of upstream's runtime for a method.
fn upstream(place: &Place, method: &str, data: Option<&Path>, has_inputs: bool) -> Ran {
    let outputs = place.path().join(format!("{method}.upstream.safetensors"));
    let mut words: Vec<PathBuf> = vec!["run".into(), built(place, "pair.pte"), method.into(), outputs.clone()];
    words.extend(data.into_iter().flat_map(|data| [PathBuf::from("--data"), data.to_owned()]));
    if has_inputs {
        let inputs = place.path().join(format!("{method}.inputs.safetensors"));
        let bytes = fs::read(&inputs).unwrap();
        let file = et_module::safetensors::SafeTensors::parse(&bytes).unwrap();
        words.push(inputs.clone());
        words.extend(file.tensors.keys().map(PathBuf::from));
    }
    let ran = python(&words).unwrap().expect(0);
    if has_inputs {
        let difference = tensors::max_difference(&outputs, &place.path().join(format!("{method}.test.safetensors")));
        assert!(difference <= 1e-5, "{method}: {difference}");
    }
    ran
}

#[test]
fn methods_share_equal_constants_and_run_in_both_runtimes() {
    let recipe = format!("{METHODS}verify: {{ inputs: forward.test.safetensors, tolerance: 1e-5 }}\n{CONSTANTS}");
    let Some(place) = place(&recipe) else { return };
    let report = place.json("deploy r.yaml");
    let stages: Vec<String> = not_cached(&report, "linux-x86_64");
    assert_eq!(stages, ["import", "lower", "import", "lower", "plan", "emit", "select", "link", "verify"], "{report}");
    let planned = place.json("plan r.yaml");
    assert!(not_cached(&planned, "linux-x86_64").is_empty(), "{planned}");
    let table = place.run("plan r.yaml").expect(0).stdout;
    assert!(table.contains("import.encode") && table.contains("lower.forward"), "{table}");

    // 64 x 64 and 64 x 8 weights with their biases: the shared layer is there once.
    let bytes = fs::read(built(&place, "pair.pte")).unwrap();
    let constants = 4 * (64 * 64 + 64 + 64 * 8 + 8);
    let segment = ProgramFile::parse(&bytes).unwrap().program().segments().unwrap().get(0).unwrap().size().unwrap();
    assert!((constants..constants + 256).contains(&segment), "{segment} bytes of constants");
    ["encode", "forward"].iter().for_each(|method| check_method(&place, method, ""));

    let said = upstream(&place, "forward", None, true).stdout;
    let methods = "methods: encode forward get_eos get_max_seq_len get_name get_scale use_cache\n";
    assert!(said.starts_with(methods), "{said}");
    upstream(&place, "encode", None, true);
    for (method, values) in [
        ("get_eos", "[1, 2]"),
        ("get_max_seq_len", "[128]"),
        ("get_name", "['pair']"),
        ("get_scale", "[0.5]"),
        ("use_cache", "[True]"),
    ] {
        let said = upstream(&place, method, None, false).stdout;
        assert!(said.ends_with(&format!("values: {values}\n")), "{method}: {said}");
    }
    check_constants(&place);
    check_binary(&place);
}

fn check_constants(place: &Place) {
    let outputs = place.path().join("constant.safetensors");
    let run = |method: &str| {
        let file = built(place, "pair.pte");
        let words = format!("run {} --method {method} --outputs {}", file.display(), outputs.display());
        place.run(&words).expect(0);
        fs::read(&outputs).unwrap()
    };
    let bytes = run("get_eos");
    let file = et_module::safetensors::SafeTensors::parse(&bytes).unwrap();
    let items: Vec<&[u8]> = ["output_0", "output_1"].iter().map(|name| file.tensors[*name].bytes).collect();
    assert_eq!(items, [1_i64.to_le_bytes(), 2_i64.to_le_bytes()]);
    let bytes = run("get_name");
    let file = et_module::safetensors::SafeTensors::parse(&bytes).unwrap();
    assert_eq!(file.metadata["output_0"], "pair");
}

/// The binary runs each of its methods.
fn check_binary(place: &Place) {
    let outputs = place.path().join("binary.safetensors");
    let inputs = place.path().join("encode.inputs.safetensors");
    let mut command = Command::new(built(place, "pair"));
    command.args(["--method", "encode", "--inputs"]).arg(&inputs).arg("--outputs").arg(&outputs);
    Ran::of(&mut command).expect(0);
    assert!(tensors::max_difference(&outputs, &place.path().join("encode.test.safetensors")) <= 1e-5);
}

#[test]
fn weights_lie_in_a_data_file_that_both_runtimes_find() {
    let recipe = format!(
        "{METHODS}runtime: executorch\nexport: {{ weights: external }}\nverify: {{ inputs: forward.test.safetensors }}\n"
    );
    let Some(place) = place(&recipe) else { return };
    place.run("deploy r.yaml").expect(0);
    let (program, data) = (built(&place, "pair.pte"), built(&place, "pair.ptd"));
    let (program_size, bytes) = (fs::metadata(&program).unwrap().len(), fs::read(&data).unwrap());
    assert!(program_size < 6_000 && bytes.len() > 18_000, "{program_size} and {} bytes", bytes.len());
    let entries = DataFile::parse(&bytes).unwrap().entries().unwrap().iter();
    let names: Vec<&str> = entries.map(|entry| entry.unwrap().key().unwrap()).collect();
    assert!(names.contains(&"embed.bias") && names.contains(&"head.bias"), "{names:?}");

    for method in ["encode", "forward"] {
        check_method(&place, method, &format!("--data {}", data.display()));
        upstream(&place, method, Some(&data), true);
    }
    check_binary(&place);
    fs::rename(&data, place.path().join("elsewhere.ptd")).unwrap();
    let inputs = place.path().join("forward.inputs.safetensors");
    let mut command = Command::new(built(&place, "pair"));
    command.arg("--inputs").arg(&inputs).arg("--outputs").arg(place.path().join("never"));
    let said = Ran::of(&mut command).expect(8).stderr;
    assert!(said.contains("it is in a data file, and none was given"), "{said}");
    command.arg("--data").arg(place.path().join("elsewhere.ptd"));
    Ran::of(&mut command).expect(0);

    // A program with a single method uses the same names for shared weights, so it runs with the data file of both
    // methods.
    let alone = METHODS.replace("encode: encode.pt2, ", "").replace("pair", "alone");
    place.file("alone.yaml", format!("{alone}runtime: executorch\nexport: {{ weights: external }}\n"));
    place.run("build alone.yaml").expect(0);
    let outputs = place.path().join("alone.safetensors");
    let words = format!(
        "run {} --inputs {} --outputs {} --data {}",
        place.out().join("alone/linux-x86_64/alone.pte").display(),
        inputs.display(),
        outputs.display(),
        place.path().join("elsewhere.ptd").display()
    );
    place.run(&words).expect(0);
    assert!(tensors::max_difference(&outputs, &place.path().join("forward.test.safetensors")) <= 1e-5);
}

#[test]
fn a_board_has_no_data_files() {
    let Some(place) = place(&format!("{METHODS}export: {{ weights: external }}\n")) else { return };
    let json = place.run("check r.yaml --target pico2 --output json").expect(4).json();
    let found = &json["diagnostics"][0];
    assert_eq!((&found["code"], &found["span"]["start"]["line"]), (&"ETB0207".into(), &6.into()), "{json}");
}

/// State that a method writes and the other method reads is at the same offset of the first arena of both.
#[test]
fn state_of_one_name_is_shared() {
    let recipe = METHODS.replace("encode: encode.pt2, forward: forward.pt2", "put: put.pt2, take: take.pt2");
    let Some(place) = place(&recipe) else { return };
    place.run("build r.yaml").expect(0);
    let bytes = fs::read(built(&place, "pair.pte")).unwrap();
    let file = ProgramFile::parse(&bytes).unwrap();
    let shared = |index: usize| -> Vec<(u32, u64)> {
        let plan = file.program().execution_plan(index).unwrap();
        assert_eq!(plan.arena_sizes().unwrap().get(1), Some(16));
        let tensors = (0..plan.values().unwrap().len()).filter_map(|index| plan.tensor(index).ok());
        let initialized = tensors.filter(|tensor| tensor.data_buffer_index().unwrap() > 0);
        initialized
            .filter_map(|tensor| tensor.allocation().unwrap())
            .map(|place| (place.memory_id, place.offset))
            .collect()
    };
    assert_eq!((shared(0), shared(1)), (vec![(1, 0)], vec![(1, 0)]));
    ["put", "take"].iter().for_each(|method| drop(upstream(&place, method, None, true)));

    place.file("r.yaml", recipe.replace("put.pt2", "other.pt2"));
    let json = place.run("build r.yaml --output json").expect(4).json();
    assert_eq!(json["units"][0]["diagnostics"][0]["code"], "ETB0411", "{json}");
}

/// A binary does the same.
#[test]
fn the_alphabetically_first_method_runs_where_none_is_forward() {
    let place = Place::warm();
    let [model, inputs] = ["digits.pt2", "test.safetensors"]
        .map(|name| support::repository().join("examples/digits").join(name).display().to_string());
    let recipe = format!(
        "etbuild: 1\nname: two\nmodel: {{ methods: {{ second: {model}, first: {model} }} }}\ntargets: [linux-x86_64]\n"
    );
    let recipe = place.file("two.yaml", recipe).display().to_string();
    let case = tensors::first_cases(Path::new(&inputs), 1);
    let inputs = place.file("case.safetensors", case).display().to_string();
    place.run(&format!("run {recipe} --inputs {inputs} --top-k 1")).expect(0);
    let traced = place.json(&format!("trace {recipe} --inputs {inputs}"));
    assert_eq!(traced["methods"][0]["method"], "first", "{traced}");
    place.run(&format!("debug {recipe} --inputs {inputs}")).expect(0);
    let refused = place.run(&format!("run {recipe} --inputs {inputs} --top-k 1 --method third")).expect(2);
    assert!(refused.stderr.contains("one of first, second"), "{}", refused.stderr);
}
