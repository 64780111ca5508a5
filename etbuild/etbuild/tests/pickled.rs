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
    for (script, code, part, hint) in [
        (hostile.as_str(), "ETB0304", "`__builtin__.exec`", "do not load the file"),
        ("torch.save([torch.ones(2)], file)", "ETB0302", "no dictionary", "model.state_dict()"),
        ("torch.save({'a': 1}, file)", "ETB0302", "`a` is no tensor", "model.state_dict()"),
        ("open(file, 'w').write('version https://git-lfs.github.com')", "ETB0302", "no zip container", "git lfs pull"),
    ] {
        rewrite(&folder, script);
        let said = refusal(&place, &folder);
        assert!(said.contains(code) && said.contains(part) && said.contains("pytorch_model.bin"), "{part}: {said}");
        assert!(said.contains(hint) && !said.contains("torch.load"), "{said}");
    }
    assert!(!mark.exists());
}

/// Ways to save the tensors `state` as `file` that are refused, and what the message says.
const REFUSED: [(&str, &str); 8] = [
    ("torch.save(state, file, _use_new_zipfile_serialization=False)", "form of an earlier version"),
    (
        "torch.save(state, file)\nfound = zipfile.ZipFile(file)\n\
         contents = {name: found.read(name) for name in found.namelist()}\n\
         with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED) as made:\n    \
         for name, bytes in contents.items(): made.writestr(name, bytes)",
        "is compressed",
    ),
    (
        "model = torch.nn.Module()\n\
         for name, tensor in state.items():\n    module, _, name = name.rpartition('.')\n    within = model\n    \
         for part in module.split('.'):\n        within._modules.setdefault(part, torch.nn.Module())\n        \
         within = within._modules[part]\n    within.register_buffer(name, tensor)\ntorch.save(model, file)",
        "`torch.nn.modules.module.Module`",
    ),
    ("torch.save({'epoch': 3, 'model': state, 'ema': {}}, file)", "`epoch` is no tensor"),
    ("torch.save({'args': types.SimpleNamespace(a=1), 'model': state}, file)", "SimpleNamespace"),
    ("torch.save({**state, 'epoch': 3, 'dtype': torch.float64}, file)", "`torch.float64`"),
    ("torch.save(state, file, pickle_protocol=1)", "the operation is not one"),
    (
        "last = list(state)[-1]\nstate[last] = torch.complex(state[last], -state[last]).conj().imag\n\
         assert state[last].is_neg()\ntorch.save(state, file)",
        "stored without the negation",
    ),
];

/// The lines of Python that a message has.
fn lines_of_python(said: &str) -> String {
    let lines = said.lines().skip_while(|line| !line.contains("import json"));
    let indent = said.lines().find_map(|line| line.find("import json")).unwrap_or_else(|| panic!("no Python: {said}"));
    let lines = lines.take_while(|line| line.len() > indent && line[..indent].trim().is_empty());
    lines.map(|line| format!("{}\n", &line[indent..])).collect()
}

/// Follows the hint of a refusal; `tensors.pt` in the folder has what `model.safetensors` must have.
fn follow(place: &Place, folder: &Path, part: &str) {
    let said = refusal(place, folder);
    assert!(said.contains(part), "{part}: {said}");
    let check = "from safetensors.torch import load_file\nmade = load_file('model.safetensors')\n\
                 state = torch.load('tensors.pt')\nassert made.keys() == state.keys(), (made.keys(), state.keys())\n\
                 assert all(torch.equal(made[name], state[name]) for name in made)";
    let Some(python) = python::with("torch") else { return };
    let script = lines_of_python(&said) + check;
    Ran::of(Command::new(python).current_dir(folder).args(["-c", &script])).expect(0);
}

#[test]
fn the_hint_of_a_refused_file_writes_the_tensors() {
    let place = Place::cold();
    let Some(folder) = copy(&place, "tied") else { return };
    let file = fs::read(folder.join("pytorch_model.bin")).unwrap();
    for (script, part) in REFUSED {
        fs::write(folder.join("pytorch_model.bin"), &file).unwrap();
        let load = "import types\nstate = torch.load(file)\ntorch.save(state, sys.argv[1] + '/tensors.pt')";
        rewrite(&folder, &format!("{load}\n{script}"));
        follow(&place, &folder, part);
        fs::remove_file(folder.join("model.safetensors")).unwrap();
    }
}

#[test]
fn the_hint_of_a_refused_shard_writes_the_tensors_of_all() {
    let place = Place::cold();
    let Some(folder) = copy(&place, "shards") else { return };
    rewrite(
        &folder,
        "state = {}\nfor part in '12':\n    file = f'{sys.argv[1]}/pytorch_model-0000{part}-of-00002.bin'\n    \
         shard = torch.load(file)\n    state |= shard\n    \
         torch.save(shard, file, _use_new_zipfile_serialization=False)\n\
         torch.save(state, sys.argv[1] + '/tensors.pt')",
    );
    follow(&place, &folder, "form of an earlier version");
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

#[test]
fn weights_under_another_name_are_named() {
    let place = Place::cold();
    let Some(folder) = copy(&place, "tied") else { return };
    fs::rename(folder.join("pytorch_model.bin"), folder.join("weights.bin")).unwrap();
    let said = refusal(&place, &folder);
    assert!(said.contains("neither `model.safetensors` nor `pytorch_model.bin`"), "{said}");
    assert!(said.contains("`weights.bin`") && said.contains("safetensors or `pytorch_model.bin`"), "{said}");
}
