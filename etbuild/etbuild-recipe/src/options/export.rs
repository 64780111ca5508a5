//! `export:`.

use etbuild_yaml::Spanned;
use schemars::JsonSchema;
use serde::Deserialize;

/// How the model is turned into a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// Most tokens that a language model keeps in its cache: the prompt and the answer together.
    #[serde(default)]
    pub context: Option<Spanned<u32>>,
}
