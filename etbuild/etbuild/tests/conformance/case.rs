//! A recorded case, and its run through every stage, the program file and the runtime.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use et_format::INPUTS_KEY;
use et_module::safetensors::SafeTensors;
use et_module::{Array, DataFiles, Engines, FileBytes, Kernels, Module, Named};
use etbuild_diagnostic::Diagnostic;
use etbuild_engine::{Event, Mode, World, program_file};
use etbuild_recipe::Override;
use etbuild_system::RealSystem;
use serde_json::Value;

use crate::support::logits::{BACKENDS, ENGINES, kernel};

/// A folder with `model.pt2`, `inputs.safetensors`, `outputs.safetensors` and `case.json`.
pub struct Case {
    /// The path below the folder of all cases.
    pub id: String,
    /// The folder.
    pub folder: PathBuf,
}

impl Case {
    /// Every case in a folder of suites, in the order of their paths.
    pub fn all(root: &Path) -> Vec<Self> {
        let suites = folders(root);
        let cases = suites.iter().flat_map(|suite| folders(suite)).filter(|folder| folder.join("case.json").is_file());
        cases.map(|folder| Self { id: folder.strip_prefix(root).unwrap().display().to_string(), folder }).collect()
    }

    /// Reads a file of the case.
    pub fn read(&self, name: &str) -> Vec<u8> {
        let path = self.folder.join(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The description of the case: `outputs` with a tolerance each.
    pub fn facts(&self) -> Value {
        serde_json::from_slice(&self.read("case.json")).unwrap()
    }
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// The query engine with a separate store.
pub struct Laboratory {
    world: Arc<World>,
    options: Vec<Override>,
}

impl Laboratory {
    /// A laboratory with its store in `cache`, and these recipe options.
    pub fn new(cache: &Path, options: &[&str]) -> Self {
        let world = World::open(Arc::new(RealSystem::default()), cache, Arc::new(|_: &Event| {}), Mode::Build, 1);
        let options = options.iter().map(|text| Override::parse(text).unwrap()).collect();
        Self { world: Arc::new(world.unwrap().backends(BACKENDS)), options }
    }

    /// The outputs of a case, or the reason for missing outputs.
    pub fn run(&self, case: &Case) -> Result<Named<Array>, String> {
        let mut module = self.module(&case.folder.join("model.pt2"))?;
        let inputs = case.read("inputs.safetensors");
        let inputs = SafeTensors::parse(&inputs).map_err(|error| format!("inputs: {error}"))?;
        module.run(&inputs.tensors).map_err(|error| format!("run: {error}"))
    }

    /// The program of an archive, or the reason why there is none.
    pub fn module(&self, model: &Path) -> Result<Module, String> {
        let file = program_file(&self.world, model, &self.options);
        let file = file.map_err(|problems| said(&problems))?;
        let names = input_names(&file);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        // Delegates need aligned blobs, as in mapped files.
        let written = tempfile::NamedTempFile::new().unwrap();
        fs::write(written.path(), &*file).unwrap();
        let module = Module::load_method(
            FileBytes::open(written.path()).unwrap(),
            DataFiles::default(),
            "forward",
            Kernels::Lookup(&kernel),
            &Engines::new(ENGINES, 1),
        );
        Ok(module.map_err(|error| format!("load: {error}"))?.with_input_names(&names))
    }
}

fn said(problems: &[Diagnostic]) -> String {
    let lines: Vec<String> =
        problems.iter().map(|problem| format!("{} {}", problem.code.id(), problem.message)).collect();
    lines.join("; ")
}

fn input_names(file: &[u8]) -> Vec<String> {
    let parsed = et_format::ProgramFile::parse(file).unwrap();
    let names = parsed.named_data(&format!("{INPUTS_KEY}forward")).unwrap();
    String::from_utf8_lossy(names).lines().map(str::to_owned).collect()
}
