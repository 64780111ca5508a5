//! Matches attention spelled out in several nodes: a matmul of queries and keys, optional biases, a softmax over keys, and
//! a matmul with values. All intermediate tensors have one consumer, so the pattern is replaced as a whole.

use std::collections::BTreeSet;

use etbuild_ir::{Argument, Graph, Links, Node, ValueId};

use super::pattern::{is, read_once, value};

/// The biases of the logits, each with the shape of the sum.
type Biases = Vec<(ValueId, Vec<i32>)>;

/// Attention matched in several nodes.
#[derive(Debug)]
pub struct Match {
    /// The position of the second matmul, at which all operands are computed.
    pub position: usize,
    /// The query tensor `[batches, queries, depth]`, or with separate batch and head dimensions.
    pub query: ValueId,
    /// The transposed key tensor `[batches, depth, keys]`, or with separate batch and head dimensions.
    pub transposed_key: ValueId,
    /// The value tensor `[batches, keys, depth]`, or with separate batch and head dimensions.
    pub value: ValueId,
    /// The biases of the logits, each with the shape of the sum.
    pub biases: Biases,
    /// The factor of the queries.
    pub scale: f64,
    /// The output of the second matmul.
    pub output: ValueId,
}

/// All matches in a graph, and the positions of all replaced nodes.
pub fn find_attention(graph: &Graph) -> (Vec<Match>, BTreeSet<usize>) {
    let finder = Finder { links: Links::of(graph) };
    let (mut matches, mut replaced) = (Vec::new(), BTreeSet::new());
    for position in 0..graph.nodes.len() {
        if let Some((found, nodes)) = finder.at(position) {
            matches.push(found);
            replaced.extend(nodes);
        }
    }
    (matches, replaced)
}

struct Finder<'g> {
    links: Links<'g>,
}

impl<'g> Finder<'g> {
    /// The match whose second matmul is at this position, and the positions of the matched nodes.
    fn at(&self, position: usize) -> Option<(Match, Vec<usize>)> {
        let last = self.links.graph.nodes.get(position).filter(|node| is(node, "aten.bmm.default"))?;
        let mut nodes = vec![position];
        let softmax = self.through_views(value(last, 0)?, &mut nodes)?;
        let softmax_node = self.made_by(softmax, "aten._softmax.default", &mut nodes)?;
        let scores = value(softmax_node, 0)?;
        let rank = self.links.graph.spec(scores).rank() as i64;
        if !matches!(softmax_node.arguments.get(1), Some(Argument::Int(dim)) if *dim == -1 || *dim == rank - 1) {
            return None;
        }
        let (biases, product) = self.through_sums(scores, &mut nodes)?;
        let first = self.made_by(product, "aten.bmm.default", &mut nodes)?;
        let joined = [value(first, 0)?, value(first, 1)?, value(last, 1)?];
        let apart = joined.map(|id| self.apart(id));
        let are_apart = apart.iter().all(|id| self.links.graph.spec(*id).rank() == 4);
        let [query, transposed_key, values] = if are_apart { apart } else { joined };
        let (query, scale) = self.unscaled(joined[0], query, &mut nodes);
        let output = self.apart_again(*last.outputs.first()?, &mut nodes);
        let found = Match { position, query, transposed_key, value: values, biases, scale, output };
        Some((found, nodes))
    }

    /// The output with separate batch and head dimensions, where the only consumer is such a view.
    fn apart_again(&self, id: ValueId, nodes: &mut Vec<usize>) -> ValueId {
        let reader = self.links.last_reader_position(id).filter(|_| self.links.read_count(id) == 1);
        let view = reader.filter(|position| is(&self.links.graph.nodes[*position], "aten.view_copy.default"));
        let viewed = view.and_then(|position| self.links.graph.nodes[position].outputs.first());
        match (view, viewed.filter(|viewed| self.links.graph.spec(**viewed).rank() == 4)) {
            (Some(position), Some(viewed)) => {
                nodes.push(position);
                *viewed
            }
            _ => id,
        }
    }

    /// The base tensor of a chain of views with one consumer each.
    fn through_views(&self, mut id: ValueId, nodes: &mut Vec<usize>) -> Option<ValueId> {
        while let Some(node) = self.links.maker(id).filter(|node| is(node, "aten.view_copy.default")) {
            nodes.push(read_once(&self.links, id)?);
            id = value(node, 0)?;
        }
        Some(id)
    }

    /// The biases added to the logits, and the logits without biases.
    fn through_sums(&self, id: ValueId, nodes: &mut Vec<usize>) -> Option<(Biases, ValueId)> {
        let (mut biases, mut id) = (Vec::new(), self.through_views(id, nodes)?);
        while let Some(node) = self.links.maker(id).filter(|node| is(node, "aten.add.Tensor")) {
            let [Argument::Value(sum), Argument::Value(bias), Argument::Int(1)] = &node.arguments[..] else {
                return None;
            };
            let spec = self.links.graph.spec(id);
            if self.links.graph.spec(*sum).sizes != spec.sizes || biases.len() == 2 {
                return None;
            }
            nodes.push(read_once(&self.links, id)?);
            biases.push((*bias, spec.sizes.clone()));
            id = self.through_views(*sum, nodes)?;
        }
        Some((biases, id))
    }

    /// The node that computes a value, for this operator and a value with one consumer.
    fn made_by(&self, id: ValueId, operator: &str, nodes: &mut Vec<usize>) -> Option<&'g Node> {
        let node = self.links.maker(id).filter(|node| is(node, operator))?;
        nodes.push(read_once(&self.links, id)?);
        Some(node)
    }

    /// The value before a view fused batches and heads.
    fn apart(&self, id: ValueId) -> ValueId {
        let viewed =
            self.links.maker(id).filter(|node| is(node, "aten.view_copy.default")).and_then(|node| value(node, 0));
        viewed.filter(|viewed| self.links.graph.spec(*viewed).rank() == 4).unwrap_or(id)
    }

    /// The unscaled queries and the factor. `joined` are the same queries, perhaps behind a view that fuses batches
    /// and heads; that view is then replaced too.
    fn unscaled(&self, joined: ValueId, id: ValueId, nodes: &mut Vec<usize>) -> (ValueId, f64) {
        let scaled = self.links.maker(id).filter(|node| is(node, "aten.mul.Scalar"));
        let parts = scaled.and_then(|node| match &node.arguments[..] {
            [Argument::Value(query), Argument::Float(scale)] => Some((*query, *scale)),
            _ => None,
        });
        match (parts, read_once(&self.links, id), read_once(&self.links, joined)) {
            (Some(parts), Some(position), Some(view)) => {
                nodes.extend([position, view]);
                parts
            }
            _ => (id, 1.0),
        }
    }
}
