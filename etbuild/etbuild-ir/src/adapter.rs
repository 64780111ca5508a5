//! Constants that an adapter brings: the same program runs with those of another adapter in their place.
//!
//! Nothing in a program but these constants may depend on their elements: they go by a name that does not, and neither a pass
//! nor an engine takes two of them for one because they are equal.

/// What the names of such constants begin with.
const PREFIX: &str = "adapter:";

/// The name of a constant that holds a tensor of an adapter.
pub fn adapter_name(tensor: &str) -> String {
    format!("{PREFIX}{tensor}")
}

/// Whether a constant of this name is an adapter's, as it is or in the form of an engine.
pub fn is_of_adapter(qualified_name: &str) -> bool {
    qualified_name.starts_with(PREFIX)
}
