//! How two keys differ.

use std::fmt;

use super::{Class, Component, Value};

/// The first difference between a key and an earlier key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Both keys have the component, with different values.
    Changed {
        /// The class.
        class: Class,
        /// The name.
        name: String,
        /// The old value.
        before: Value,
        /// The new value.
        after: Value,
    },
    /// Only the later key has the component.
    Added(Component),
    /// Only the earlier key had the component.
    Removed(Component),
    /// Both keys have the component, in another order.
    Moved(Component),
}

impl Difference {
    pub(super) fn first(earlier: &[Component], later: &[Component]) -> Option<Self> {
        let shared = earlier.iter().zip(later).take_while(|(before, after)| before == after).count();
        match (earlier.get(shared), later.get(shared)) {
            (None, None) => None,
            (Some(before), None) => Some(Self::Removed(before.clone())),
            (None, Some(after)) => Some(Self::Added(after.clone())),
            (Some(before), Some(after)) if before.same_subject(after) => Some(Self::changed(before, after)),
            (Some(_), Some(after)) if !mentions(earlier, after) => Some(Self::Added(after.clone())),
            (Some(before), Some(_)) if !mentions(later, before) => Some(Self::Removed(before.clone())),
            (Some(_), Some(after)) => Some(Self::Moved(after.clone())),
        }
    }

    fn changed(before: &Component, after: &Component) -> Self {
        Self::Changed {
            class: after.class,
            name: after.name.clone(),
            before: before.value.clone(),
            after: after.value.clone(),
        }
    }
}

fn mentions(components: &[Component], subject: &Component) -> bool {
    components.iter().any(|component| component.same_subject(subject))
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { class, name, before, after } => write!(formatter, "{class} {name}: {before} -> {after}"),
            Self::Added(component) => write!(formatter, "{component} is new"),
            Self::Removed(component) => write!(formatter, "{component} is no longer read"),
            Self::Moved(component) => write!(formatter, "{component} is read in another order"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Key, KeyBuilder};

    fn difference(earlier: KeyBuilder, later: KeyBuilder) -> Option<String> {
        let (earlier, later): (Key, Key) = (earlier.finish(), later.finish());
        later.first_difference(earlier.components()).map(|difference| difference.to_string())
    }

    fn base() -> KeyBuilder {
        KeyBuilder::new("link", 7).option("lto", true)
    }

    #[test]
    fn equal_keys_do_not_differ() {
        assert_eq!(difference(base(), base()), None);
    }

    #[test]
    fn the_first_change_is_named() {
        let later = KeyBuilder::new("link", 7).option("lto", false).fact("flash", 2);
        assert_eq!(difference(base().fact("flash", 1), later).unwrap(), "option lto: true -> false");
        assert_eq!(difference(base(), KeyBuilder::new("link", 8)).unwrap(), "stage link: 7 -> 8");
    }

    #[test]
    fn what_only_one_key_reads_is_told_apart_from_a_change() {
        let (short, long) = (base().fact("b", 2), base().fact("a", 1).fact("b", 2));
        assert_eq!(difference(short.clone(), long.clone()).unwrap(), "fact a = 1 is new");
        assert_eq!(difference(long, short).unwrap(), "fact a = 1 is no longer read");
        assert_eq!(difference(base(), base().tool("ld", "18")).unwrap(), "tool ld = \"18\" is new");
    }

    #[test]
    fn another_order_is_a_difference() {
        let (one, other) = (base().fact("a", 1).fact("b", 2), base().fact("b", 2).fact("a", 1));
        assert_eq!(difference(one, other).unwrap(), "fact b = 2 is read in another order");
    }
}
