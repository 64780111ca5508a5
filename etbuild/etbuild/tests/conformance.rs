//! Single operators and layers, compiled and run in this process, compute PyTorch's outputs, with portable kernels and
//! with the backends `cpu` and `gpu`.
//!
//! `conformance/make_cases.py` writes the cases with the Python of `ETBUILD_TEST_PYTHON`; without one the test fails,
//! unless `ETBUILD_SKIP_PYTHON=1` skips the test. `ETBUILD_CASES` names a folder with other cases in the same layout,
//!  for example upstream's suite; `ETBUILD_CASES_OUT` names a folder for the outputs of each form and the reasons for
//! missing outputs; `ETBUILD_CASES_FORMS` names the forms, such as `kernels,cpu`.

pub mod case;
mod compare;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use case::{Case, Laboratory};

use crate::support::{self, Ran};

/// The forms of a program, with the recipe options of each.
const FORMS: &[(&str, &[&str])] = &[
    ("kernels", &["partition=[portable]"]),
    ("cpu", &["partition=[cpu]"]),
    #[cfg(feature = "gpu")]
    ("gpu", &["partition=[gpu]"]),
];

#[test]
fn every_case_equals_pytorch() {
    let folder = tempfile::tempdir().unwrap();
    let Some(root) = cases(folder.path()) else { return };
    let found = Case::all(&root);
    assert!(found.len() >= 100, "{} has {} cases", root.display(), found.len());
    let mut lines = Vec::new();
    for &(name, options) in FORMS.iter().filter(|(name, _)| is_wanted(name)) {
        let failures = run_all(&found, (name, options), folder.path());
        write_reasons(name, &failures);
        lines.extend(failures.iter().map(|(id, reason)| format!("{name}: {id}: {reason}")));
    }
    assert!(lines.is_empty(), "{} failures of {} cases:\n{}", lines.len(), found.len(), lines.join("\n"));
}

/// Whether the cases run in the form: in all forms, unless a variable names some.
fn is_wanted(form: &str) -> bool {
    std::env::var("ETBUILD_CASES_FORMS").map_or(true, |forms| forms.split(',').any(|wanted| wanted == form))
}

/// The folder of cases: the folder of `ETBUILD_CASES`, or fresh cases in `folder`.
fn cases(folder: &Path) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("ETBUILD_CASES") {
        return Some(named.into());
    }
    let python = support::python::with("torch, torchvision and safetensors")?;
    let root = folder.join("cases");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/make_cases.py");
    Ran::of(Command::new(python).arg(script).arg(&root).env("OMP_NUM_THREADS", "1")).expect(0);
    Some(root)
}

/// Runs the cases on all processors; why each failed that did.
fn run_all(cases: &[Case], (name, options): (&str, &[&str]), folder: &Path) -> BTreeMap<String, String> {
    let laboratory = Laboratory::new(&folder.join("cache"), options);
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(reason) = judge(name, &laboratory, case) {
                failures.lock().unwrap().insert(case.id.clone(), reason);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    failures.into_inner().unwrap()
}

fn judge(name: &str, laboratory: &Laboratory, case: &Case) -> Result<(), String> {
    let outputs = laboratory.run(case)?;
    if let Some(folder) = std::env::var_os("ETBUILD_CASES_OUT") {
        let file = Path::new(&folder).join(name).join(format!("{}.safetensors", case.id));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let mut bytes = Vec::new();
        et_module::safetensors::write(&outputs, &mut bytes).unwrap();
        fs::write(file, bytes).unwrap();
    }
    compare::outputs(case, &outputs)
}

fn write_reasons(name: &str, failures: &BTreeMap<String, String>) {
    if let Some(folder) = std::env::var_os("ETBUILD_CASES_OUT") {
        let folder = Path::new(&folder).join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("reasons.json"), serde_json::to_vec_pretty(failures).unwrap()).unwrap();
    }
}
