//! `export:`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use etbuild_yaml::Spanned;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{FixedValue, OneOrMany};
use crate::FilePath;

/// How the model is turned into a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// Most tokens that a language model keeps in its cache: the prompt and the answer together. Where left out, 2048, or what the model can if that is less.
    #[serde(default)]
    pub context: Option<Spanned<u32>>,
    /// How many tokens of a prompt a language model reads at once: a number, or a list of chunk lengths, each a method that shares weights and the KV cache with the others. The longest is the method `prefill`, a shorter length such as 8 is `prefill_8`. A prompt is read in the chunks that cost least. 8, 32 and 128 where left out.
    #[serde(default)]
    pub prefill: Option<OneOrMany<u32>>,
    /// How many tokens a language model verifies at once where others are guessed (`--lookup`, `--draft-model`), as its method `verify`: from 2, such as 8, to those of `prefill`. 0 or left out: there is no such method.
    #[serde(default)]
    pub speculate: Option<Spanned<u32>>,
    /// In what a language model keeps keys and values: `float16` takes half the room and half the time to read, `int8` about a quarter. Where left out, `float16` with the schemes `8da4w` and `dynamic-int8`, which round activations, else `float32`.
    #[serde(default)]
    pub cache: Option<Spanned<Cache>>,
    /// In what a model with `float16` or `bfloat16` tensors is computed where backends are asked. Left out: `float32`. Inputs and outputs keep the model's types.
    #[serde(default)]
    pub precision: Option<Spanned<Precision>>,
    /// What the Python function is called with, by the names of its parameters: numbers, booleans, texts or lists of them.
    #[serde(default)]
    pub arguments: BTreeMap<String, Spanned<FixedValue>>,
    /// The Python interpreter that exports: a path such as `.venv/bin/python`, or a name on `PATH`. Left out: that of the active virtual environment, else `python3`.
    #[serde(default)]
    pub interpreter: Option<Spanned<String>>,
    /// Files that the Python function reads by other means than Python's own `open`, as some readers of weights do: a change of one exports again.
    #[serde(default)]
    pub files: Vec<FilePath>,
    /// Methods that return fixed values, such as `get_max_seq_len: 128`, by name: numbers, booleans, texts or lists of them.
    #[serde(default)]
    pub constants: BTreeMap<String, Spanned<FixedValue>>,
    /// Where the program's constants are; `embedded` where left out.
    #[serde(default)]
    pub weights: Option<Spanned<Weights>>,
}

/// In what keys and values are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// As they are computed.
    Float32,
    /// In half precision.
    Float16,
    /// A byte for each number, with a scale for each head of each position.
    Int8,
}

/// The type of the computation of a model in half precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// `float32`: weights are widened in the program file, inputs and outputs are converted at the edges.
    Float32,
    /// The types of the model. Nodes in half precision run on the portable kernels.
    Model,
}

/// Where the constants of a program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Weights {
    /// In the program file.
    Embedded,
    /// In a data file `<name>.ptd` beside the program file, by their names in the model, so that programs can share them. Those of an adapter are in `<name>.adapter.ptd`.
    External,
}

impl Export {
    /// The chunk lengths of a prompt where the recipe gives none, in ascending order.
    pub const PREFILL: [u32; 3] = [8, 32, 128];

    /// The chunk lengths of a prompt, in ascending order.
    pub fn prefill(&self) -> Vec<u32> {
        let written = self.prefill.as_ref().map(|lengths| lengths.0.iter().map(|length| length.value).collect());
        let mut lengths: Vec<u32> = written.unwrap_or_default();
        if lengths.is_empty() {
            lengths.extend(Self::PREFILL);
        }
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }

    /// The interpreter that is named: a path, relative to the recipe, where it has a `/`, otherwise a name.
    pub fn interpreter(&self) -> Option<PathBuf> {
        let named = self.interpreter.as_ref()?;
        let is_path = named.value.contains('/');
        Some(if is_path { FilePath::new(&named.value, named.span.clone()).path } else { PathBuf::from(&named.value) })
    }

    /// Whether half precision is computed in `float32` where backends are asked.
    pub fn widens_halves(&self) -> bool {
        self.precision.as_ref().is_none_or(|precision| precision.value == Precision::Float32)
    }

    /// Where it is written that the constants are in a file of their own, if they are.
    pub fn external_weights(&self) -> Option<&Spanned<Weights>> {
        self.weights.as_ref().filter(|weights| weights.value == Weights::External)
    }
}
