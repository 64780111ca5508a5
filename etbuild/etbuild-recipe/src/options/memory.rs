//! `memory:`.

use schemars::JsonSchema;
use serde::Deserialize;

/// Options of the memory plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The memory planner; `greedy` if omitted.
    #[serde(default)]
    pub planner: Planner,
}

/// A memory planner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Planner {
    /// Tensors with disjoint lifetimes share memory; the largest tensor is placed first.
    #[default]
    Greedy,
    /// Every tensor has its own memory: no reuse.
    Naive,
}
