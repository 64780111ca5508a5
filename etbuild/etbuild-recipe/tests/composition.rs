//! How a recipe is put together: `extends:`, `--set`, `vars:`, `matrix:`.

use std::path::{Path, PathBuf};

use etbuild_recipe::{Loaded, Model, Override, Planner, Recipe, Scheme, load};
use etbuild_system::MemorySystem;

const RECIPE: &str = "\
etbuild: 1
name: digits
model: { pt2: ../models/digits.pt2 }
targets: [pico2, linux-x86_64]
verify: { inputs: test.safetensors, tolerance: 1e-3 }
";

fn loaded(files: &[(&str, &str)], set: &[&str]) -> Loaded {
    let system = MemorySystem::with_files(files.iter().copied()).with_variable("MODELS", "/models");
    let overrides: Vec<Override> = set.iter().map(|text| Override::parse(text).unwrap()).collect();
    load(&system, Path::new("recipes/r.yaml"), &overrides).unwrap()
}

fn recipe(text: &str, set: &[&str]) -> Recipe {
    loaded(&[("recipes/r.yaml", text)], set).instances.remove(0)
}

fn targets(recipe: &Recipe) -> Vec<&str> {
    recipe.targets.iter().map(|target| target.value.as_str()).collect()
}

fn model(recipe: &Recipe) -> &Path {
    &recipe.model.files()[0].path
}

#[test]
fn a_plain_recipe() {
    let recipe = recipe(RECIPE, &[]);
    assert_eq!(model(&recipe), Path::new("models/digits.pt2"));
    assert_eq!(targets(&recipe), ["pico2", "linux-x86_64"]);
    let verify = recipe.verify.unwrap();
    assert_eq!(
        (verify.inputs.path.as_path(), verify.tolerance().unwrap().value()),
        (Path::new("recipes/test.safetensors"), 1e-3)
    );
    assert_eq!(
        (verify.outputs.as_str(), verify.labels.as_str(), verify.timeout.0.as_secs()),
        ("output_", "labels", 60)
    );
    assert_eq!(recipe.memory.planner, Planner::Greedy);
}

#[test]
fn the_recipe_of_a_language_model() {
    let text = "\
etbuild: 1
name: llama-s25
model: { checkpoint: \"${env:MODELS}/Llama\" }
export: { context: 2048 }
quantize: { scheme: 8da4w, group_size: 32, embedding: 4w }
partition: [cpu]
targets: [galaxy-s25]
budget: { file: 700 MiB, peak_ram: 1 GiB }
";
    let recipe = recipe(text, &[]);
    assert!(matches!(&recipe.model, Model::Checkpoint(path) if path.path == Path::new("/models/Llama")));
    let quantize = recipe.quantize.unwrap();
    assert_eq!((quantize.scheme.value, quantize.group_size.unwrap().value), (Scheme::Dynamic8Weight4, 32));
    assert_eq!(recipe.budget.file.unwrap().value.0, 700 << 20);
    assert_eq!(recipe.export.context().unwrap().value, 2048);
}

#[test]
fn a_python_function() {
    let recipe = recipe(&RECIPE.replace("pt2: ../models/digits.pt2", "python: net.py:make"), &[]);
    let Model::Python(function) = recipe.model else { panic!("a function") };
    assert_eq!((function.file.path.as_path(), function.function.as_str()), (Path::new("recipes/net.py"), "make"));
}

#[test]
fn extended_files_are_laid_below_with_their_own_paths() {
    let base = "verify: { inputs: base.safetensors, timeout: 2 s }\nbudget: { ram: 1 MiB }\ntargets: [a, b, c]\n";
    let other = "budget: { ram: 2 MiB, flash: 3 MiB }\n";
    let text = "extends: [../shared/base.yaml, other.yaml]\netbuild: 1\nname: x\nmodel: { pt2: m.pt2 }\n\
                verify: { tolerance: 0.5 }\nbudget: { flash: null }\ntargets: [d]\n";
    let files = [("recipes/r.yaml", text), ("shared/base.yaml", base), ("recipes/other.yaml", other)];
    let Loaded { mut instances, files } = loaded(&files, &[]);
    let recipe = instances.remove(0);
    assert_eq!(targets(&recipe), ["d"]);
    assert_eq!((recipe.budget.ram.unwrap().value.0, recipe.budget.flash), (2 << 20, None));
    let verify = recipe.verify.unwrap();
    assert_eq!((verify.inputs.path.as_path(), verify.timeout.0.as_secs()), (Path::new("shared/base.safetensors"), 2));
    let read: Vec<PathBuf> = files.into_iter().map(|(path, _)| path).collect();
    assert_eq!(read, ["recipes/r.yaml", "shared/base.yaml", "recipes/other.yaml"].map(PathBuf::from));
}

#[test]
fn a_file_may_be_extended_by_two() {
    let (left, right) = ("extends: base.yaml\nname: left\n", "extends: base.yaml\n");
    let text = "extends: [left.yaml, right.yaml]\netbuild: 1\nmodel: { pt2: m }\n";
    let files = [
        ("recipes/r.yaml", text),
        ("recipes/left.yaml", left),
        ("recipes/right.yaml", right),
        ("recipes/base.yaml", "name: base\n"),
    ];
    let loaded = loaded(&files, &[]);
    assert_eq!(loaded.instances[0].name.as_str(), "base");
    assert_eq!(loaded.files.len(), 4);
}

#[test]
fn set_replaces_adds_and_takes_away() {
    let set = ["verify.tolerance=0.25", "targets=[mps2-an505]", "budget.ram=64 KiB", "model.pt2=m.pt2", "name=\"7\""];
    let changed = recipe(RECIPE, &set);
    assert_eq!(targets(&changed), ["mps2-an505"]);
    assert_eq!(changed.verify.as_ref().unwrap().tolerance().unwrap().value(), 0.25);
    assert_eq!(changed.budget.ram.as_ref().unwrap().value.0, 64 << 10);
    assert_eq!((model(&changed), changed.name.as_str()), (Path::new("m.pt2"), "7"));
    assert_eq!(recipe(RECIPE, &["verify=null"]).verify, None);
}

#[test]
fn variables_keep_their_type_and_reach_into_texts() {
    let text = format!(
        "{}vars: {{ size: 0x40, name: net, folder: \"${{env:MODELS}}/${{name}}\" }}\nexport: {{ context: \"${{size}}\" }}\n",
        RECIPE.replace("../models/digits.pt2", "\"${folder}/${size}-$${x}.pt2\"")
    );
    let plain = recipe(&text, &[]);
    assert_eq!(model(&plain), Path::new("/models/net/64-${x}.pt2"));
    assert_eq!(plain.export.context().unwrap().value, 64);
    assert_eq!(model(&recipe(&text, &["vars.name=other"])), Path::new("/models/other/64-${x}.pt2"));
}

#[test]
fn a_matrix_stands_for_every_combination() {
    let text = format!("{RECIPE}matrix: {{ planner: [greedy, naive], size: [1, 2] }}\n")
        + "memory: { planner: \"${planner}\" }\nexport: { context: \"${size}\" }\n";
    let instances = loaded(&[("recipes/r.yaml", &text)], &[]).instances;
    let named: Vec<&str> = instances.iter().map(|recipe| recipe.name.as_str()).collect();
    assert_eq!(named, ["digits-greedy-1", "digits-greedy-2", "digits-naive-1", "digits-naive-2"]);
    assert_eq!((instances[2].memory.planner, instances[2].export.context().unwrap().value), (Planner::Naive, 1));
}

#[test]
fn a_name_may_place_the_values_of_the_matrix_itself() {
    let text =
        format!("{}matrix: {{ size: [1, 2], kind: a b }}\n", RECIPE.replace("name: digits", "name: \"n${size}x\""));
    let instances = loaded(&[("recipes/r.yaml", &text)], &[]).instances;
    let named: Vec<&str> = instances.iter().map(|recipe| recipe.name.as_str()).collect();
    assert_eq!(named, ["n1x-a_b", "n2x-a_b"]);
}

#[test]
fn two_readings_are_equal_and_a_comment_moves_only_places() {
    assert_eq!(recipe(RECIPE, &[]), recipe(RECIPE, &[]));
    let moved = recipe(&format!("# moved\n{RECIPE}"), &[]);
    assert_eq!((moved.name, moved.memory), (recipe(RECIPE, &[]).name, recipe(RECIPE, &[]).memory));
}
