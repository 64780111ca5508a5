//! Models of many kinds, compiled and run on this machine, compute what PyTorch recorded.

use std::fs;
use std::path::PathBuf;

use crate::support::{Place, repository, tensors};

fn archives() -> PathBuf {
    repository().join("etbuild/etbuild-import/tests/data")
}

/// The names of the archives with recorded inputs and outputs.
fn names() -> Vec<String> {
    let files = fs::read_dir(archives()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    files.filter_map(|file| file.strip_suffix(".outputs.safetensors").map(str::to_owned)).collect()
}

#[test]
fn every_archive_equals_pytorch() {
    let place = Place::cold();
    assert!(names().len() >= 7);
    for name in names() {
        let path = |suffix: &str| archives().join(format!("{name}.{suffix}"));
        let outputs = place.path().join("outputs.safetensors");
        let (model, inputs) = (path("pt2"), path("inputs.safetensors"));
        let words = format!("run {} --inputs {} --outputs {}", model.display(), inputs.display(), outputs.display());
        place.run(&words).expect(0);
        let difference = tensors::max_difference(&outputs, &path("outputs.safetensors"));
        assert!(difference <= 1e-4, "{name}: {difference}");
    }
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let place = Place::cold();
    let (model, inputs) = (archives().join("attention.pt2"), archives().join("images.inputs.safetensors"));
    let outputs = place.path().join("outputs.safetensors");
    let words = format!("run {} --inputs {} --outputs {}", model.display(), inputs.display(), outputs.display());
    let ran = place.run(&words).expect(3);
    assert!(ran.stderr.contains("error[ETB0706]"), "{}", ran.stderr);
    assert!(!outputs.exists());
}
