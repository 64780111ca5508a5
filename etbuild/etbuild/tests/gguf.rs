//! Checkpoints in GGUF: logits equal those of transformers with the numbers that the file stores, in every block format and for every
//! architecture that `gguf_models.py` lists, on the portable kernels and on the CPU backend. Needs `ETBUILD_TEST_PYTHON`, a Python with
//! torch, transformers and gguf; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use etbuild_engine::Event;

use crate::support::logits::{self, Model};
use crate::support::{self, Place};

/// The tokens of a prefill chunk.
const PIECE: usize = 16;

/// The folders of all models, written once; `None` without a Python. `ETBUILD_TEST_GGUF` names a folder that has them.
fn models() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let folder = match std::env::var_os("ETBUILD_TEST_GGUF") {
        Some(folder) => PathBuf::from(folder),
        None => {
            let made = FOLDER
                .get_or_init(|| support::python::written_by("gguf_models.py", "torch, transformers and gguf", &[]));
            made.as_ref()?.path().to_owned()
        }
    };
    let mut models: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    models.sort();
    Some(models)
}

/// The largest difference of the logits from the expected logits.
fn mistake(model: &Path, place: &Place, options: &[&str]) -> f32 {
    let piece = format!("export.prefill={PIECE}");
    let options: Vec<&str> = options.iter().copied().chain(["export.context=64", &piece]).collect();
    let files = logits::files_with(&model.join("model.gguf"), &place.cache(), &options, Arc::new(|_: &Event| {}));
    logits::largest_difference(&model.join("expected.safetensors"), &mut Model::load(&files, PIECE))
}

#[test]
fn gguf_files_give_the_logits_of_their_stored_numbers() {
    let Some(models) = models() else { return };
    let place = Place::cold();
    let mut wrong = BTreeMap::new();
    for model in models {
        let name = model.file_name().unwrap().to_str().unwrap().to_owned();
        for partition in ["partition=[portable]", "partition=[cpu]"] {
            let most = mistake(&model, &place, &[partition]);
            if most.is_nan() || most > 1e-3 {
                wrong.insert(format!("{name}, {partition}"), most);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
