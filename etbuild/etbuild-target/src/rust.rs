//! How Rust compiles for a target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `rustc` is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rust {
    /// The target triple, as `rustup target list` names it.
    pub triple: String,
    /// The processor (`-C target-cpu`); the triple's own where it is left out.
    #[serde(default)]
    pub cpu: Option<String>,
    /// Processor features to switch on (`+name`) or off (`-name`), as `-C target-feature` takes them.
    #[serde(default)]
    pub features: Vec<String>,
    /// The linker.
    #[serde(default)]
    pub linker: Linker,
    /// Whether the C library is linked in, so that the binary needs nothing of the system it runs on.
    #[serde(default)]
    pub crt_static: bool,
}

/// A linker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Linker {
    /// The one that the triple uses by itself.
    #[default]
    Default,
    /// The one inside the Rust toolchain; nothing else has to be installed.
    RustLld,
}
