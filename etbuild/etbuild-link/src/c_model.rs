//! The C interface of a board's library: the header with the sizes, and a file for CMake.

use serde::Serialize;

use crate::render::fill_in_with;
use crate::symbol::symbol;
use crate::{LinkError, ProjectFacts};

const HEADER: &[u8] = include_bytes!("model.h.tera");
const CMAKE: &[u8] = include_bytes!("model.cmake.tera");

/// The text files beside a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CModel {
    /// The header.
    pub header: Vec<u8>,
    /// The file that makes the library a target of CMake.
    pub cmake: Vec<u8>,
}

#[derive(Serialize)]
struct Variables<'a> {
    name: &'a str,
    stamp: &'a str,
    triple: &'a str,
    symbol: String,
    upper: String,
    memory: u64,
    inputs: Vec<Input<'a>>,
    outputs: &'a [usize],
}

#[derive(Serialize)]
struct Input<'a> {
    name: &'a str,
    size: usize,
}

/// The interface of the library of a project for `triple`, whose model takes `memory` bytes.
///
/// # Errors
/// [`LinkError::Template`], which a test excludes.
pub fn c_model(facts: &ProjectFacts, triple: &str, memory: u64) -> Result<CModel, LinkError> {
    let symbol = symbol(&facts.name);
    let sizes = facts.method.input_bytes.iter().enumerate();
    let name = |index: usize| facts.method.inputs.get(index).map_or("", String::as_str);
    let variables = Variables {
        name: &facts.name,
        stamp: &facts.stamp,
        triple,
        upper: symbol.to_uppercase(),
        symbol,
        memory,
        inputs: sizes.map(|(index, size)| Input { name: name(index), size: *size }).collect(),
        outputs: &facts.method.output_bytes,
    };
    Ok(CModel { header: fill_in_with(HEADER, &variables)?, cmake: fill_in_with(CMAKE, &variables)? })
}
