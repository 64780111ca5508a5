//! The recipes in `recipes/`: each loads, and the schema that editors use agrees.
#![allow(clippy::disallowed_methods, reason = "tests read files")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_recipe::{RecipeFiles, load, load_from, missing_files, recipe_schema};
use etbuild_system::RealSystem;
use etbuild_yaml::{Source, parse, read, read_text};
use serde_json::Value;

/// The folder that the environment names for checkpoints that are not in the repository.
const MODELS: &str = "/models";

/// The repository's files, and the variable that recipes of large models need.
struct Repository;

impl RecipeFiles for Repository {
    fn text(&self, path: &Path) -> Result<Arc<str>, Diagnostic> {
        read_text(&RealSystem::default(), path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        (name == "MODELS").then(|| MODELS.to_owned())
    }
}

fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let recipes: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    assert!(!recipes.is_empty());
    recipes
}

fn json(text: &str) -> Value {
    read(&parse(&Source::file("r.yaml", text.into())).unwrap()).unwrap()
}

#[test]
fn every_shipped_recipe_loads_and_is_named_as_its_file() {
    for path in shipped() {
        let loaded = load_from(&Repository, &path, &[]).unwrap();
        let stem = path.file_stem().and_then(|name| name.to_str()).unwrap();
        let names: Vec<&str> = loaded.instances.iter().map(|recipe| recipe.name.as_str()).collect();
        let is_named = |name: &&str| *name == stem || name.starts_with(&format!("{stem}-"));
        assert!(names.iter().all(is_named), "{stem}: {names:?}");
    }
}

#[test]
fn a_language_model_is_one_recipe_with_a_matrix_of_group_sizes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
    for model in ["llama", "phi4-mini", "qwen3-0.6b"] {
        let loaded = load_from(&Repository, &folder.join(format!("{model}.yaml")), &[]).unwrap();
        let sizes =
            loaded.instances.iter().map(|recipe| recipe.quantize.as_ref().unwrap().group_size.as_ref().unwrap().value);
        assert_eq!(sizes.collect::<Vec<u32>>(), [32, 128]);
        let names: Vec<&str> = loaded.instances.iter().map(|recipe| recipe.name.as_str()).collect();
        assert_eq!(names, [format!("{model}-g32"), format!("{model}-g128")]);
        assert!(loaded.instances.iter().all(|recipe| recipe.targets.len() == 3));
    }
}

#[test]
fn every_file_of_a_shipped_recipe_exists() {
    let system = RealSystem::default();
    for path in shipped() {
        let loaded = load_from(&Repository, &path, &[]).unwrap();
        let ours =
            loaded.instances.iter().filter(|recipe| !recipe.files().iter().any(|file| file.path.starts_with(MODELS)));
        assert!(ours.into_iter().all(|recipe| missing_files(recipe, &system).is_empty()), "{}", path.display());
    }
}

#[test]
fn the_schema_accepts_every_shipped_recipe() {
    let validator = jsonschema::validator_for(&recipe_schema()).unwrap();
    for path in shipped() {
        let text = fs::read_to_string(&path).unwrap();
        let errors: Vec<String> = validator.iter_errors(&json(&text)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
    }
}

/// A file that extends other files may contain partial maps; the items of lists are complete, because lists replace.
#[test]
fn maps_of_an_extending_file_may_be_partial_and_list_items_may_not() {
    let validator = jsonschema::validator_for(&recipe_schema()).unwrap();
    for (part, laid_over) in [
        ("quantize: { group_size: 128 }", true),
        ("quantize: { accuracy: { metric: top1 } }", true),
        ("verify: { tolerance: 1 }", true),
        ("quantize: { layers: [{ name: a }] }", false),
        ("quantize: { size: 128 }", false),
    ] {
        assert_eq!(validator.is_valid(&json(&format!("extends: base.yaml\n{part}\n"))), laid_over, "{part}");
        let whole = format!("etbuild: 1\nname: x\nmodel: {{ pt2: m.pt2 }}\n{part}\n");
        assert!(!validator.is_valid(&json(&whole)), "{part}");
    }
}

#[test]
fn the_schema_and_the_reader_agree() {
    let base = "etbuild: 1\nname: x\nmodel: { pt2: m.pt2 }\n";
    let validator = jsonschema::validator_for(&recipe_schema()).unwrap();
    let accepted = |text: &str| {
        let system = etbuild_system::MemorySystem::with_files([("r.yaml", text)]).with_variable("N", "3");
        let read = load(&system, Path::new("r.yaml"), &[]).is_ok();
        assert_eq!(validator.is_valid(&json(text)), read, "{text}");
        read
    };
    assert!(accepted(base));
    for right in [
        "budget: { ram: 1.5 MiB, flash: 512 }",
        "export: { context: \"${env:N}\" }",
        "memory: { planner: naive }",
        "verify: { inputs: t, tolerance: 0, timeout: 5 s }",
        "vars: { a: 1 }",
        "matrix: { a: [1, b], c: true }",
        "partition: [cpu]",
        "partition: portable",
        "quantize: { scheme: int8, embedding: 8w, group_size: 32 }",
        "quantize: { scheme: int8, observer: percentile, percentile: 99.9, min_sqnr: 20 }",
        "inputs: { x: { image: {} } }",
        "inputs: { x: { image: { resize: 256, crop: [224, 192], scale: 1/127.5, mean: 1, std: [0.5, 1, 2], color: bgr } } }",
        "inputs: { x: { audio: { rate: 16000, length: 8000 } } }",
        "optimize: speed",
        "labels: classes.txt",
        "quantize: { scheme: int8-weights, layers: [{ name: 'a.*', scheme: float }, { operator: bmm, scheme: int8 }] }",
    ] {
        assert!(accepted(&format!("{base}{right}\n")), "{right}");
    }
    for wrong in [
        "colour: red",
        "budget: { rom: 1 MiB }",
        "budget: { ram: 1 mib }",
        "export: { context: many }",
        "memory: { planner: clever }",
        "inputs: { x: {} }",
        "inputs: { x: { video: {} } }",
        "inputs: { x: { image: { size: 224 } } }",
        "inputs: { x: { image: { filter: sharp } } }",
        "inputs: { x: { image: { scale: half } } }",
        "inputs: { x: { audio: {} } }",
        "optimize: energy",
        "verify: { tolerance: 1 }",
        "verify: { inputs: t, timeout: 5 }",
        "vars: { a: [1] }",
        "matrix: { a: [] }",
        "partition: { cpu: 1 }",
        "quantize: { scheme: int9 }",
        "quantize: { scheme: int8, layers: [{ name: a }] }",
    ] {
        assert!(!accepted(&format!("{base}{wrong}\n")), "{wrong}");
    }
    for wrong in ["etbuild: 1\nname: x\n", "name: x\nmodel: { pt2: m }\n", "etbuild: 1\nname: a/b\nmodel: { pt2: m }\n"]
    {
        assert!(!accepted(wrong), "{wrong}");
    }
    assert!(!accepted("etbuild: 1\nname: x\nmodel: { pt2: m, checkpoint: c }\n"));
}
