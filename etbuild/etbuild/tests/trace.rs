//! `etbuild trace` and `etbuild debug`: times and names of operators, files that other tools read, and the operator where results
//! begin to differ. Tests against PyTorch and ExecuTorch need `ETBUILD_TEST_PYTHON`, a Python with the executorch wheel; without it
//! these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{self, MODEL, Place, Ran, repository, tensors};

/// Two images as a file of inputs.
fn images(place: &Place) -> PathBuf {
    place.file("images.safetensors", tensors::first_cases(&repository().join("examples/digits/test.safetensors"), 2))
}

/// The model of `traced.py` with the files of PyTorch and upstream; `None` without a Python.
fn traced() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| support::python::written_by("traced.py", "executorch and safetensors", &[]));
    folder.as_ref().map(TempDir::path)
}

fn rows(trace: &Value) -> &Vec<Value> {
    trace["methods"][0]["rows"].as_array().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn operators_have_times_values_modules_and_bytes() {
    let place = Place::cold();
    let images = images(&place);
    for (partition, operator, backend) in [("portable", "aten::convolution.out", "portable"), ("cpu", "Conv2d", "cpu")]
    {
        let call = format!("trace {MODEL} --partition {partition} --inputs {} --iters 3 --warmup 1", images.display());
        let trace = place.json(&call);
        assert_eq!((&trace["schema"], &trace["left_out"]), (&"etbuild.trace/1".into(), &0.into()));
        let method = &trace["methods"][0];
        // Two images, three times.
        assert_eq!((&method["method"], &method["runs"]), (&"forward".into(), &6.into()));
        let sum: f64 = rows(&trace).iter().map(|row| number(&row["milliseconds"])).sum();
        assert!(sum > 0.0 && sum <= number(&method["milliseconds"]) * 6.0, "{method}");
        let convolution = rows(&trace).iter().find(|row| row["operator"] == operator).unwrap();
        assert_eq!((&convolution["calls"], &convolution["backend"]), (&6.into(), &backend.into()), "{convolution}");
        assert!(convolution["module"] == "conv1" && number(&convolution["bytes"]) > 0.0, "{convolution}");
        assert!(rows(&trace).iter().all(|row| row["value"] != ""), "{trace}");
        let text = place.run(&call).expect(0).stdout;
        assert!(text.contains(operator) && text.contains("forward: 6 executions") && text.contains(" %"), "{text}");
    }
}

#[test]
fn a_trace_nests_instructions_in_methods_and_names_threads() {
    let place = Place::cold();
    let file = place.path().join("trace.json");
    let inputs = images(&place);
    place
        .run(&format!(
            "trace {MODEL} --partition cpu --threads 2 --iters 2 --inputs {} -o {}",
            inputs.display(),
            file.display()
        ))
        .expect(0);
    let trace: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let category = |name: &'static str| events.iter().filter(move |event| event["cat"] == name);
    let span = |event: &Value| (number(&event["ts"]), number(&event["ts"]) + number(&event["dur"]));
    let methods: Vec<(f64, f64)> = category("method").map(span).collect();
    assert_eq!(methods.len(), 4);
    for event in category("delegate").chain(category("instruction")) {
        let (begin, end) = span(event);
        let is_inside = |method: &&(f64, f64)| method.0 <= begin && end <= method.1 + 1e-3;
        assert_eq!(methods.iter().filter(is_inside).count(), 1, "{event}");
    }
    assert!(category("delegate").all(|event| event["args"]["value"].is_string()));
    let names: Vec<&Value> =
        events.iter().filter(|event| event["ph"] == "M").map(|event| &event["args"]["name"]).collect();
    assert_eq!(names[0], "main");
    let workers = names.len() as u64;
    assert!(category("task").all(|event| (2..=workers).contains(&event["tid"].as_u64().unwrap())));
}

#[test]
fn a_program_file_and_a_model_without_inputs_are_traced() {
    let place = Place::cold();
    let program = place.path().join("digits.pte");
    place.run(&format!("compile {MODEL} --partition portable --program {}", program.display())).expect(0);
    let trace = place.json(&format!("trace {} --iters 1", program.display()));
    // A program file has names of operators, and none of values.
    assert!(rows(&trace).iter().any(|row| row["operator"] == "aten::convolution.out" && row["value"] == ""));
    place.run(&format!("trace {} --device adb", program.display())).expect(3);
}

#[test]
fn a_language_model_has_a_profile_of_prefill_and_decode() {
    let place = Place::cold();
    let tokens = place.file("tokens.txt", "5 6 7 8");
    let model = "examples/tiny-llama/model";
    let written = place.path().join("new.txt");
    let call = format!(
        "trace {model} --tokens-in {} --max-new-tokens 3 --temperature 0 --tokens-out {}",
        tokens.display(),
        written.display()
    );
    let trace = place.json(&call);
    let runs = |name: &str| {
        let mut methods = trace["methods"].as_array().unwrap().iter();
        let is_it = |method: &&Value| method["method"].as_str().unwrap().starts_with(name);
        methods.find(is_it).map(|method| method["runs"].as_u64().unwrap())
    };
    assert!(runs("prefill") >= Some(1) && runs("decode") >= Some(1), "{trace}");
}

#[test]
fn lines_of_python_are_named() {
    let Some(folder) = traced() else { return };
    let place = Place::cold();
    let trace = place.json(&format!("trace {} --iters 1 --partition cpu", folder.join("net.pt2").display()));
    let line = |operator: &str| {
        let row = rows(&trace).iter().find(|row| row["operator"] == operator).unwrap_or_else(|| panic!("{trace}"));
        row["line"].as_str().unwrap().to_owned()
    };
    assert_eq!(line("Conv2d"), "traced.py:25: y = torch.relu(self.norm(self.conv(x)))");
    assert_eq!(line("Softmax"), "traced.py:28: return torch.softmax(y, -1)");
}

/// What the Inspector says about a dump.
fn inspected(arguments: &[&Path]) -> Option<Value> {
    let python = support::python::with("the executorch wheel")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inspector.py");
    Some(Ran::of(Command::new(python).arg(script).args(arguments)).expect(0).json())
}

#[test]
fn executorchs_inspector_reads_names_counts_and_durations() {
    let Some(folder) = traced() else { return };
    let place = Place::cold();
    let dump = place.path().join("net.etdp");
    let model = folder.join("net.pt2");
    let call = format!("trace {} --partition portable --iters 4 --etdump {}", model.display(), dump.display());
    let trace = place.json(&call);
    let Some(inspected) = inspected(&[&dump]) else { return };
    let events = inspected["blocks"][0]["events"].as_array().unwrap();
    assert_eq!((&inspected["blocks"][0]["name"], &events[0]["name"]), (&"forward".into(), &"Method::execute".into()));
    // An event for each instruction, with the times of all four executions.
    assert_eq!(events.len(), 1 + rows(&trace).len());
    for (row, event) in rows(&trace).iter().zip(&events[1..]) {
        let name = row["operator"].as_str().unwrap().replace("aten::", "native_call_");
        assert_eq!(event["name"], name.as_str());
        let durations: Vec<f64> = event["durations"].as_array().unwrap().iter().map(number).collect();
        let sum = durations.iter().sum::<f64>() / 1e6;
        assert!(durations.len() == 4 && (sum - number(&row["milliseconds"])).abs() < 1e-6, "{row} {event}");
    }
    assert_eq!(inspected["rows"], events.len());
}

#[test]
fn executorchs_inspector_reads_the_tensors_that_pytorch_computes() {
    let Some(folder) = traced() else { return };
    let place = Place::cold();
    let (dump, buffer) = (place.path().join("net.etdp"), place.path().join("net.etdp.debug"));
    let (model, inputs) = (folder.join("net.pt2"), folder.join("inputs.safetensors"));
    place
        .run(&format!(
            "trace {} --partition cpu --inputs {} --etdump {} --intermediates",
            model.display(),
            inputs.display(),
            dump.display()
        ))
        .expect(0);
    let Some(inspected) = inspected(&[&dump, &buffer, &folder.join("values.safetensors")]) else { return };
    let events = inspected["blocks"][0]["events"].as_array().unwrap();
    assert!(events.iter().any(|event| event["name"] == "DELEGATE_CALL"), "{inspected}");
    let inside: Vec<&Value> = events.iter().filter(|event| event["delegated"] == true).collect();
    let compared: Vec<&Value> =
        inside.iter().map(|event| &event["difference"]).filter(|value| value.is_f64()).collect();
    assert!(compared.len() >= 4 && compared.iter().all(|difference| number(difference) < 1e-5), "{inspected}");
    // The activation is fused into the convolution: the tensor is that of the activation.
    let convolution =
        inside.iter().find(|event| event["name"] == "relu:Conv2d").unwrap_or_else(|| panic!("{inspected}"));
    assert_eq!(convolution["sizes"][0], serde_json::json!([1, 8, 12, 12]));
    let metadata: Value = serde_json::from_str(convolution["metadata"][0].as_str().unwrap()).unwrap();
    assert_eq!((&metadata["backend"], &metadata["operator"]), (&"cpu".into(), &"Conv2d".into()));
}

/// What the Inspector says about a dump with tensors and a record.
fn recorded(place: &Place, call: &str) -> Option<Value> {
    let [dump, buffer, record] = ["net.etdp", "net.etdp.debug", "net.etrecord"].map(|name| place.path().join(name));
    let files = format!("--etdump {} --etrecord {}", dump.display(), record.display());
    place.run(&format!("trace {call} --intermediates {files}")).expect(0);
    inspected(&[&dump, &buffer, Path::new("--etrecord"), &record])
}

/// The decibels by the last operator that is compared.
fn decibels(inspected: &Value) -> Vec<(String, f64)> {
    let of = |row: &Value| {
        (row["operators"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned(), number(&row["decibels"]))
    };
    inspected["gap"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn an_etrecord_names_operators_modules_and_lines_of_delegate_events() {
    let Some(folder) = traced() else { return };
    let place = Place::cold();
    let call = format!(
        "{} --partition cpu --inputs {}",
        folder.join("net.pt2").display(),
        folder.join("inputs.safetensors").display()
    );
    let Some(inspected) = recorded(&place, &call) else { return };
    let events = inspected["blocks"][0]["events"].as_array().unwrap();
    let event = |name: &str| events.iter().find(|event| event["name"] == name).unwrap_or_else(|| panic!("{inspected}"));
    let convolution = event("relu:Conv2d");
    assert_eq!(
        (&convolution["operators"], &convolution["modules"], &convolution["backend"]),
        (
            &serde_json::json!(["conv2d.default", "batch_norm.default", "relu.default"]),
            &serde_json::json!(["conv", "norm", ""]),
            &"cpu".into()
        )
    );
    assert!(convolution["traces"][2].as_str().unwrap().contains("traced.py\", line 25"), "{convolution}");
    assert_eq!(event("DELEGATE_CALL")["operators"].as_array().unwrap().len(), 6);
    // PyTorch computes the nodes of the record again, and the results are ours.
    let found = decibels(&inspected);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["relu", "mean", "linear", "softmax"]);
    assert!(found.iter().all(|(_, decibels)| *decibels > 100.0), "{found:?}");
}

#[test]
fn an_etrecord_compares_a_quantized_program_with_the_model() {
    let place = Place::cold();
    let data = repository().join("examples/digits");
    let cases = place.file("images.safetensors", tensors::first_cases(&data.join("test.safetensors"), 1));
    let quantize = format!("--quantize int8 --calibrate {}", data.join("calibration.safetensors").display());
    let Some(inspected) = recorded(&place, &format!("{MODEL} {quantize} --partition cpu --inputs {}", cases.display()))
    else {
        return;
    };
    let found = decibels(&inspected);
    assert!(found.len() >= 5 && found.iter().all(|(_, decibels)| (20.0..80.0).contains(decibels)), "{found:?}");
    for option in ["--cases 0", "--min-sqnr nan"] {
        let said = place.run(&format!("debug {MODEL} {option}")).expect(2).stderr;
        assert!(said.contains("is needed"), "{option}: {said}");
    }
    let program = place.path().join("digits.pte");
    place.run(&format!("compile {MODEL} --program {}", program.display())).expect(0);
    let refused = place.run(&format!("trace {} --etdump a --etrecord b", program.display())).expect(2).stderr;
    assert!(refused.contains("an ETRecord contains the graph of `torch.export`"), "{refused}");
}

/// The outcome of `etbuild debug` on the digits model.
fn debugged(place: &Place, more: &str) -> Value {
    place.json(&format!("debug {MODEL} --inputs {} {more}", images(place).display()))
}

#[test]
fn backends_agree_with_the_portable_kernels() {
    let place = Place::cold();
    let found = debugged(&place, "--partition cpu");
    assert_eq!((&found["schema"], &found["first"]), (&"etbuild.debug/1".into(), &Value::Null), "{found}");
    let values = found["values"].as_array().unwrap();
    assert!(values.len() >= 5 && values.iter().all(|value| number(&value["max_error"]) < 1e-3), "{found}");
    // The results of the portable kernels are their own.
    let same = debugged(&place, "--partition portable");
    assert!(same["values"].as_array().unwrap().iter().all(|value| value["max_error"] == 0.0), "{same}");
    assert!(same["values"].as_array().unwrap().len() >= values.len());
}

#[test]
fn a_damaged_constant_is_named_by_the_operator_that_reads_the_constant() {
    let place = Place::cold();
    let program = place.path().join("digits.pte");
    place.run(&format!("compile {MODEL} --partition portable --program {}", program.display())).expect(0);
    let sound = debugged(&place, &format!("--partition cpu --against {}", program.display()));
    assert_eq!(sound["first"], Value::Null, "{sound}");
    assert!(sound["values"].as_array().unwrap().len() >= 5, "{sound}");
    // Another model stands for the program that the model becomes for the portable kernels.
    let model = debugged(&place, &format!("--partition cpu --against {MODEL}"));
    assert_eq!((&model["first"], &model["values"]), (&Value::Null, &sound["values"]), "{model}");
    // The classifier's bias: the last elements of the only constant of ten numbers.
    let described = place.json(&format!("inspect {}", program.display()));
    let constants = described["constants"].as_array().unwrap();
    let bias = constants.iter().position(|constant| constant["size"] == 40).unwrap_or_else(|| panic!("{described}"));
    let mut bytes = fs::read(&program).unwrap();
    let start = {
        let file = et_format::ProgramFile::parse(&bytes).unwrap();
        let constant = file.constant(bias + 1, 40).unwrap();
        constant.as_ptr().addr() - bytes.as_ptr().addr()
    };
    bytes[start..start + 40].copy_from_slice(&[100.0_f32.to_le_bytes(); 10].concat());
    let damaged = place.file("damaged.pte", bytes);
    let call = format!("debug {MODEL} --inputs {} --partition cpu", images(&place).display());
    let found = place.json(&format!("{call} --against {}", damaged.display()));
    assert_eq!(found["first"]["module"], "classify", "{found}");
    let text = place.run(&format!("{call} --against {} --min-sqnr 60", damaged.display())).expect(8);
    assert!(text.stderr.contains("classify") && text.stderr.contains("ETB0702"), "{}", text.stderr);
}

#[test]
fn a_quantized_model_is_compared_with_the_model_before_quantization() {
    let place = Place::cold();
    let data = repository().join("examples/digits/calibration.safetensors");
    let model = repository().join(MODEL);
    let recipe = format!(
        "etbuild: 1\nname: q\nmodel: {{ pt2: {} }}\ntargets: [linux-x86_64]\nquantize: {{ scheme: int8, calibrate: {} }}\n",
        model.display(),
        data.display()
    );
    let recipe = place.file("q.yaml", recipe);
    let found = place.json(&format!("debug {} --partition cpu", recipe.display()));
    assert_eq!(found["reference"], "the model before quantization");
    let values = found["values"].as_array().unwrap();
    let losses: Vec<f64> = values.iter().filter_map(|value| value["sqnr"].as_f64()).collect();
    assert!(losses.len() >= 3 && losses.iter().all(|loss| (10.0..80.0).contains(loss)), "{found}");
    place.run(&format!("debug {} --min-sqnr 200", recipe.display())).expect(8);
    // The backend computes what the portable kernels compute of the same integers.
    let same = place.json(&format!("debug {} --partition cpu --against portable", recipe.display()));
    assert!(same["values"].as_array().unwrap().len() >= 3, "{same}");
    assert!(same["values"].as_array().unwrap().iter().all(|value| number(&value["max_error"]) < 0.5), "{same}");
}

#[test]
fn upstreams_program_is_compared_by_operators_and_contents() {
    let Some(folder) = traced() else { return };
    let place = Place::cold();
    let [model, inputs, upstream] = ["net.pt2", "inputs.safetensors", "upstream.pte"].map(|name| folder.join(name));
    let call = format!("debug {} --inputs {} --against {}", model.display(), inputs.display(), upstream.display());
    for partition in ["cpu", "portable"] {
        let found = place.json(&format!("{call} --partition {partition}"));
        let values = found["values"].as_array().unwrap();
        assert!(values.len() >= 4 && found["first"] == Value::Null, "{found}");
        assert!(values.iter().any(|value| value["line"].as_str().is_some_and(|line| line.starts_with("traced.py:"))));
    }
}

#[test]
fn mistakes_have_a_code_and_a_hint() {
    let place = Place::cold();
    let program = place.file("x.pte", [0, 0, 0, 0, b'E', b'T', b'1', b'2']);
    for (arguments, status) in [
        (format!("debug {}", program.display()), 2),
        (format!("debug {MODEL}"), 2),
        (format!("debug {MODEL} --method nothing"), 2),
        (format!("debug {MODEL} --inputs {MODEL}"), 3),
    ] {
        let ran = place.run(&arguments).expect(status);
        assert!(ran.stderr.contains("error[ETB"), "{arguments}: {}", ran.stderr);
    }
}
