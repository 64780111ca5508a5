//! Models of a Python function. Needs `ETBUILD_TEST_PYTHON`, a Python with torch; without one a test fails, unless
//! `ETBUILD_SKIP_PYTHON=1` skips the test.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{self, Place, stages};

const SCRIPT: &str = "\
import torch
from layers import block
from parts import width

def make(hidden=4, bias=True):
    with open('scale.txt') as file:
        scale = float(file.read())
    model = torch.nn.Sequential(block(width, hidden, bias), torch.nn.Linear(hidden, 2))
    for parameter in model.parameters():
        parameter.data *= scale
    return model.eval(), (torch.zeros(1, width),)

def broken():
    raise ValueError('no such weights: café')

def surroundings():
    import os
    if 'ETBUILD_CANARY' in os.environ:
        raise ValueError('the canary is seen')
    return make()

def careless():
    import subprocess
    made = make()
    subprocess.run(['sh', '-c', 'echo 9.25 > scale.txt'], check=True)
    return made

def nothing():
    return 7

def program():
    return torch.export.export(torch.nn.ReLU(), (torch.zeros(3),))
";

const RECIPE: &str = "\
etbuild: 1
name: made
model: { python: \"model/make.py:make\" }
export: { interpreter: ./python }
targets: [linux-x86_64]
";

/// A project with a script, two modules, a file that the script opens, and an interpreter that logs its calls.
struct Project {
    place: Place,
    recipe: PathBuf,
}

impl Project {
    fn new() -> Option<Self> {
        let python = support::python::with("torch")?;
        let mut place = Place::cold();
        let project = Self::fill(&place, "project", &python.to_string_lossy());
        place.root = place.path().to_owned();
        Some(Self { recipe: project, place })
    }

    fn fill(place: &Place, folder: &str, python: &str) -> PathBuf {
        place.file(&format!("{folder}/model/make.py"), SCRIPT);
        place.file(&format!("{folder}/model/parts.py"), "width = 3\n");
        place.file(
            &format!("{folder}/model/layers/__init__.py"),
            "import torch\n\ndef block(a, b, bias):\n    return torch.nn.Linear(a, b, bias)\n",
        );
        place.file(&format!("{folder}/model/unused.py"), "1 / 0\n");
        place.file(&format!("{folder}/model/scale.txt"), "1.5");
        let log = place.path().join("calls");
        let shim = format!("#!/bin/sh\necho \"$*\" >> '{}'\nexec '{python}' \"$@\"\n", log.display());
        let shim = place.file(&format!("{folder}/python"), shim);
        fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
        place.file(&format!("{folder}/made.yaml"), RECIPE)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.recipe.parent().unwrap().join(name)
    }

    /// How often the interpreter was started to export.
    fn exports(&self) -> usize {
        let calls = fs::read_to_string(self.place.path().join("calls")).unwrap_or_default();
        calls.lines().filter(|line| line.contains("export.py export ")).count()
    }

    fn calls(&self) -> usize {
        fs::read_to_string(self.place.path().join("calls")).unwrap_or_default().lines().count()
    }

    /// Has the model exported and imported, for which no compiler is needed, and plans.
    fn make(&self, more: &str) -> Value {
        let words = format!("explain {} --operators {more}", self.recipe.display());
        self.place.run(&words).expect(0);
        self.plan(more)
    }

    fn plan(&self, more: &str) -> Value {
        self.place.json(&format!("plan {} {more}", self.recipe.display()))
    }
}

fn cached(plan: &Value) -> Vec<String> {
    stages(plan, "linux-x86_64", |row| row["state"] == "cached")
}

#[test]
fn an_unchanged_script_starts_no_process() {
    let Some(project) = Project::new() else { return };
    let plan = project.make("");
    assert_eq!((cached(&plan), project.exports()), (vec!["export".to_owned(), "import".to_owned()], 1));
    let calls = project.calls();
    project.make("");
    assert_eq!(project.calls(), calls);
}

#[test]
fn only_files_that_were_read_are_in_the_key() {
    let Some(project) = Project::new() else { return };
    project.make("");
    fs::write(project.file("model/unused.py"), "2 / 0\n").unwrap();
    fs::write(project.file("notes.txt"), "nobody reads this").unwrap();
    project.make("");
    assert_eq!(project.exports(), 1);
    let changes = [("model/parts.py", "width = 5\n"), ("model/scale.txt", "2.5")];
    for (count, (file, text)) in changes.iter().enumerate() {
        fs::write(project.file(file), text).unwrap();
        let plan = project.plan("");
        assert_eq!(stages(&plan, "linux-x86_64", |row| row["state"] == "missing"), ["export"], "{file}");
        let difference = support::unit(&plan, "linux-x86_64")["stages"][0]["difference"].clone();
        project.make("");
        assert_eq!(project.exports(), count + 2, "{file}: {difference}");
    }
    // The digest of the script covers comments.
    let script = fs::read_to_string(project.file("model/make.py")).unwrap();
    fs::write(project.file("model/make.py"), format!("# changed\n{script}")).unwrap();
    project.make("");
    assert_eq!(project.exports(), 4);
    // The cache keeps the previous version.
    fs::write(project.file("model/make.py"), script).unwrap();
    project.make("");
    assert_eq!(project.exports(), 4);
}

#[test]
fn arguments_are_given_and_are_in_the_key() {
    let Some(project) = Project::new() else { return };
    project.make("");
    let plan = project.plan("--set export.arguments.hidden=6");
    let row = &support::unit(&plan, "linux-x86_64")["stages"][0];
    assert_eq!((&row["stage"], &row["state"]), (&"export".into(), &"missing".into()));
    project.make("--set export.arguments.hidden=6 --set export.arguments.bias=false");
    assert_eq!(project.exports(), 2);
    let words = format!("explain {} --operators --set export.arguments.unknown=1", project.recipe.display());
    let ran = project.place.run(&words);
    assert!(ran.status == 1 && ran.stderr.contains("unexpected keyword argument 'unknown'"), "{}", ran.stderr);
}

#[test]
fn another_checkout_shares_the_export() {
    let Some(project) = Project::new() else { return };
    project.make("");
    let python = std::env::var("ETBUILD_TEST_PYTHON").unwrap();
    let other = Project::fill(&project.place, "elsewhere/deeper", &python);
    let plan = project.place.json(&format!("plan {}", other.display()));
    assert_eq!(cached(&plan), ["export", "import"]);
    assert_eq!(project.exports(), 1);
}

#[test]
fn a_failing_script_shows_its_error_and_fails_the_stage() {
    let Some(project) = Project::new() else { return };
    let fails = |function: &str, said: &str| {
        let words = format!("build {} --set model.python={}:{function}", project.recipe.display(), script(&project));
        let ran = project.place.run(&words);
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("ETB0309") && ran.stderr.contains(said), "{}", ran.stderr);
    };
    fails("broken", "ValueError: no such weights: café");
    fails("nothing", "the function returned int");
    fails("absent", "there is no function `absent`");
    fails("absent", "make.py defines the functions broken, ");
    fails("broken", "help: correct the line of the script");
    let words =
        format!("explain {} --operators --set model.python={}:program", project.recipe.display(), script(&project));
    assert!(project.place.run(&words).expect(0).stdout.contains("relu"));
}

#[test]
fn an_interpreter_that_is_missing_or_has_no_torch_is_a_missing_tool() {
    let Some(project) = Project::new() else { return };
    let ran = project.place.run(&format!("build {} --set export.interpreter=no-such-python", project.recipe.display()));
    assert!(ran.status == 1 && ran.stderr.contains("ETB0501"), "{}", ran.stderr);
    let bare = Path::new("/usr/bin/python3");
    if bare.exists() {
        let words = format!("build {} --set export.interpreter={}", project.recipe.display(), bare.display());
        let ran = project.place.run(&words);
        assert!(ran.status == 1 && ran.stderr.contains("has no torch"), "{}", ran.stderr);
    }
}

/// F09: an edit during the export fails the export, so that no wrong result is cached.
#[test]
fn a_file_that_changes_during_the_export_stops_it() {
    let Some(project) = Project::new() else { return };
    let words =
        format!("explain {} --operators --set model.python={}:careless", project.recipe.display(), script(&project));
    let ran = project.place.run(&words);
    assert!(ran.status != 0 && ran.stderr.contains("scale.txt` changed while the export read it"), "{}", ran.stderr);
    assert_eq!(project.place.json("cache stat")["records"], 0);
}

/// F39: a variable that no recipe names is not seen.
#[test]
fn the_environment_does_not_reach_the_script() {
    let Some(project) = Project::new() else { return };
    let words = format!(
        "explain {} --operators --set model.python={}:surroundings",
        project.recipe.display(),
        script(&project)
    );
    let mut command = project.place.command(words.split_whitespace());
    support::Ran::of(command.env("ETBUILD_CANARY", "1")).expect(0);
}

fn script(project: &Project) -> String {
    project.file("model/make.py").display().to_string()
}
