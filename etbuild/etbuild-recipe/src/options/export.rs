//! `export:`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use etbuild_yaml::{ByteSize, Spanned};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{FixedValue, OneOrMany};
use crate::FilePath;

/// Options of the export and of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// The context length of a language model: the capacity of its KV cache in tokens, for prompt and answer together. A list such as `[256, 1024, 4096]` ends with this length, and the backend `qnn` makes a graph for each length, of which a call executes the smallest that holds its position. Default: 2048, or the model's maximum if smaller.
    #[serde(default)]
    pub context: Option<OneOrMany<u32>>,
    /// The most bytes of weights in a context binary of the backend `qnn`, such as `256 MiB`: larger programs become several context binaries, split between layers. Default: 1536 MiB on a device, 256 MiB on the simulator.
    #[serde(default)]
    pub npu_context: Option<Spanned<ByteSize>>,
    /// The lengths of prefill chunks of a language model: a number or a list, each a method with shared weights and KV cache. The longest is the method `prefill`, a shorter length such as 8 is `prefill_8`. A prompt is read in the cheapest combination of chunks. Default: 8, 16, 32 and 128.
    #[serde(default)]
    pub prefill: Option<OneOrMany<u32>>,
    /// The number of tokens that the method `verify` checks in one forward pass, for speculative decoding (`--lookup`, `--draft-model`): from 2, such as 8, to the longest prefill chunk. With 0 or if omitted, the program has no such method.
    #[serde(default)]
    pub speculate: Option<Spanned<u32>>,
    /// The number of texts that a server continues in one forward pass, by a method such as `decode_8`: 2 to 64, or 0 for no such method. Default: 8 with `server: true`, else 0. A scheme that quantizes all tokens with one scale (`dynamic-int8`), or whose ranges come from calibration, has no such method.
    #[serde(default)]
    pub batch: Option<Spanned<u32>>,
    /// The most image tokens of a picture, for a model that reads pictures of any size, such as Qwen2.5-VL: larger pictures are scaled down. Memory for this many is planned. Default: 1280, or half of `context` if smaller.
    #[serde(default)]
    pub image_tokens: Option<Spanned<u32>>,
    /// Whether a model for transcripts, such as Whisper, has the method `align`, which the times of words need (`--timestamps word`). Default: `false`.
    #[serde(default)]
    pub word_timestamps: Option<Spanned<bool>>,
    /// The element type of the KV cache. `float16` halves memory and bandwidth, `int8` takes about a quarter. Default:
    /// `float16` with the schemes `stored`, `8da4w` and `dynamic-int8`, which quantize activations, else `float32`.
    #[serde(default)]
    pub cache: Option<Spanned<Cache>>,
    /// The type of the computation of a model with `float16` or `bfloat16` tensors on backends; `float32` if omitted. Inputs and outputs keep the model's types.
    #[serde(default)]
    pub precision: Option<Spanned<Precision>>,
    /// The seed of the program's random operators, such as `torch.rand` and dropout in training mode. Nodes and executions draw different numbers, the same in each build and on each target. 0 if omitted.
    #[serde(default)]
    pub seed: Option<Spanned<u64>>,
    /// The arguments of the Python function, by parameter name: numbers, booleans, texts, or lists of these types.
    #[serde(default)]
    pub arguments: BTreeMap<String, Spanned<FixedValue>>,
    /// The Python interpreter for the export: a path such as `.venv/bin/python`, or a name on `PATH`. Default: the
    /// interpreter of the active virtual environment, else `python3`.
    #[serde(default)]
    pub interpreter: Option<Spanned<String>>,
    /// Files that the Python function reads without Python's `open`, for example through a native weight loader: a
    /// change of such a file repeats the export.
    #[serde(default)]
    pub files: Vec<FilePath>,
    /// Methods that return constants, by name, such as `get_max_seq_len: 128`: numbers, booleans, texts, or lists of
    /// these types.
    #[serde(default)]
    pub constants: BTreeMap<String, Spanned<FixedValue>>,
    /// The location of the weights; `embedded` if omitted.
    #[serde(default)]
    pub weights: Option<Spanned<Weights>>,
}

/// The element type of the KV cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// The type of the computation.
    Float32,
    /// Half precision.
    Float16,
    /// int8 with a scale per head and position.
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

/// The location of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Weights {
    /// In the program file.
    Embedded,
    /// In a data file `<name>.ptd` beside the program file, by name in the model, so that programs can share weights.
    /// The weights of an adapter are in `<name>.adapter.ptd`.
    External,
}

impl Export {
    /// The default lengths of prefill chunks, in ascending order.
    pub const PREFILL: [u32; 4] = [8, 16, 32, 128];

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

    /// The context length, with its place.
    pub fn context(&self) -> Option<&Spanned<u32>> {
        self.context.as_ref()?.0.last()
    }

    /// The context lengths below the context length, for which static graphs are made, in ascending order.
    pub fn shorter_contexts(&self) -> Vec<u32> {
        let lengths = self.context.iter().filter_map(|lengths| lengths.0.split_last());
        lengths.flat_map(|(_, shorter)| shorter).map(|length| length.value).collect()
    }

    /// The interpreter: a path relative to the recipe if the text contains `/`, otherwise a name.
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
