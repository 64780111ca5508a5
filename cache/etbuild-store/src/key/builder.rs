//! The key of an action, and the builder with which a stage states the inputs.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Class, Component, Difference, Value, canonical};
use crate::Digest;

/// The digest of all inputs of an action: equal keys, equal results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ActionKey(pub Digest);

impl fmt::Display for ActionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// An action's key together with the components, in the order in which the stage stated the components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    action: ActionKey,
    components: Vec<Component>,
}

impl Key {
    /// The digest.
    pub fn action(&self) -> ActionKey {
        self.action
    }

    /// The components; the first is the stage.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// The first difference between this key and the components of an earlier key; `None` for equal keys.
    pub fn first_difference(&self, earlier: &[Component]) -> Option<Difference> {
        Difference::first(earlier, &self.components)
    }
}

/// Collects the inputs of a stage.
///
/// ```
/// use etbuild_store::{Digest, KeyBuilder};
///
/// let key = KeyBuilder::new("quantize", 1)
///     .input("program", Digest::of(b"..."))
///     .option("scheme", "int8")
///     .option("group_size", 32)
///     .finish();
/// assert_eq!(key.components()[3].to_string(), "option group_size = 32");
/// ```
#[derive(Clone, Debug)]
pub struct KeyBuilder {
    components: Vec<Component>,
}

impl KeyBuilder {
    /// The key of an action of `stage`, whose code has this version: a change of the stage's results needs a new version.
    pub fn new(stage: &str, code_version: impl Into<Value>) -> Self {
        Self { components: Vec::new() }.with(Class::Stage, stage, code_version)
    }

    /// The stage read an option of the recipe.
    #[must_use]
    pub fn option(self, name: &str, value: impl Into<Value>) -> Self {
        self.with(Class::Option, name, value)
    }

    /// The stage read an artifact.
    #[must_use]
    pub fn input(self, name: &str, digest: Digest) -> Self {
        self.with(Class::Input, name, digest)
    }

    /// The stage read a fact about the target.
    #[must_use]
    pub fn fact(self, name: &str, value: impl Into<Value>) -> Self {
        self.with(Class::Fact, name, value)
    }

    /// The stage runs a tool, known by digest or by the tool's stated version.
    #[must_use]
    pub fn tool(self, name: &str, identity: impl Into<Value>) -> Self {
        self.with(Class::Tool, name, identity)
    }

    /// The key of all components.
    pub fn finish(self) -> Key {
        let action = ActionKey(Digest::of(&canonical::encode(&self.components)));
        Key { action, components: self.components }
    }

    fn with(mut self, class: Class, name: &str, value: impl Into<Value>) -> Self {
        self.components.push(Component { class, name: name.to_owned(), value: value.into() });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> KeyBuilder {
        KeyBuilder::new("link", 7).option("lto", true).input("pte", Digest::of(b"pte")).fact("flash", 4096)
    }

    #[test]
    fn a_key_is_pinned() {
        let key = base().tool("cargo", "1.89.0").finish();
        assert_eq!(key.action().to_string(), "24824cda550b13bb0437e861f27556fe98f50993eb92605efd221bf06dd182d0");
    }

    #[test]
    fn every_part_of_a_component_is_in_the_key() {
        let keys = [
            base(),
            base().option("x", 1),
            base().fact("x", 1),
            base().tool("x", 1),
            base().option("y", 1),
            base().option("x", 2),
            base().option("x", "1"),
            base().option("x", vec![1]),
            base().option("x", None::<u8>),
            base().option("x", 1).option("y", 1),
            base().option("y", 1).option("x", 1),
        ];
        let keys: std::collections::BTreeSet<_> = keys.into_iter().map(|key| key.finish().action()).collect();
        assert_eq!(keys.len(), 11);
    }

    #[test]
    fn the_same_statements_make_the_same_key() {
        assert_eq!(base().finish(), base().finish());
        assert_ne!(KeyBuilder::new("link", 1).finish().action(), KeyBuilder::new("link", 2).finish().action());
        assert_ne!(KeyBuilder::new("link", 1).finish().action(), KeyBuilder::new("emit", 1).finish().action());
    }
}
