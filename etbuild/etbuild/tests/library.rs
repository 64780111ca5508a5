//! C libraries: the programs in `examples/c` are compiled with the libraries and print the binary's results.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use et_module::safetensors::SafeTensors;

use crate::support::{self, Place, Ran, repository};

const TARGET: &str = "linux-x86_64";

/// Deploys a recipe with a library, and compiles a C program with the library; returns the folder of the results.
fn compiled(place: &Place, recipe: &str, source: &Path) -> (PathBuf, Command) {
    place.json(&format!("deploy recipes/{recipe}.yaml --target {TARGET} --set library=true"));
    let folder = place.out().join(recipe).join(TARGET);
    let program = place.path().join("program");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"]).arg(&folder);
    compiler.arg(repository().join(source)).arg("-o").arg(&program);
    compiler.arg(folder.join(format!("lib{recipe}.a"))).args(["-lm", "-lpthread", "-ldl"]);
    Ran::of(&mut compiler).expect(0);
    (folder, Command::new(program))
}

/// The output of the program for an image.
fn said(place: &Place, program: &Command, model: &Path, image: &[u8]) -> Ran {
    let image = place.file("image", image);
    let mut command = Command::new(program.get_program());
    Ran::of(command.arg(model).stdin(fs::File::open(image).unwrap()))
}

#[test]
fn a_program_in_c_equals_its_binary() {
    let place = Place::cold_with_compiled_crates();
    let (folder, program) = compiled(&place, "digits", "examples/c/classify.c".as_ref());
    let bytes = fs::read(repository().join("examples/digits/test.safetensors")).unwrap();
    let file = SafeTensors::parse(&bytes).unwrap();
    let images = file.tensors["x"].bytes.chunks(4 * 64);
    let wanted = support::tensors::predictions(&repository().join("examples/digits/test.safetensors"));
    for (image, digit) in images.zip(wanted).take(20) {
        let ran = said(&place, &program, &folder.join("digits.pte"), image).expect(0);
        assert_eq!(ran.stdout.trim(), digit.to_string());
    }
    let short = said(&place, &program, &folder.join("digits.pte"), &[0; 12]).expect(8);
    assert!(short.stderr.contains("does not take 12 bytes"), "{}", short.stderr);
    let missing = said(&place, &program, &folder.join("nothing.pte"), &[]).expect(8);
    assert!(missing.stderr.contains("nothing.pte"), "{}", missing.stderr);
    let other = said(&place, &program, &folder.join("libdigits.a"), &[]).expect(8);
    assert!(!other.stderr.trim().is_empty());
}

#[test]
fn a_language_model_in_c_equals_its_binary() {
    let place = Place::cold_with_compiled_crates();
    let (folder, program) = compiled(&place, "tiny-llama", "examples/c/tell.c".as_ref());
    let prompt = "Once there was a fox";
    let mut tell = Command::new(program.get_program());
    let told = Ran::of(tell.arg(folder.join("tiny-llama.pte")).arg(prompt)).expect(0);
    let mut binary = Command::new(folder.join("tiny-llama"));
    let wanted = Ran::of(binary.args(["--prompt", prompt, "--max-new-tokens", "64"])).expect(0);
    assert_eq!(told.stdout, wanted.stdout);
    assert!(told.stderr.ends_with(" tokens\n") && told.stdout.len() > 20, "{}", told.stderr);
}

#[test]
fn a_token_function_that_calls_the_model_is_refused_and_changes_nothing() {
    let place = Place::cold_with_compiled_crates();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reenter.c");
    let (folder, program) = compiled(&place, "tiny-llama", &source);
    let model = folder.join("tiny-llama.pte");
    let told = |how: &str| Ran::of(Command::new(program.get_program()).arg(&model).arg(how)).expect(0).stdout;
    assert_eq!(told("enter"), told("leave"));
}

#[test]
fn a_board_links_no_library() {
    let place = Place::cold();
    let refused = place.run("deploy recipes/digits.yaml --set library=true").expect(4);
    assert!(refused.stderr.contains("ETB0207") && refused.stderr.contains("firmware"), "{}", refused.stderr);
    place.run("plan recipes/digits.yaml --target linux-x86_64 --set library=true").expect(0);
}
