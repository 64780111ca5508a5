//! One tree laid over another.

use etbuild_yaml::{Entry, Map, Node, Value};

/// Lays `over` on `base`: maps merge key by key, null takes a key away, and everything else replaces.
pub fn merge(base: Node, over: Node) -> Node {
    match (base.value, over.value) {
        (Value::Map(base), Value::Map(over_map)) => {
            Node { value: Value::Map(merge_maps(base, over_map)), place: over.place }
        }
        (_, value) => Node { value, place: over.place },
    }
}

fn merge_maps(mut base: Map, over: Map) -> Map {
    for entry in over.entries {
        match (base.remove(&entry.key.text), entry.value.value == Value::Null) {
            (_, true) => {}
            (Some(below), false) => {
                let value = merge(below.value, entry.value);
                base.entries.push(Entry { key: entry.key, value });
            }
            (None, false) => base.entries.push(entry),
        }
    }
    base
}

#[cfg(test)]
mod tests {
    use super::*;
    use etbuild_yaml::{Source, parse};

    fn tree(text: &str) -> Node {
        parse(&Source::file("a", text.into())).unwrap()
    }

    /// The tree without its places.
    fn shown(node: &Node) -> String {
        match &node.value {
            Value::Map(map) => {
                let entries = map.entries.iter().map(|entry| format!("{}: {}", entry.key.text, shown(&entry.value)));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            Value::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
            value => value.to_text().unwrap_or_default(),
        }
    }

    #[test]
    fn maps_merge_deep_lists_replace_and_null_deletes() {
        let base = tree("a: { x: 1, y: 2, z: 3 }\nb: [1, 2]\nc: 3\n");
        let over = tree("a: { y: 20, z: null, w: 4 }\nb: [3]\nd: null\n");
        assert_eq!(shown(&merge(base, over)), "{c: 3, a: {x: 1, y: 20, w: 4}, b: [3]}");
    }
}
