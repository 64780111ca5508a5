//! Matches lookups in tables whose blocks have offsets: the sum of dequantized rows, `[.., blocks, group]`, and of rows of a table of
//! offsets, `[.., blocks, 1]`. The packed weights of a linear layer have both.

use std::collections::BTreeMap;

use etbuild_ir::{Argument, Links, Node};

use super::pattern::{is, read_once, value};
use super::table::Table;

/// A lookup with offsets.
pub struct Found<'g> {
    /// The table.
    pub table: Table,
    /// The sum, whose output has the numbers.
    pub sum: &'g Node,
    /// The positions of the nodes that it is computed from.
    pub replaced: [usize; 4],
}

/// Every match of a graph, by the position of the sum.
pub fn find_tables<'g>(links: &Links<'g>) -> BTreeMap<usize, Found<'g>> {
    let nodes = links.graph.nodes.iter().enumerate();
    nodes.filter_map(|(position, node)| Some((position, found(links, node)?))).collect()
}

fn found<'g>(links: &Links<'g>, sum: &'g Node) -> Option<Found<'g>> {
    let [Argument::Value(rows), Argument::Value(offsets), Argument::Int(1)] = sum.arguments[..] else { return None };
    if !is(sum, "aten.add.Tensor") {
        return None;
    }
    let node = |position: usize| links.graph.nodes.get(position);
    let views = [read_once(links, rows)?, read_once(links, offsets)?];
    let is_view = |position: &usize| node(*position).is_some_and(|node| is(node, "aten.view_copy.default"));
    let [rows_view, offsets_view] = views.iter().all(is_view).then_some(views)?;
    let [numbers, chosen] = [value(node(rows_view)?, 0)?, value(node(offsets_view)?, 0)?];
    let made = [read_once(links, numbers)?, read_once(links, chosen)?];
    let sizes = [rows, offsets].map(|id| &links.graph.spec(id).sizes[..]);
    let [[before @ .., blocks, group], [same @ .., count, 1]] = sizes else { return None };
    let table = Table::of(links, node(made[0])?).filter(|_| before == same && blocks == count)?;
    let table = table.with_offsets(links, chosen, [*blocks, *group])?;
    Some(Found { table, sum, replaced: [rows_view, offsets_view, made[0], made[1]] })
}
