//! `memory:`.

use schemars::JsonSchema;
use serde::Deserialize;

/// Where the tensors of a running program lie.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The memory planner; `greedy` where left out.
    #[serde(default)]
    pub planner: Planner,
}

/// A memory planner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Planner {
    /// Tensors that do not live at the same time share bytes, the largest placed first.
    #[default]
    Greedy,
    /// Every tensor has bytes of its own.
    Naive,
}
