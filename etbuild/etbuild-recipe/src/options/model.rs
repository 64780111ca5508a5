//! `model:`.

use std::borrow::Cow;

use etbuild_yaml::Spanned;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer};

use crate::FilePath;

/// Where the model comes from: exactly one of these.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// An archive written by `torch.export.save`.
    Pt2(FilePath),
    /// A folder with a Hugging Face checkpoint: `config.json` and safetensors.
    Checkpoint(FilePath),
    /// A Python function that returns the module and its example inputs, as `file.py:function`.
    Python(PythonFunction),
}

impl Model {
    /// The file or folder that the model is read from.
    pub fn path(&self) -> &FilePath {
        match self {
            Self::Pt2(path) | Self::Checkpoint(path) => path,
            Self::Python(function) => &function.file,
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
            .ok_or_else(|| de::Error::custom("a Python function is a file and a name; write `file.py:function`"))?;
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
