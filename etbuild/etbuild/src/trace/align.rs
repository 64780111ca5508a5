//! Matches the tensors of a foreign program, which names no values, with the values of a graph.
//!
//! Both sides are in the order of execution, so that the match is a sequence alignment: the pairs of equal shape, in order, with the
//! largest sum of scores. An equal operator scores, and so does an equal content: a fused operator has the content of the last
//! operator that went into it.

use et_ops::call::OwnedTensor;
use etbuild_inspect::{Tensors, similarity};
use etbuild_ir::Graph;

use super::values::Computed;

/// The score of an equal operator.
const SAME_OPERATOR: f64 = 1.0;

/// The decibels of the similarity that count as much as an equal operator, and the most that count.
const DECIBELS: f64 = 20.0;
const MOST_DECIBELS: f64 = 80.0;

/// The elements of a tensor that are compared.
const ELEMENTS: usize = 4096;

/// The tensors of `foreign` by the names of the graph's values; `own` are the values that the graph computes.
pub fn aligned(graph: &Graph, own: &Tensors, foreign: Vec<Computed>) -> Tensors {
    let nodes = graph.nodes.iter().filter_map(|node| {
        let name = &graph.value(*node.outputs.first()?).name;
        Some((name, node.operator.name(), own.get(name)?))
    });
    let nodes: Vec<(&String, &str, &OwnedTensor)> = nodes.collect();
    let scores: Vec<Vec<f64>> = nodes
        .iter()
        .map(|(_, operator, tensor)| foreign.iter().map(|other| score(operator, tensor, other)).collect())
        .collect();
    let pairs = best_pairs(&scores, foreign.len());
    let mut foreign: Vec<Option<Computed>> = foreign.into_iter().map(Some).collect();
    let named = |(node, other): (usize, usize)| Some((nodes[node].0.clone(), foreign[other].take()?.tensor));
    pairs.into_iter().filter_map(named).collect()
}

/// 0 for tensors that do not match.
fn score(operator: &str, tensor: &OwnedTensor, other: &Computed) -> f64 {
    if tensor.sizes != other.tensor.sizes {
        return 0.0;
    }
    let alike = similarity(&sampled(tensor), &sampled(&other.tensor)).clamp(0.0, MOST_DECIBELS) / DECIBELS;
    let same = if family(operator) == family(foreign_name(&other.operator)) { SAME_OPERATOR } else { 0.0 };
    alike + same
}

/// The alignment with the largest sum of scores: pairs of row and column.
fn best_pairs(scores: &[Vec<f64>], columns: usize) -> Vec<(usize, usize)> {
    let mut best = vec![vec![0.0_f64; columns + 1]; scores.len() + 1];
    for (row, of_row) in scores.iter().enumerate() {
        for (column, score) in of_row.iter().enumerate() {
            let skipped = best[row][column + 1].max(best[row + 1][column]);
            best[row + 1][column + 1] = skipped.max(best[row][column] + score);
        }
    }
    let (mut pairs, mut row, mut column) = (Vec::new(), scores.len(), columns);
    while row > 0 && column > 0 {
        if best[row][column] == best[row - 1][column] {
            row -= 1;
        } else if best[row][column] == best[row][column - 1] {
            column -= 1;
        } else {
            (row, column) = (row - 1, column - 1);
            pairs.push((row, column));
        }
    }
    pairs
}

/// `aten::add.out` is `add`.
fn foreign_name(operator: &str) -> &str {
    let name = operator.rsplit("::").next().unwrap_or(operator);
    name.split('.').next().unwrap_or(name)
}

/// Operators that compute the same: a product with weights has many names.
fn family(operator: &str) -> &str {
    match operator.strip_suffix("_copy").unwrap_or(operator) {
        "addmm" | "mm" => "linear",
        "native_layer_norm" => "layer_norm",
        name => name,
    }
}

/// Every n-th element.
fn sampled(tensor: &OwnedTensor) -> OwnedTensor {
    let elements = tensor.bytes.as_chunks::<4>().0;
    let step = elements.len().div_ceil(ELEMENTS).max(1);
    let bytes: Vec<u8> = elements.iter().step_by(step).flatten().copied().collect();
    OwnedTensor { scalar_type: tensor.scalar_type, sizes: vec![(bytes.len() / 4) as i32], bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_keep_the_order_and_take_the_largest_sum() {
        let scores = [vec![1.0, 5.0, 0.0], vec![0.0, 1.0, 2.0]];
        let mut pairs = best_pairs(&scores, 3);
        pairs.sort_unstable();
        assert_eq!(pairs, [(0, 1), (1, 2)]);
    }

    #[test]
    fn names_of_operators_lose_overloads_and_copies() {
        assert_eq!(family(foreign_name("aten::view_copy.out")), family("view"));
        assert_eq!(family(foreign_name("aten::addmm.out")), family("linear"));
    }
}
