//! Programs with sizes that follow the inputs, state and control flow, compiled and run on this machine, and in upstream's
//! runtime. Needs `ETBUILD_TEST_PYTHON`, a Python with the executorch wheel; without it this test fails, unless
//! `ETBUILD_SKIP_PYTHON=1` skips the test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, Place, Ran, files, tensors};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// The runs in a folder, as `program.number`.
fn runs(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut runs: Vec<String> =
        files.filter_map(|file| file.strip_suffix(".inputs.safetensors").map(str::to_owned)).collect();
    runs.sort();
    runs
}

/// Runs the model of `run` and returns the file of the outputs.
fn compute(place: &Place, folder: &Path, run: &str, options: &str) -> PathBuf {
    let (program, _) = run.split_once('.').unwrap();
    let (model, inputs) = (folder.join(format!("{program}.pt2")), folder.join(format!("{run}.inputs.safetensors")));
    let outputs = place.path().join("outputs.safetensors");
    let words =
        format!("run {} --inputs {} --outputs {} {options}", model.display(), inputs.display(), outputs.display());
    place.run(&words).expect(0);
    outputs
}

#[test]
fn sizes_state_and_control_flow_are_as_in_pytorch() {
    let (Some(python), folder) = (support::python::with("the executorch wheel"), tempfile::tempdir().unwrap()) else {
        return;
    };
    Ran::of(Command::new(python).arg(script("flow.py")).arg(folder.path())).expect(0);
    let place = Place::cold();
    let runs = runs(folder.path());
    assert!(runs.len() >= 20, "{runs:?}");
    for run in &runs {
        let wanted = folder.path().join(format!("{run}.outputs.safetensors"));
        for options in ["", "--set runtime=executorch"] {
            let difference = tensors::max_difference(&compute(&place, folder.path(), run, options), &wanted);
            assert!(difference <= 1e-5, "{run} {options}: {difference}");
        }
    }
    a_size_out_of_bounds_is_refused(&place, folder.path());
}

/// `sizes` accepts 2 to 16 rows; `rows` of 9 in its third run is valid, the input of `found` is not a matrix.
fn a_size_out_of_bounds_is_refused(place: &Place, folder: &Path) {
    let (model, inputs) = (folder.join("rows.pt2"), folder.join("sizes.2.inputs.safetensors"));
    let outputs = place.path().join("none.safetensors");
    let words = format!("run {} --inputs {} --outputs {}", model.display(), inputs.display(), outputs.display());
    let ran = place.run(&words).expect(3);
    assert!(ran.stderr.contains("error[ETB0706]"), "{}", ran.stderr);
    assert!(!outputs.exists());
}

/// The only program file of a cache.
fn program_file(place: &Place) -> Vec<u8> {
    let blobs = files::tree(&place.cache()).into_values();
    let mut programs: Vec<Vec<u8>> = blobs.filter(|bytes| bytes.get(4..8) == Some(b"ET12")).collect();
    assert_eq!(programs.len(), 1);
    programs.remove(0)
}

#[test]
fn upstreams_runtime_computes_the_same() {
    let (Some(python), folder) = (support::python::with("the executorch wheel"), tempfile::tempdir().unwrap()) else {
        return;
    };
    Ran::of(Command::new(&python).arg(script("flow.py")).arg(folder.path())).expect(0);
    for run in runs(folder.path()) {
        let place = Place::cold();
        compute(&place, folder.path(), &run, "--set runtime=executorch");
        fs::write(folder.path().join(format!("{run}.pte")), program_file(&place)).unwrap();
    }
    Ran::of(Command::new(python).arg(script("flow_upstream.py")).arg(folder.path())).expect(0);
}
