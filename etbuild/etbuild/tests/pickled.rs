//! Checkpoints that `torch.save` wrote: logits equal those of transformers, weights lie in the mapped files, and nothing in a file is executed.
//! Needs `ETBUILD_TEST_PYTHON`, a Python with torch and transformers; without it these tests fail, unless `ETBUILD_SKIP_PYTHON=1` skips them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::logits::{self, Model};
use crate::support::{Place, Ran, files, python};

/// The folders of all models, written once; `None` without a Python.
fn models() -> Option<Vec<PathBuf>> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| python::written_by("pickled.py", "torch and transformers", &[]));
    folder.as_ref().map(python::folders)
}

#[test]
fn models_of_torch_save_give_the_logits_of_transformers() {
    let Some(models) = models() else { return };
    assert_eq!(models.len(), 6);
    logits::expect_no_mistake(models, |folder, place, partition| {
        let options = [partition, "export.context=64"];
        let mut model = Model::build(&folder.join("model"), &place.cache(), 16, &options);
        let most = logits::largest_difference(&folder.join("expected.safetensors"), &mut model);
        (most.is_nan() || most > 1e-4).then(|| most.to_string())
    });
}

/// A copy of a model.
fn copy(place: &Place, name: &str) -> Option<PathBuf> {
    let model = models()?.into_iter().find(|model| model.ends_with(name)).unwrap();
    let folder = place.path().join(name);
    files::copy(&model.join("model"), &folder);
    Some(folder)
}

/// The error of `etbuild build`.
fn refusal(place: &Place, folder: &Path) -> String {
    let ran = place.run(&format!("build {} --target linux-x86_64", folder.display()));
    assert_ne!(ran.status, 0, "{}", ran.stdout);
    ran.stderr + &ran.stdout
}

/// Runs a script that writes `folder / "pytorch_model.bin"`.
fn rewrite(folder: &Path, script: &str) {
    let Some(python) = python::with("torch") else { return };
    let script = format!("import pickle, sys, torch, zipfile\nfile = sys.argv[1] + '/pytorch_model.bin'\n{script}");
    Ran::of(Command::new(python).args(["-c", &script]).arg(folder)).expect(0);
}

#[test]
fn files_with_more_than_tensors_are_refused_and_not_executed() {
    let place = Place::cold();
    let Some(folder) = copy(&place, "tied") else { return };
    let mark = place.path().join("executed");
    let hostile = format!(
        "class Hostile:\n    def __reduce__(self): return exec, (\"open('{}', 'w')\",)\n\
         torch.save({{'lm_head.weight': Hostile()}}, file)",
        mark.display()
    );
    for (script, code, part) in [
        (hostile.as_str(), "ETB0304", "`__builtin__.exec`"),
        ("torch.save(torch.nn.Linear(2, 2), file)", "ETB0304", "`torch.nn.modules.linear.Linear`"),
        ("torch.save({'a': torch.ones(2)}, file, _use_new_zipfile_serialization=False)", "ETB0304", "no zip container"),
        ("torch.save([torch.ones(2)], file)", "ETB0302", "no dictionary"),
        ("torch.save({'a': 1}, file)", "ETB0302", "`a` is no tensor"),
    ] {
        rewrite(&folder, script);
        let said = refusal(&place, &folder);
        assert!(said.contains(code) && said.contains(part) && said.contains("pytorch_model.bin"), "{part}: {said}");
        assert!(code != "ETB0304" || said.contains("weights_only=True"), "{said}");
    }
    assert!(!mark.exists());
    // A compressed copy.
    rewrite(
        &folder,
        "torch.save({'a': torch.ones(999)}, file)\nfound = zipfile.ZipFile(file)\n\
         contents = {name: found.read(name) for name in found.namelist()}\n\
         with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED) as made:\n    \
         for name, bytes in contents.items(): made.writestr(name, bytes)",
    );
    let said = refusal(&place, &folder);
    assert!(said.contains("is compressed") && said.contains("weights_only=True"), "{said}");
}

#[test]
fn safetensors_are_read_where_both_are_there() {
    let place = Place::cold();
    let Some(folder) = copy(&place, "tied") else { return };
    fs::write(folder.join("model.safetensors"), b"").unwrap();
    let said = refusal(&place, &folder);
    assert!(said.contains("`model.safetensors`"), "{said}");
}

#[test]
fn a_missing_shard_is_named() {
    let place = Place::cold();
    let Some(folder) = copy(&place, "shards") else { return };
    fs::remove_file(folder.join("pytorch_model-00002-of-00002.bin")).unwrap();
    let said = refusal(&place, &folder);
    assert!(said.contains("ETB0306") && said.contains("pytorch_model-00002-of-00002.bin"), "{said}");
}

#[test]
fn weights_are_not_stored_a_second_time() {
    let place = Place::cold();
    let Some(folder) = copy(&place, "bfloat16") else { return };
    Model::build(&folder, &place.cache(), 16, &["partition=[portable]", "export.context=64", "quantize.scheme=8da4w"]);
    let table = 211 * 48 * 2;
    let blobs = files::tree(&place.cache().join("v1/cas")).into_values();
    assert!(blobs.into_iter().all(|blob| blob.len() != table), "the table is a blob of its own");
}
