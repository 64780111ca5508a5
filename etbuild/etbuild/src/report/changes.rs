//! In which parts two deploys differ.

use std::collections::BTreeMap;

use serde::Serialize;

use super::parts::{Part, PartKind, Sizes};

/// A part whose size changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The kind.
    pub kind: PartKind,
    /// The name.
    pub name: String,
    /// Bytes before; `None` for a new part.
    pub before: Option<u64>,
    /// Bytes now; `None` for a removed part.
    pub now: Option<u64>,
}

impl Change {
    /// How much larger the part is now.
    pub fn growth(&self) -> i64 {
        let bytes = |size: Option<u64>| size.unwrap_or(0).cast_signed();
        bytes(self.now) - bytes(self.before)
    }
}

/// The parts that differ, the greatest difference first. Where either side has no names of constants, constants count together.
pub fn changes(before: &Sizes, now: &Sizes) -> Vec<Change> {
    let named = before.named && now.named;
    let (before, now) = (by_name(before, named), by_name(now, named));
    let names = before.keys().chain(now.keys().filter(|key| !before.contains_key(*key)));
    let change = |key: &(PartKind, &str)| Change {
        kind: key.0,
        name: key.1.to_owned(),
        before: before.get(key).copied(),
        now: now.get(key).copied(),
    };
    let mut found: Vec<Change> = names.map(change).filter(|change| change.before != change.now).collect();
    found.sort_by_key(|change| std::cmp::Reverse(change.growth().unsigned_abs()));
    found
}

/// Bytes by kind and name, of a part without the parts inside; several parts of one name count together.
fn by_name(sizes: &Sizes, named: bool) -> BTreeMap<(PartKind, &str), u64> {
    let parts = || sizes.parts.iter().filter(|part| named || part.within.is_none());
    let mut inside: BTreeMap<&str, u64> = BTreeMap::new();
    for part in parts() {
        part.within.iter().for_each(|outer| *inside.entry(outer).or_insert(0) += part.size);
    }
    let mut found = BTreeMap::new();
    for Part { kind, name, size, .. } in parts() {
        let own = size.saturating_sub(inside.get(name.as_str()).copied().unwrap_or(0));
        let name = if named || *kind != PartKind::Constant { name.as_str() } else { "all constants" };
        *found.entry((*kind, name)).or_insert(0) += own;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(parts: &[(PartKind, &str, u64, Option<&str>)]) -> Sizes {
        let part = |(kind, name, size, within): &(PartKind, &str, u64, Option<&str>)| Part {
            kind: *kind,
            name: (*name).to_owned(),
            size: *size,
            within: within.map(str::to_owned),
        };
        let parts = parts.iter().map(part).collect();
        Sizes { digest: String::new(), program: 0, binary: 0, named: true, parts }
    }

    #[test]
    fn the_greatest_difference_is_first_and_equal_parts_are_left_out() {
        let before = sizes(&[(PartKind::Constant, "a", 10, None), (PartKind::Constant, "b", 5, None)]);
        let now = sizes(&[
            (PartKind::Constant, "a", 10, None),
            (PartKind::Constant, "b", 4, None),
            (PartKind::Code, "text", 90, None),
        ]);
        let found: Vec<(String, i64)> =
            changes(&before, &now).iter().map(|change| (change.name.clone(), change.growth())).collect();
        assert_eq!(found, [("text".to_owned(), 90), ("b".to_owned(), -1)]);
    }

    #[test]
    fn parts_of_a_blob_are_compared_only_if_both_deploys_list_parts() {
        let unknown = Sizes { named: false, ..sizes(&[(PartKind::Blob, "cpu", 100, None)]) };
        let known = sizes(&[(PartKind::Blob, "cpu", 60, None), (PartKind::Constant, "w", 50, Some("cpu"))]);
        assert_eq!(changes(&unknown, &known).len(), 1);
        let other = sizes(&[(PartKind::Blob, "cpu", 60, None), (PartKind::Constant, "w", 40, Some("cpu"))]);
        assert_eq!(changes(&other, &known)[0].name, "w");
    }

    #[test]
    fn constants_without_names_count_together() {
        let constants = [(PartKind::Constant, "constant 0", 4, None), (PartKind::Constant, "constant 1", 4, None)];
        let unknown = Sizes { named: false, ..sizes(&constants) };
        assert_eq!(changes(&unknown, &sizes(&[(PartKind::Constant, "w", 8, None)])), []);
        let found = changes(&unknown, &sizes(&[(PartKind::Constant, "w", 6, None)]));
        assert_eq!((found.len(), found[0].growth()), (1, -2));
    }
}
