//! Quantized programs of PyTorch's tools, compiled and run on this machine. Needs `ETBUILD_TEST_PYTHON`, a Python with
//! the executorch wheel and torchao; without it this test fails, unless `ETBUILD_SKIP_PYTHON=1` skips the test.

use std::path::Path;
use std::process::Command;

use crate::support::{self, Place, Ran, files, tensors};

/// Writes the models into a folder; `false` without a Python.
fn models(folder: &Path) -> bool {
    let Some(python) = support::python::with("the executorch wheel and torchao") else { return false };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quantized.py");
    Ran::of(Command::new(python).arg(script).arg(folder)).expect(0);
    true
}

/// The size of the only program file in the cache, in bytes.
fn program_size(place: &Place) -> usize {
    let blobs = files::tree(&place.cache()).into_values();
    let is_program = |bytes: &Vec<u8>| bytes.get(4..8).is_some_and(|magic| magic == b"ET12");
    let programs: Vec<usize> = blobs.filter(is_program).map(|bytes| bytes.len()).collect();
    let [size] = programs[..] else { panic!("{} program files", programs.len()) };
    size
}

#[test]
fn quantized_programs_equal_pytorch_with_int8_weights() {
    let folder = tempfile::tempdir().unwrap();
    if !models(folder.path()) {
        return;
    }
    // The models have 296 and 34,816 weights, which as floats would take four times as many bytes.
    for (name, limit) in [("static", 6_500), ("dynamic", 45_000), ("groups", 48_000)] {
        let (place, path) = (Place::cold(), |suffix: &str| folder.path().join(format!("{name}.{suffix}")));
        let outputs = place.path().join("outputs.safetensors");
        let (model, inputs) = (path("pt2"), path("inputs.safetensors"));
        let files = format!("--inputs {} --outputs {}", inputs.display(), outputs.display());
        let words = format!("run {} --partition portable {files}", model.display());
        place.run(&words).expect(0);
        let difference = tensors::max_difference(&outputs, &path("outputs.safetensors"));
        assert!(difference <= 1e-5, "{name}: {difference}");
        assert!(program_size(&place) < limit, "{name}: {} bytes", program_size(&place));
    }
}
