//! Models with dynamic sizes compute what PyTorch computes at the lower bounds, between the bounds, and at the upper bounds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use et_core::ScalarType;
use et_module::Array;
use et_module::safetensors::{SafeTensors, write};

use crate::support::{self, Place, tensors, unit};

/// The largest difference from PyTorch of any element.
const TOLERANCE: f64 = 2e-6;

/// The tensors of a case by name.
type Case = BTreeMap<String, Array>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dynamic")
}

/// The names of the models.
fn names() -> Vec<String> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files.filter_map(|file| file.strip_suffix(".pt2").map(str::to_owned)).collect();
    names.sort();
    names
}

/// The tensors of each case, in order.
fn cases(name: &str) -> Vec<Case> {
    let bytes = fs::read(folder().join(format!("{name}.safetensors"))).unwrap();
    let file = SafeTensors::parse(&bytes).unwrap();
    let mut cases = BTreeMap::<usize, Case>::new();
    for key in file.tensors.keys() {
        let (case, tensor) = key.split_once('.').unwrap();
        let case = cases.entry(case.parse().unwrap()).or_default();
        case.insert(tensor.to_owned(), tensors::tensor(&bytes, key));
    }
    cases.into_values().collect()
}

/// Writes the tensors of a case that `is_wanted` to a file.
fn file(place: &Place, name: &str, case: &Case, is_wanted: impl Fn(&str) -> bool) -> PathBuf {
    let part = case.iter().filter(|(name, _)| is_wanted(name)).map(|(name, array)| (name.clone(), array.clone()));
    let mut bytes = Vec::new();
    write(&part.collect(), &mut bytes).unwrap();
    place.file(&format!("{name}.safetensors"), bytes)
}

fn is_output(name: &str) -> bool {
    name.starts_with("output_")
}

fn words(model: &str, inputs: &Path, outputs: &Path, options: &str) -> String {
    let model = folder().join(format!("{model}.pt2"));
    format!("run {} --inputs {} --outputs {} {options}", model.display(), inputs.display(), outputs.display())
}

#[test]
fn every_size_within_the_bounds_computes_as_pytorch() {
    let place = Place::cold();
    let mut count = 0;
    for name in names() {
        for (index, case) in cases(&name).iter().enumerate() {
            let inputs = file(&place, "inputs", case, |name| !is_output(name));
            let wanted = file(&place, "outputs", case, is_output);
            for options in ["--partition portable", "--partition auto"] {
                let got = place.path().join("got.safetensors");
                place.run(&words(&name, &inputs, &got, options)).expect(0);
                let difference = tensors::max_difference(&got, &wanted);
                assert!(difference <= TOLERANCE, "{name} case {index} {options}: {difference}");
            }
            count += 1;
        }
    }
    assert!(count >= 20, "{count}");
}

/// Runs a model on inputs that the model refuses; returns the status and what was told.
fn refused(model: &str, case: &Case) -> (i32, String) {
    let place = Place::cold();
    let (inputs, outputs) =
        (file(&place, "inputs", case, |name| !is_output(name)), place.path().join("got.safetensors"));
    let ran = place.run(&words(model, &inputs, &outputs, ""));
    assert!(!outputs.exists());
    (ran.status, ran.stderr)
}

#[test]
fn sizes_beyond_the_bounds_are_refused_with_the_bounds() {
    for shape in [[5, 3, 32, 29], [0, 3, 16, 16], [1, 3, 15, 16]] {
        let zeros = Array::zeros(ScalarType::Float, &shape);
        let (status, told) = refused("residual", &Case::from([("x".to_owned(), zeros)]));
        assert_eq!(status, 3, "{told}");
        let sizes = format!("float32{shape:?} was given, float32 from [1, 3, 16, 16] to [4, 3, 32, 29] is wanted");
        assert!(told.contains("error[ETB0706]") && told.contains(&sizes), "{told}");
    }
}

#[test]
fn sizes_that_do_not_go_together_are_an_error_of_the_operator() {
    let [mut case, other] = [1, 2].map(|index| cases("recurrent").remove(index));
    case.insert("state".to_owned(), other["state"].clone());
    let (status, told) = refused("recurrent", &case);
    assert_eq!(status, 8, "{told}");
    assert!(told.contains("error[ETB0701]") && told.contains("an argument does not fit"), "{told}");
}

#[test]
fn a_binary_takes_every_size_on_the_cpu_backend() {
    let place = Place::warm();
    for case in cases("residual") {
        let file = file(&place, "case", &case, |_| true);
        let model = folder().join("residual.pt2");
        let words = format!("deploy {} --target linux-x86_64 --set verify.inputs={}", model.display(), file.display());
        let result = place.json(&words);
        let report = unit(&result, "linux-x86_64");
        assert_eq!(report["verification"]["state"], "done", "{report}");
        let fallback = &report["fallback"];
        assert!(fallback["work"].as_f64().unwrap() < 0.05, "{report}");
        assert!(!fallback["reasons"].to_string().contains("dynamic size"), "{report}");
    }
}

const RECURRENT: &str = "\
import torch
from torch.export import Dim

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = torch.nn.LSTM(3, 4, batch_first=True), torch.nn.GRU(4, 2, batch_first=True)

    def forward(self, x):
        return self.gru(self.lstm(x)[0])

def make():
    sizes = {0: Dim('batch', max=4), 1: Dim('time', max=16)}
    return Net().eval(), (torch.zeros(2, 5, 3),), None, (sizes,)
";

const RECIPE: &str = "\
etbuild: 1
name: recurrent
model: { python: \"model.py:make\" }
targets: [linux-x86_64]
";

#[test]
fn the_export_of_a_recurrent_model_keeps_the_time_dynamic() {
    let Some(python) = support::python::with("torch") else { return };
    let place = Place::cold_with_compiled_crates();
    place.file("model.py", RECURRENT);
    let recipe = place.file("recurrent.yaml", RECIPE);
    let words = format!("build {} --set export.interpreter={}", recipe.display(), python.display());
    let result = place.json(&words);
    assert_eq!(result["ok"], true, "{result}");
    let program = place.out().join("recurrent/linux-x86_64/recurrent.pte");
    let inspected = place.run(&format!("inspect {}", program.display())).expect(0).stdout;
    assert!(inspected.contains("float32[4, 16, 3] at most"), "{inspected}");
}
