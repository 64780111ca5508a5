//! The tensors of a method that need memory.

use etbuild_ir::{Graph, IdMap, ValueId, aliases, lifetimes};

use crate::Item;

/// A value with size and lifetime.
pub(crate) type Entry = (ValueId, Item);

/// The values that are no views. The lifetime of a value includes the lifetimes of views of the value.
pub(crate) fn items(graph: &Graph) -> Vec<Entry> {
    let aliases = aliases(graph);
    let mut items: IdMap<Item> = IdMap::default();
    for (id, lifetime) in lifetimes(graph).iter() {
        let root = aliases.get(id).copied().unwrap_or(id);
        let size = graph.spec(root).nbytes() as u64;
        let whole = items.get(root).map_or(*lifetime, |item| item.lifetime.union(*lifetime));
        items.insert(root, Item { size, lifetime: whole });
    }
    items.iter().map(|(id, item)| (id, *item)).collect()
}
