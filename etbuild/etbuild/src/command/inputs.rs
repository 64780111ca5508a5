//! The inputs of `etbuild run`: tensors, scalars, and the order of their names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use et_module::Constant;
use et_module::safetensors::{self, SafeTensors};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_system::System;
use serde_json::Value;

use crate::arguments;

/// The files that inputs are read from.
pub struct Inputs {
    tensors: Vec<u8>,
    /// Where the tensors came from, for messages.
    path: PathBuf,
    /// Inputs that are not tensors, by name.
    pub scalars: BTreeMap<String, Constant>,
    /// The names in the method's order, where a file says.
    order: Option<Vec<String>>,
}

impl Inputs {
    /// Reads the files that the arguments name, and the files beside the model.
    pub fn read(system: &dyn System, arguments: &arguments::Run) -> Result<Self, Vec<Diagnostic>> {
        let path = arguments.inputs.clone().unwrap_or_default();
        let tensors = match &arguments.inputs {
            Some(file) => system.read(file).map_err(|error| vec![unreadable(file, &error)])?.to_vec(),
            None => no_tensors(),
        };
        let scalars = match &arguments.scalars {
            Some(file) => {
                Some((file.clone(), system.read(file).map_err(|error| vec![unreadable(file, &error)])?.to_vec()))
            }
            None => beside(system, arguments, "inputs.json"),
        };
        let scalars = scalars.map(|(file, text)| read_scalars(&file, &text)).transpose()?.unwrap_or_default();
        let order = if arguments.input_names.is_empty() {
            beside(system, arguments, "case.json").and_then(|(_, text)| read_order(&text))
        } else {
            Some(arguments.input_names.clone())
        };
        Ok(Self { tensors, path, scalars, order })
    }

    /// The tensors.
    pub fn tensors(&self) -> Result<SafeTensors<'_>, Vec<Diagnostic>> {
        SafeTensors::parse(&self.tensors).map_err(|error| vec![malformed(&self.path, &error)])
    }

    /// The names in the method's order, where a file says; otherwise all in the order of the alphabet, without
    /// reference outputs and labels.
    pub fn names(&self, tensors: &SafeTensors<'_>) -> Vec<String> {
        if let Some(order) = &self.order {
            return order.clone();
        }
        let is_input = |name: &&String| !name.starts_with("output_") && *name != "labels";
        let mut names: Vec<String> =
            tensors.tensors.keys().filter(is_input).chain(self.scalars.keys()).cloned().collect();
        names.sort();
        names
    }
}

/// An empty file of tensors.
fn no_tensors() -> Vec<u8> {
    [&2_u64.to_le_bytes()[..], b"{}"].concat()
}

/// A file of this name in the folder of the inputs.
fn beside(system: &dyn System, arguments: &arguments::Run, name: &str) -> Option<(PathBuf, Vec<u8>)> {
    let file = arguments.inputs.as_ref()?.with_file_name(name);
    let text = system.read(&file).ok()?.to_vec();
    Some((file, text))
}

fn read_scalars(file: &Path, text: &[u8]) -> Result<BTreeMap<String, Constant>, Vec<Diagnostic>> {
    let wrong =
        |problem: String| vec![Diagnostic::error(Code::InputsMismatch, format!("`{}`: {problem}", file.display()))];
    let entries: serde_json::Map<String, Value> =
        serde_json::from_slice(text).map_err(|error| wrong(error.to_string()))?;
    let scalars = entries.into_iter().map(|(name, value)| match scalar(&value) {
        Some(scalar) => Ok((name, scalar)),
        None => Err(wrong(format!("`{name}` must be a number, a text, a boolean or null"))),
    });
    scalars.collect()
}

fn scalar(value: &Value) -> Option<Constant> {
    match value {
        Value::Null => Some(Constant::None),
        Value::Bool(value) => Some(Constant::Bool(*value)),
        Value::Number(number) => number.as_i64().map(Constant::Int).or_else(|| number.as_f64().map(Constant::Double)),
        Value::String(text) => Some(Constant::Text(text.clone())),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// The names of a conformance case's inputs.
fn read_order(text: &[u8]) -> Option<Vec<String>> {
    let case: Value = serde_json::from_slice(text).ok()?;
    let inputs = case.get("inputs")?.as_array()?;
    inputs.iter().map(|input| Some(input.get("name")?.as_str()?.to_owned())).collect()
}

fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(Code::FileUnreadable, format!("`{}` cannot be read: {error}", path.display()))
}

fn malformed(path: &Path, error: &safetensors::Error) -> Diagnostic {
    Diagnostic::error(Code::InputsMismatch, format!("`{}` is not safetensors: {error}", path.display()))
}
