//! `export:`.

use std::collections::BTreeMap;

use etbuild_yaml::Spanned;
use schemars::JsonSchema;
use serde::Deserialize;

use super::FixedValue;

/// How the model is turned into a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// Most tokens that a language model keeps in its cache: the prompt and the answer together. Where left out, 2048, or what the model can if that is less.
    #[serde(default)]
    pub context: Option<Spanned<u32>>,
    /// How many tokens of a prompt a language model reads at once, as its method `prefill`; 128 where left out.
    #[serde(default)]
    pub prefill: Option<Spanned<u32>>,
    /// Methods that return fixed values, such as `get_max_seq_len: 128`, by name: numbers, booleans, texts or lists of them.
    #[serde(default)]
    pub constants: BTreeMap<String, Spanned<FixedValue>>,
    /// Where the program's constants are; `embedded` where left out.
    #[serde(default)]
    pub weights: Option<Spanned<Weights>>,
}

/// Where the constants of a program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Weights {
    /// In the program file.
    Embedded,
    /// In a data file `<name>.ptd` beside the program file, by their names in the model, so that programs can share them.
    External,
}

impl Export {
    /// Where it is written that the constants are in a file of their own, if they are.
    pub fn external_weights(&self) -> Option<&Spanned<Weights>> {
        self.weights.as_ref().filter(|weights| weights.value == Weights::External)
    }
}
