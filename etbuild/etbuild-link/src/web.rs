//! The package for JavaScript: an ES module around the library of WebAssembly, with types, for npm.

use serde::Serialize;

use crate::digest::digest;
use crate::embedded::{WEB, embedded_file};
use crate::render::fill_in_with;
use crate::{LinkError, ProjectFacts};

/// The template of a language model's project.
const LANGUAGE: &str = "language-app";

/// The files of the package of a program: a template's name below `templates/web`, and the name in the package.
const PROGRAM_FILES: [(&str, &str); 11] = [
    ("package.json.tera", "package.json"),
    ("program/README.md.tera", "README.md"),
    ("program/index.js.tera", "index.js"),
    ("program/index.d.ts.tera", "index.d.ts"),
    ("program/program.js", "program.js"),
    ("library.js", "library.js"),
    ("gpu.js", "gpu.js"),
    ("port.js", "port.js"),
    ("threads.js", "threads.js"),
    ("thread.js", "thread.js"),
    ("wasi.js", "wasi.js"),
];

/// The files of the package of a language model.
const LANGUAGE_FILES: [(&str, &str); 14] = [
    ("package.json.tera", "package.json"),
    ("language/README.md.tera", "README.md"),
    ("language/index.js.tera", "index.js"),
    ("language/index.d.ts", "index.d.ts"),
    ("language/client.js", "client.js"),
    ("language/worker.js", "worker.js"),
    ("language/language.js", "language.js"),
    ("language/media.js", "media.js"),
    ("library.js", "library.js"),
    ("gpu.js", "gpu.js"),
    ("port.js", "port.js"),
    ("threads.js", "threads.js"),
    ("thread.js", "thread.js"),
    ("wasi.js", "wasi.js"),
];

/// The device crate of partitions on the GPU.
const GPU: &str = "et-gpu";

#[derive(Serialize)]
struct Variables<'a> {
    name: &'a str,
    stamp: &'a str,
    inputs: &'a [String],
    outputs: usize,
    /// The endings of the data files beside the program file.
    data: &'a [&'a str],
    /// Whether partitions run on the GPU, so that calls end later.
    gpu: bool,
    files: Vec<&'a str>,
}

fn files(template: &str) -> &'static [(&'static str, &'static str)] {
    if template == LANGUAGE { &LANGUAGE_FILES } else { &PROGRAM_FILES }
}

/// The names of the text files of the package of a project that a template makes, in order.
pub fn web_package_names(template: &str) -> impl Iterator<Item = &'static str> {
    files(template).iter().map(|(_, name)| *name)
}

/// The digest of the files that packages are made from, in lower-case hexadecimal.
pub fn web_package_digest() -> String {
    digest(WEB.iter().flat_map(|folder| folder.files).map(|file| (file.path, file.bytes)))
}

/// The text files of the package of a project, in the order of [`web_package_names`]; `data` are the endings of the data files
/// beside the program file.
///
/// # Errors
/// [`LinkError::Template`], which a test excludes.
pub fn web_package(facts: &ProjectFacts, data: &[&str]) -> Result<Vec<Vec<u8>>, LinkError> {
    let variables = Variables {
        name: &facts.name,
        stamp: &facts.stamp,
        inputs: &facts.method.inputs,
        outputs: facts.method.output_bytes.len(),
        data,
        gpu: facts.engines.iter().any(|engine| engine.package == GPU),
        files: web_package_names(&facts.template).collect(),
    };
    files(&facts.template).iter().map(|(template, _)| file(template, &variables)).collect()
}

fn file(template: &str, variables: &Variables<'_>) -> Result<Vec<u8>, LinkError> {
    let bytes = embedded_file(WEB, template)?;
    if template.ends_with(".tera") { fill_in_with(bytes, variables) } else { Ok(bytes.to_vec()) }
}
