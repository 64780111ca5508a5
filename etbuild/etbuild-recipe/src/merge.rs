//! Merges trees.

use std::collections::BTreeMap;

use etbuild_yaml::{Entry, Map, Node, Value};

/// Merges `over` into `base`: maps merge by key, null removes a key, other values replace.
pub fn merge(base: Node, over: Node) -> Node {
    match (base.value, over.value) {
        (Value::Map(base), Value::Map(over_map)) => {
            Node { value: Value::Map(merge_maps(base, over_map)), place: over.place }
        }
        (_, value) => Node { value, place: over.place },
    }
}

fn merge_maps(base: Map, over: Map) -> Map {
    let places = base.entries.iter().map(|entry| entry.key.text.clone()).zip(0..);
    let places: BTreeMap<String, usize> = places.collect();
    let mut entries: Vec<Option<Entry>> = base.entries.into_iter().map(Some).collect();
    for entry in over.entries {
        let below = places.get(&entry.key.text).and_then(|place| entries.get_mut(*place)?.take());
        entries.push(merge_entry(below, entry));
    }
    Map { entries: entries.into_iter().flatten().collect() }
}

fn merge_entry(base: Option<Entry>, over: Entry) -> Option<Entry> {
    match base {
        _ if over.value.value == Value::Null => None,
        Some(base) => Some(Entry { key: over.key, value: merge(base.value, over.value) }),
        None => Some(over),
    }
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
