//! `model:`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use etbuild_diagnostic::Span;
use etbuild_yaml::Spanned;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer};

use crate::FilePath;

/// The source of the model: exactly one of the following keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// An archive written by `torch.export.save`: the method `forward`.
    Pt2(FilePath),
    /// An archive per method of the program, by method name. Equal constants are stored once, and methods share state
    /// by name.
    Methods(Spanned<BTreeMap<String, FilePath>>),
    /// A Hugging Face checkpoint of a language model, a folder with `config.json` and safetensors or `pytorch_model.bin`, or a GGUF file; `hf:OWNER/NAME[/FILE][@REVISION]` downloads it from the Hugging Face Hub. The methods `prefill`, `decode` and, with `export.speculate`, `verify`.
    Checkpoint(FilePath),
    /// A Python function that returns the module and its example inputs, as `file.py:function`.
    Python(PythonFunction),
}

impl Model {
    /// The default method name.
    pub const METHOD: &str = "forward";

    /// Every file or folder that the model is read from.
    pub fn files(&self) -> Vec<&FilePath> {
        match self {
            Self::Pt2(path) | Self::Checkpoint(path) => vec![path],
            Self::Methods(methods) => methods.value.values().collect(),
            Self::Python(function) => vec![&function.file],
        }
    }

    /// The archive of each method by name; empty for a model that is not read from archives.
    pub fn archives(&self) -> BTreeMap<&str, &FilePath> {
        match self {
            Self::Pt2(path) => BTreeMap::from([(Self::METHOD, path)]),
            Self::Methods(methods) => methods.value.iter().map(|(name, path)| (name.as_str(), path)).collect(),
            Self::Checkpoint(_) | Self::Python(_) => BTreeMap::new(),
        }
    }

    /// The span of the model.
    pub fn span(&self) -> &Span {
        match self {
            Self::Pt2(path) | Self::Checkpoint(path) => &path.span,
            Self::Methods(methods) => &methods.span,
            Self::Python(function) => &function.file.span,
        }
    }
}

/// A function in a Python file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PythonFunction {
    /// The file.
    pub file: FilePath,
    /// The function's name.
    pub function: String,
}

impl<'de> Deserialize<'de> for PythonFunction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Spanned::<String>::deserialize(deserializer)?;
        let (file, function) = written
            .value
            .rsplit_once(':')
            .filter(|(file, function)| is_function(file, function))
            .ok_or_else(|| de::Error::custom("expected a file and a function name; write `file.py:function`"))?;
        Ok(Self { file: FilePath::new(file, written.span), function: function.to_owned() })
    }
}

fn is_function(file: &str, function: &str) -> bool {
    let starts = function.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
    !file.is_empty() && starts && function.chars().all(|character| character.is_alphanumeric() || character == '_')
}

impl JsonSchema for PythonFunction {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PythonFunction".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(.+:[^:]+|.*\\$\\{.*\\}.*)$" })
    }
}
