//! Takes a part of a tensor before its elements are computed rather than after: an encoder whose first token alone is
//! classified ends with products of one row.
//!
//! A `slice` or `select` moves up through calls that compute each element of their result, along a dimension, from the same
//! places of their operands ([`rule`]), as long as all that read a result read the same part of it. Where nothing but views
//! would be ahead, it stays. What is computed is computed as before. Time is linear in the size of the graph.

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
    purpose: "Takes parts of tensors before what computes their elements, so that the others are not computed.",
    run,
};

/// Positions `start..start + length` of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    dim: usize,
    start: i64,
    length: i32,
}

/// A call that could compute a part of its result alone.
struct Narrowing {
    part: Part,
    /// Whether it only hands elements on.
    is_view: bool,
    /// What it reads for that part.
    operands: Vec<(Operand, Part)>,
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

/// What is read of a value: a part, or all of it.
type Needed = IdMap<Option<Part>>;

/// The calls of whose results only a part is read, by position; from the last to the first, as readers decide.
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

/// Notes what one more reader needs of a value: all of it if that is not what others need.
fn need(needed: &mut Needed, id: ValueId, part: Option<Part>) {
    let other = needed.get(id).copied().unwrap_or(part);
    needed.insert(id, part.filter(|part| other == Some(*part)));
}

/// What a call reads for the part of its result that is needed, if it is a part.
fn narrowing(graph: &Graph, node: &Node, needed: &Needed) -> Option<Narrowing> {
    let [output] = node.outputs[..] else { return None };
    let part = needed.get(output).copied().flatten()?;
    let plain = |id: ValueId| !graph.spec(id).is_dynamic() && graph.spec(id).is_contiguous();
    let rule = rule(node).filter(|_| plain(output) && node.uses().all(plain))?;
    let operands = (rule.operands)(graph, node, part.dim)?.into_iter();
    let operands = operands.map(|(operand, dim)| (operand, Part { dim, ..part })).collect();
    Some(Narrowing { part, is_view: rule.is_view, operands })
}

/// Which part of its operand, the only value that it reads then, a slice or a selection is.
fn part_of(graph: &Graph, node: &Node) -> Option<Part> {
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
    Some(Part { dim, start, length })
}

/// A bound of a slice, if it has one. Those that are computed are not known.
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
    /// The values of which only a part is computed.
    narrowed: IdMap<Part>,
    /// Parts of values that are computed whole.
    taken: BTreeMap<(ValueId, Part), ValueId>,
}

impl Hoist {
    /// Lets a call compute a part of its result, unless nothing is saved: views of what is computed whole.
    fn narrow(&mut self, graph: &mut Graph, node: &mut Node, narrowing: &Narrowing) {
        let is_narrowed = |(operand, _): &(Operand, Part)| self.narrowed.get(operand.id).is_some();
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

    /// A part of a value that is computed whole.
    fn take(&mut self, graph: &mut Graph, of: ValueId, part: Part) -> ValueId {
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

    /// Ends the way of a part: a slice is what its operand has become, and is replaced by it; a selection still drops the
    /// dimension.
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
