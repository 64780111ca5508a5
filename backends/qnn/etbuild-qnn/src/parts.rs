//! The parts of a partition with more weights than a context may have: cut where a single value goes on, as between the layers of a network.
//!
//! The value at a cut is one that the NPU holds as it leaves it: integers, or numbers that are computed in floating point. So the parts
//! compute what the whole does.

use etbuild_ir::{Graph, IdMap, ValueId, ValueKind};

use crate::encoding::{dequantizes, quantizes};

/// The part of each node, in which each part has at most `most` bytes of weights if the cuts allow; empty for one part.
///
/// Methods that have the same layers are cut at the same layers, as the cuts follow from the weights and from where a single value goes on.
pub fn parts(graph: &Graph, most: u64) -> Vec<usize> {
    let weights = weights(graph);
    if weights.iter().sum::<u64>() <= most {
        return Vec::new();
    }
    let places = places(graph);
    let cuts = chosen(&cuts(graph, &places), &along(&places, &weights), most);
    if cuts.is_empty() {
        return Vec::new();
    }
    places.iter().map(|place| cuts.partition_point(|cut| cut <= place)).collect()
}

/// The bytes of the constants that each node is the first to read, as the NPU stores them.
fn weights(graph: &Graph) -> Vec<u64> {
    let mut seen: IdMap<()> = IdMap::default();
    let bytes = |id: ValueId| {
        let spec = graph.spec(id);
        let width = if spec.scalar_type.is_float() { 2 } else { spec.scalar_type.size() as u64 };
        spec.numel() as u64 * width
    };
    let mut first = |id: ValueId| graph.constant(id).is_some() && seen.insert(id, ()).is_none();
    graph.nodes.iter().map(|node| node.uses().filter(|id| first(*id)).map(bytes).sum()).collect()
}

/// The place of each node in the order of the network: its own position, or for a node that computes with constants alone, as one that
/// dequantizes weights, that of the first node that reads it.
fn places(graph: &Graph) -> Vec<usize> {
    let mut constant: IdMap<()> = IdMap::default();
    let mut of_constants = Vec::new();
    for node in &graph.nodes {
        let is_known = |id: ValueId| graph.constant(id).is_some() || constant.get(id).is_some();
        let all = node.uses().all(is_known);
        of_constants.push(all);
        if all {
            for id in &node.outputs {
                constant.insert(*id, ());
            }
        }
    }
    let mut places: Vec<usize> = (0..graph.nodes.len()).collect();
    let mut readers: IdMap<usize> = IdMap::default();
    for (index, node) in graph.nodes.iter().enumerate().rev() {
        if of_constants[index] {
            let first = node.outputs.iter().filter_map(|id| readers.get(*id).copied()).min();
            places[index] = first.unwrap_or(index);
        }
        for id in node.uses() {
            let first = readers.get(id).map_or(places[index], |known| places[index].min(*known));
            readers.insert(id, first);
        }
    }
    places
}

/// The weights by place.
fn along(places: &[usize], weights: &[u64]) -> Vec<u64> {
    let mut along = vec![0; weights.len()];
    places.iter().zip(weights).for_each(|(place, bytes)| along[*place] += bytes);
    along
}

/// The places before which a single value goes on, ascending.
fn cuts(graph: &Graph, places: &[usize]) -> Vec<usize> {
    let mut last: IdMap<usize> = IdMap::default();
    for (node, place) in graph.nodes.iter().zip(places) {
        for id in node.uses().filter(|id| matches!(graph.value(*id).kind, ValueKind::Computed)) {
            let latest = last.get(id).map_or(*place, |known| (*known).max(*place));
            last.insert(id, latest);
        }
    }
    let held = held_as_integers(graph);
    let mut ends: Vec<(usize, usize, ValueId)> = Vec::new();
    for (node, place) in graph.nodes.iter().zip(places) {
        ends.extend(node.outputs.iter().filter_map(|id| Some((*place, *last.get(*id)?, *id))));
    }
    ends.sort_unstable_by_key(|(start, ..)| *start);
    let (mut open, mut next, mut cuts) = (Vec::<(usize, ValueId)>::new(), 0, Vec::new());
    for cut in 1..graph.nodes.len() {
        while let Some((_, end, id)) = ends.get(next).filter(|(start, ..)| *start < cut) {
            open.push((*end, *id));
            next += 1;
        }
        open.retain(|(end, _)| *end >= cut);
        if let [(_, id)] = open[..]
            && (held.get(id).is_none() || !graph.spec(id).scalar_type.is_float())
        {
            cuts.push(cut);
        }
    }
    cuts
}

/// The values in floating point that the NPU holds as integers: results of dequantization, and what is quantized next.
fn held_as_integers(graph: &Graph) -> IdMap<()> {
    let mut held = IdMap::default();
    for node in &graph.nodes {
        if dequantizes(node).is_some() {
            node.outputs.iter().for_each(|id| _ = held.insert(*id, ()));
        }
        if quantizes(node).is_some() {
            node.uses().for_each(|id| _ = held.insert(id, ()));
        }
    }
    held
}

/// The cuts that divide the weights into parts of at most `most` bytes, as few as the cuts allow.
fn chosen(cuts: &[usize], along: &[u64], most: u64) -> Vec<usize> {
    let (mut chosen, mut part, mut start) = (Vec::new(), 0, 0);
    let mut before: Option<usize> = None;
    for cut in cuts.iter().copied().chain([along.len()]) {
        let more: u64 = along[start..cut].iter().sum();
        if let Some(place) = before
            && part > 0
            && part + more > most
            && more > 0
        {
            chosen.push(place);
            part = 0;
        }
        part += more;
        (before, start) = (Some(cut), cut);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two layers with a residual connection each, and a head.
    const LAYERS: &str = "etbuild-ir 1 lowered
method forward
  input %x: float32[1, 4]
  constant %one: float32[4, 4] = \"one\" ramp(-1.0, 1.0)
  constant %two: float32[4, 4] = \"two\" ramp(-2.0, 2.0)
  constant %head: float32[4, 4] = \"head\" ramp(-3.0, 3.0)
  %start: float32[1, 4] = aten.relu.default(%x)
  %a: float32[1, 4] = aten.linear.default(%start, %one, none)
  %b: float32[1, 4] = aten.add.Tensor(%start, %a, 1)
  %c: float32[1, 4] = aten.linear.default(%b, %two, none)
  %d: float32[1, 4] = aten.add.Tensor(%b, %c, 1)
  %y: float32[1, 4] = aten.linear.default(%d, %head, none)
  return %y
";

    #[test]
    fn parts_are_cut_between_layers_where_the_weights_exceed_the_most() {
        let program = etbuild_golden::parse(LAYERS).unwrap();
        let of = |most| parts(&program.methods["forward"], most);
        assert_eq!(of(96), Vec::<usize>::new());
        assert_eq!(of(64), [0, 0, 0, 0, 0, 1]);
        assert_eq!(of(32), [0, 0, 0, 1, 1, 2]);
        assert_eq!(of(1), [0, 0, 0, 1, 1, 2]);
    }
}
