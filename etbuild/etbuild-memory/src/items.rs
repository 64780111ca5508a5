//! The tensors of a method that need memory.

use std::collections::HashSet;

use etbuild_ir::{Graph, IdMap, Node, ValueId, aliases, lifetimes};

use crate::Item;

/// A value with size and lifetime.
pub(crate) type Entry = (ValueId, Item);

/// How often each byte of a value is written and read, by an estimate: a node reads an operand once for as many elements of its output as the
/// operand has, and uses a result that no other node reads (the scratch memory of a delegate) again and again. Views count for their source.
pub(crate) fn accesses(graph: &Graph) -> IdMap<u64> {
    const SCRATCH: u64 = 8;
    let aliases = aliases(graph);
    let root = |id: ValueId| aliases.get(id).copied().unwrap_or(id);
    let mut accesses: IdMap<u64> = IdMap::default();
    let mut add = |id: ValueId, count: u64| {
        let known = accesses.get(root(id)).copied().unwrap_or(0);
        accesses.insert(root(id), known + count);
    };
    let read: HashSet<ValueId> = graph.nodes.iter().flat_map(Node::uses).chain(graph.results()).map(root).collect();
    for node in &graph.nodes {
        let made = node.outputs.iter().map(|id| graph.spec(*id).numel()).max().unwrap_or(0);
        node.uses().for_each(|id| add(id, (made as u64).div_ceil((graph.spec(id).numel() as u64).max(1)).max(1)));
        node.outputs.iter().for_each(|id| add(*id, if read.contains(&root(*id)) { 1 } else { SCRATCH }));
    }
    accesses
}

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
