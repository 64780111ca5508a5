//! Constants of an adapter (LoRA): the program runs with the constants of any adapter of the same shape.
//!
//! No part of a program but these constants may depend on the elements of an adapter. The names of adapter constants
//! are therefore independent of the elements, and neither passes nor backends merge equal adapter constants.

/// The prefix of names of adapter constants.
const PREFIX: &str = "adapter:";

/// The name of a constant that holds a tensor of an adapter.
pub fn adapter_name(tensor: &str) -> String {
    format!("{PREFIX}{tensor}")
}

/// Whether a constant of this name belongs to an adapter, as stored or packed for a backend.
pub fn is_of_adapter(qualified_name: &str) -> bool {
    qualified_name.starts_with(PREFIX)
}
