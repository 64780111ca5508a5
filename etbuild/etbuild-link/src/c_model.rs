//! The library of a board: the header with the sizes, a file for CMake, and a package for Rust, Zephyr and Arduino.

use serde::Serialize;

use crate::digest::digest;
use crate::embedded::{LIBRARY, embedded_file};
use crate::render::fill_in_with;
use crate::symbol::symbol;
use crate::{CompileTarget, LinkError, ProjectFacts};

/// The text files of the package: a template's name below `templates/library`, and the name in the package, where `NAME` stands for the
/// name of the model as an identifier.
const PACKAGE: [(&str, &str); 9] = [
    ("README.md.tera", "README.md"),
    ("rust/Cargo.toml.tera", "Cargo.toml"),
    ("rust/build.rs.tera", "build.rs"),
    ("rust/lib.rs.tera", "src/lib.rs"),
    ("zephyr/module.yml.tera", "zephyr/module.yml"),
    ("zephyr/CMakeLists.txt.tera", "zephyr/CMakeLists.txt"),
    ("zephyr/Kconfig.tera", "zephyr/Kconfig"),
    ("arduino/library.properties.tera", "library.properties"),
    ("arduino/sketch.ino.tera", "examples/NAME/NAME.ino"),
];

/// The text files beside a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CModel {
    /// The header.
    pub header: Vec<u8>,
    /// The file that makes the library a target of CMake.
    pub cmake: Vec<u8>,
    /// The text files of the package, in the order of [`c_package_names`].
    pub package: Vec<Vec<u8>>,
}

#[derive(Serialize)]
struct Variables<'a> {
    name: &'a str,
    stamp: &'a str,
    triple: &'a str,
    processor: &'a str,
    float_abi: &'a str,
    symbol: String,
    upper: String,
    memory: u64,
    stack: Option<u32>,
    inputs: Vec<Input<'a>>,
    outputs: &'a [usize],
}

#[derive(Serialize)]
struct Input<'a> {
    name: &'a str,
    size: usize,
}

/// The interface of the library of a project for `target`, whose model takes `memory` bytes, and whose calls take `stack` bytes, where a bound is known.
///
/// # Errors
/// [`LinkError::Template`], which a test excludes.
pub fn c_model(
    facts: &ProjectFacts,
    target: &CompileTarget,
    memory: u64,
    stack: Option<u32>,
) -> Result<CModel, LinkError> {
    let symbol = symbol(&facts.name);
    let sizes = facts.method.input_bytes.iter().enumerate();
    let name = |index: usize| facts.method.inputs.get(index).map_or("", String::as_str);
    let variables = Variables {
        name: &facts.name,
        stamp: &facts.stamp,
        triple: &target.triple,
        processor: processor_folder(target),
        float_abi: float_abi(&target.triple),
        upper: symbol.to_uppercase(),
        symbol,
        memory,
        stack,
        inputs: sizes.map(|(index, size)| Input { name: name(index), size: *size }).collect(),
        outputs: &facts.method.output_bytes,
    };
    let file = |template: &str| fill_in_with(embedded_file(LIBRARY, template)?, &variables);
    Ok(CModel {
        header: file("model.h.tera")?,
        cmake: file("model.cmake.tera")?,
        package: PACKAGE.iter().map(|(template, _)| file(template)).collect::<Result<_, _>>()?,
    })
}

/// The names of the text files of the package of the model `name`, in order.
pub fn c_package_names(name: &str) -> impl Iterator<Item = String> {
    let symbol = symbol(name);
    PACKAGE.iter().map(move |(_, name)| name.replace("NAME", &symbol))
}

/// The names of the header and of the library in the package of the model `name`.
pub fn c_package_binaries(name: &str, target: &CompileTarget) -> [String; 2] {
    [format!("src/{name}.h"), format!("src/{}/lib{name}.a", processor_folder(target))]
}

/// The digest of the files that packages are made from, in lower-case hexadecimal.
pub fn c_package_digest() -> String {
    digest(LIBRARY.iter().flat_map(|folder| folder.files).map(|file| (file.path, file.bytes)))
}

/// The folder that Arduino looks for a library of a processor in: the processor's name, as GCC knows the processor.
fn processor_folder(target: &CompileTarget) -> &str {
    let architecture = || target.triple.split('-').next().unwrap_or_default();
    target.cpu.as_deref().unwrap_or_else(architecture)
}

/// How functions take floating-point numbers, as far as a system could have it otherwise: `hard`, `soft`, or empty.
fn float_abi(triple: &str) -> &'static str {
    match triple {
        _ if triple.ends_with("eabihf") => "hard",
        _ if triple.ends_with("eabi") && triple.starts_with("thumb") => "soft",
        _ => "",
    }
}
