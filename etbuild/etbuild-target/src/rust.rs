//! How Rust compiles for a target.

use std::borrow::Cow;
use std::fmt;

use etbuild_yaml::{Name, quote};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

/// The options of `rustc`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rust {
    /// The target triple, from `rustup target list`.
    pub triple: Name,
    /// The processor (`-C target-cpu`); default: the processor of the triple.
    #[serde(default)]
    pub cpu: Option<Name>,
    /// Processor features to enable (`+name`) or disable (`-name`), as in `-C target-feature`.
    #[serde(default)]
    pub features: Vec<Feature>,
    /// The linker.
    #[serde(default)]
    pub linker: Linker,
    /// Whether to link the C library statically, so that the binary runs on any distribution.
    #[serde(default)]
    pub crt_static: bool,
}

/// A processor feature with its sign: `+fp16` enables the feature, `-crc` disables the feature.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Feature(String);

impl Feature {
    /// The feature in `text`; `None` without a sign, or where the rest is not a [`Name`].
    pub fn new(text: &str) -> Option<Self> {
        Name::new(text.strip_prefix(['+', '-'])?)?;
        Some(Self(text.to_owned()))
    }

    /// The name of a feature that is switched on.
    pub fn enabled(&self) -> Option<&str> {
        self.0.strip_prefix('+')
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Feature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let message = || format!("{} is not a processor feature; write `+name` or `-name`", quote(&text));
        Self::new(&text).ok_or_else(|| de::Error::custom(message()))
    }
}

impl JsonSchema for Feature {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Feature".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[+-][A-Za-z0-9][A-Za-z0-9._-]{0,63}$" })
    }
}

/// A linker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Linker {
    /// The default linker of the triple.
    #[default]
    Default,
    /// The linker in the Rust toolchain, without further installation.
    RustLld,
    /// A C compiler by its name on `PATH`, such as `aarch64-linux-gnu-gcc` or the compiler of Android's NDK.
    Compiler(Name),
    /// No linker: the target has the static library of `library: true`, which the system's own tools link into apps, and no binary.
    None,
}
