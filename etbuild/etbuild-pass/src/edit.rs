//! Rewriting a graph node by node, by rules for operators.

mod call;
mod compute;
mod dim;
mod emit;
mod shape;

use std::sync::Arc;

use etbuild_ir::{ConstantData, Graph, IdMap, Node, OperatorName, TensorSpec, ValueId, ValueKind};

pub use call::{Call, normal_dim};
pub use compute::reduced;
pub use dim::Dim;
pub use emit::wide;

use crate::{Reason, Refusal};

/// The result of a rule: the value for each output of the call.
pub type Rewritten = Result<Vec<ValueId>, Reason>;
/// A rewriting rule. The rule adds nodes to the editor.
pub type Rule = fn(&mut Editor, &Call) -> Rewritten;
/// The rule of an operator, if the operator has a rule.
pub type Rules = fn(&OperatorName) -> Option<Rule>;

/// A graph during rewriting.
pub struct Editor {
    graph: Graph,
    rules: Rules,
    /// The prefix of the names of new values, and the module of new values.
    name: String,
    origin: Option<Arc<str>>,
}

/// Rewrites every node with a rule. Nodes that rules add are rewritten in turn.
pub fn rewrite(mut graph: Graph, rules: Rules) -> Result<Graph, Vec<Refusal>> {
    let nodes = std::mem::take(&mut graph.nodes);
    let mut editor = Editor { graph, rules, name: String::new(), origin: None };
    let (mut replaced, mut refusals) = (IdMap::default(), Vec::new());
    for mut node in nodes {
        node.replace_uses(|id| replaced.get(id).copied().unwrap_or(id));
        editor.rewrite_node(node, &mut replaced, &mut refusals);
    }
    let mut graph = editor.graph;
    graph.replace_results(|id| replaced.get(id).copied().unwrap_or(id));
    if refusals.is_empty() { Ok(graph) } else { Err(refusals) }
}

impl Editor {
    fn rewrite_node(&mut self, node: Node, replaced: &mut IdMap<ValueId>, refusals: &mut Vec<Refusal>) {
        let Some(rule) = (self.rules)(&node.operator) else { return self.graph.nodes.push(node) };
        if let Some(first) = node.outputs.first() {
            self.name = self.graph.value(*first).name.clone();
            self.origin = self.graph.origins.get(*first).cloned();
        }
        let (first_node, first_value) = (self.graph.nodes.len(), self.graph.values.len());
        let call = Call::new(&self.graph, &node);
        match rule(self, &call).and_then(|results| self.check(&call, results)) {
            Ok(results) => self.adopt(&node.outputs, &results, (first_node, first_value), replaced),
            Err(reason) => refusals.push(Refusal::new(&self.graph, &node, reason)),
        }
    }

    /// Checks that a rule returned values of the output types, at least for all used outputs. Bounds of a dynamic size may
    /// differ: the bounds of a computed size can be wider than necessary.
    fn check(&self, call: &Call, results: Vec<ValueId>) -> Rewritten {
        let fits = results.iter().zip(&call.outputs).all(|(id, spec)| self.spec(*id).agrees_with(spec));
        if fits && results.len() <= call.outputs.len() { Ok(results) } else { Err(Reason::Arguments) }
    }

    /// Gives the values of a rule the ids and the names of the outputs.
    fn adopt(
        &mut self,
        outputs: &[ValueId],
        results: &[ValueId],
        (first_node, first_value): (usize, usize),
        replaced: &mut IdMap<ValueId>,
    ) {
        for (index, (output, result)) in outputs.iter().zip(results).enumerate() {
            if let Some(earlier) = results[..index].iter().position(|other| other == result) {
                let value = outputs[earlier];
                replaced.insert(*output, replaced.get(value).copied().unwrap_or(value));
                continue;
            }
            let computed = matches!(self.graph.value(*result).kind, ValueKind::Computed);
            if result.index() < first_value || !computed {
                replaced.insert(*output, *result);
                continue;
            }
            let rename = |id: &mut ValueId| *id = if id == result { *output } else { *id };
            for node in &mut self.graph.nodes[first_node..] {
                node.arguments.iter_mut().for_each(|argument| argument.for_each_use_mut(rename));
                node.outputs.iter_mut().for_each(rename);
            }
        }
    }

    /// The type and shape of a value.
    pub fn spec(&self, id: ValueId) -> &TensorSpec {
        self.graph.spec(id)
    }

    /// Whether a value is a number, such as a size, and no tensor.
    pub fn is_number(&self, id: ValueId) -> bool {
        self.graph.number(id).is_some()
    }

    /// The sizes of a value.
    pub fn sizes(&self, id: ValueId) -> Vec<i32> {
        self.graph.spec(id).sizes.clone()
    }

    /// A new constant.
    pub fn constant(&mut self, spec: TensorSpec, elements: Vec<u8>) -> ValueId {
        let name = format!("{}_constant", self.name);
        let data = ConstantData::new(elements);
        let kind = ValueKind::Constant { qualified_name: data.distinct_name(&name), data };
        self.graph.add_value(&name, spec, kind)
    }

    fn new_value(&mut self, operator: &OperatorName, spec: TensorSpec) -> ValueId {
        let name = format!("{}_{}", self.name, operator.name().trim_start_matches('_'));
        let id = self.graph.add_value(&name, spec, ValueKind::Computed);
        if let Some(origin) = self.origin.clone() {
            self.graph.origins.insert(id, origin);
        }
        id
    }
}
