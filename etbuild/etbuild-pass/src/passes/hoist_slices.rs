//! Moves slices above the producer of a tensor, so that only the slice is computed. An encoder whose first token is
//! classified ends with GEMMs of a single row.
//!
//! A `slice` or `select` moves above calls that compute each position of a dimension from the same position of their
//! operands ([`rule`]), if all readers of the result read the same slice. A slice above views alone saves no
//! arithmetic and stays. The arithmetic of the remaining elements does not change. Linear in the size of the graph.

mod rule;

use std::collections::BTreeMap;

use etbuild_ir::{Argument, Graph, IdMap, Node, OperatorName, ValueId, ValueKind};

use crate::Refusal;
use crate::edit::{normal_dim, wide};
use crate::pass::Pass;
use rule::{Operand, rule};

/// The pass.
pub static PASS: Pass = Pass {
    name: "hoist_slices",
    purpose: "Moves slices above the producer of a tensor, so that only the slice is computed.",
    run,
};

/// Positions `start..start + length` of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slice {
    dim: usize,
    start: i64,
    length: i32,
}

/// A call that could compute a slice of the result.
struct Narrowing {
    part: Slice,
    /// Whether the call moves elements without arithmetic.
    is_view: bool,
    /// The slices of the operands for the slice of the result.
    operands: Vec<(Operand, Slice)>,
}

fn run(mut graph: Graph) -> Result<Graph, Vec<Refusal>> {
    let narrowings = plan(&graph);
    if narrowings.values().all(|narrowing| narrowing.is_view) {
        return Ok(graph);
    }
    let mut hoist = Hoist { nodes: Vec::new(), narrowed: IdMap::default(), taken: BTreeMap::new() };
    let mut replaced = IdMap::<ValueId>::default();
    for (position, mut node) in std::mem::take(&mut graph.nodes).into_iter().enumerate() {
        match narrowings.get(&position) {
            Some(narrowing) => hoist.narrow(&mut graph, &mut node, narrowing),
            None => {
                if let Some((output, operand)) = hoist.end(&mut node) {
                    replaced.insert(output, operand);
                    continue;
                }
            }
        }
        hoist.nodes.push(node);
    }
    graph.nodes = hoist.nodes;
    let now = |id| replaced.get(id).copied().unwrap_or(id);
    graph.nodes.iter_mut().for_each(|node| node.replace_uses(now));
    graph.replace_results(now);
    Ok(graph)
}

/// The required part of a value: a slice, or everything.
type Needed = IdMap<Option<Slice>>;

/// The calls with a slice as required result, by position. From last to first: readers decide.
fn plan(graph: &Graph) -> BTreeMap<usize, Narrowing> {
    let (mut needed, mut narrowings) = (Needed::default(), BTreeMap::new());
    graph.results().for_each(|id| need(&mut needed, id, None));
    for (position, node) in graph.nodes.iter().enumerate().rev() {
        let narrowing = narrowing(graph, node, &needed);
        let end = part_of(graph, node);
        let operands = narrowing.as_ref().map_or(&[][..], |narrowing| &narrowing.operands);
        for (argument, read) in node.arguments.iter().enumerate() {
            let part = operands.iter().find(|(operand, _)| operand.argument == argument).map(|(_, part)| *part);
            read.uses().for_each(|id| need(&mut needed, id, part.or(end)));
        }
        narrowings.extend(narrowing.map(|narrowing| (position, narrowing)));
    }
    narrowings
}

/// Joins the slice of a consumer into the requirement of a value. Differing slices widen to the whole tensor.
fn need(needed: &mut Needed, id: ValueId, part: Option<Slice>) {
    let other = needed.get(id).copied().unwrap_or(part);
    needed.insert(id, part.filter(|part| other == Some(*part)));
}

/// The slices that a call reads for the required slice of the result.
fn narrowing(graph: &Graph, node: &Node, needed: &Needed) -> Option<Narrowing> {
    let [output] = node.outputs[..] else { return None };
    let part = needed.get(output).copied().flatten()?;
    let plain = |id: ValueId| !graph.spec(id).is_dynamic() && graph.spec(id).is_contiguous();
    let rule = rule(node).filter(|_| plain(output) && node.uses().all(plain))?;
    let operands = (rule.operands)(graph, node, part.dim)?.into_iter();
    let operands = operands.map(|(operand, dim)| (operand, Slice { dim, ..part })).collect();
    Some(Narrowing { part, is_view: rule.is_view, operands })
}

/// The slice of the first operand that a `slice` or `select` reads.
fn part_of(graph: &Graph, node: &Node) -> Option<Slice> {
    let [Argument::Value(of), Argument::Int(dim), rest @ ..] = &node.arguments[..] else { return None };
    let dim = normal_dim(*dim, graph.spec(*of).rank()).ok()?;
    let size = i64::from(*graph.spec(*of).sizes.get(dim)?);
    let place = |index: i64| if index < 0 { index + size } else { index }.clamp(0, size);
    let (start, end) = match (node.operator.as_str(), rest) {
        ("aten.select.int", [Argument::Int(index)]) => (place(*index), place(*index) + 1),
        ("aten.slice.Tensor", [start, end, Argument::Int(1)]) => {
            (bound(start)?.map_or(0, place), bound(end)?.map_or(size, place))
        }
        _ => return None,
    };
    let length = i32::try_from(end - start).ok().filter(|length| *length > 0 && i64::from(*length) < size)?;
    Some(Slice { dim, start, length })
}

/// The bound of a slice, if present. Computed bounds are unsupported.
const fn bound(argument: &Argument) -> Option<Option<i64>> {
    match argument {
        Argument::None => Some(None),
        Argument::Int(bound) => Some(Some(*bound)),
        _ => None,
    }
}

/// The rewriting of a graph.
struct Hoist {
    nodes: Vec<Node>,
    /// The values that are computed in part only.
    narrowed: IdMap<Slice>,
    /// Slices of values that are computed whole.
    taken: BTreeMap<(ValueId, Slice), ValueId>,
}

impl Hoist {
    /// Narrows a call to the required slice, except for views of values that are computed whole.
    fn narrow(&mut self, graph: &mut Graph, node: &mut Node, narrowing: &Narrowing) {
        let is_narrowed = |(operand, _): &(Operand, Slice)| self.narrowed.get(operand.id).is_some();
        if narrowing.is_view && !narrowing.operands.iter().any(is_narrowed) {
            return;
        }
        for (operand, part) in &narrowing.operands {
            if self.narrowed.get(operand.id).is_none() {
                let taken = self.take(graph, operand.id, *part);
                node.arguments.get_mut(operand.argument).into_iter().for_each(|it| *it = Argument::Value(taken));
            }
        }
        for id in &node.outputs {
            self.narrowed.insert(*id, narrowing.part);
            if let Some(value) = graph.values.get_mut(id.index()) {
                _ = value.spec.set_size(narrowing.part.dim, narrowing.part.length);
            }
        }
        if let ("view", Some(sizes), [output]) = (node.operator.name(), node.arguments.get_mut(1), &node.outputs[..]) {
            *sizes = wide(&graph.spec(*output).sizes);
        }
    }

    /// The slice of a value that is computed whole.
    fn take(&mut self, graph: &mut Graph, of: ValueId, part: Slice) -> ValueId {
        if let Some(taken) = self.taken.get(&(of, part)) {
            return *taken;
        }
        let mut spec = graph.spec(of).clone();
        _ = spec.set_size(part.dim, part.length);
        let taken = graph.add_value(&format!("{}_part", graph.value(of).name), spec, ValueKind::Computed);
        if let Some(origin) = graph.origins.get(of).cloned() {
            graph.origins.insert(taken, origin);
        }
        let bounds = [part.dim as i64, part.start, part.start + i64::from(part.length), 1].map(Argument::Int);
        let arguments = std::iter::once(Argument::Value(of)).chain(bounds).collect();
        self.nodes.push(Node { operator: OperatorName::aten("slice", "Tensor"), arguments, outputs: vec![taken] });
        self.taken.insert((of, part), taken);
        taken
    }

    /// Removes the hoisted slice: a `slice` is replaced by its operand; a `select` still drops the dimension.
    fn end(&self, node: &mut Node) -> Option<(ValueId, ValueId)> {
        let [Argument::Value(of), _, index, ..] = &mut node.arguments[..] else { return None };
        self.narrowed.get(*of)?;
        if node.operator.name() == "slice" {
            return Some((*node.outputs.first()?, *of));
        }
        *index = Argument::Int(0);
        None
    }
}
