//! Flattens nested graphs into a list of nodes with labels and jumps.
//!
//! PyTorch defines `cond`, `map`, `scan` and `while_loop` (`torch/_higher_order_ops`). Both branches of a condition
//! write the same values. A loop keeps carried values in separate values, and stacks rows in place.

mod branch;
mod inline;
mod repeat;

use et_core::ScalarType;
use etbuild_ir::{Argument, Control, Graph, Interval, Node, OperatorName, ValueId, ValueKind};

use crate::pass::Pass;
use crate::{Reason, Refusal};

/// The pass.
pub static PASS: Pass = Pass {
    name: "flatten_control_flow",
    purpose: "Flattens nested graphs into a list of nodes with labels and jumps.",
    run,
};

fn run(mut graph: Graph) -> Result<Graph, Vec<Refusal>> {
    let nodes = std::mem::take(&mut graph.nodes);
    let mut flattener = Flattener { graph, labels: 0 };
    let mut refusals = Vec::new();
    for node in nodes {
        if let Err(reason) = flattener.node(node.clone()) {
            refusals.push(Refusal::new(&flattener.graph, &node, reason));
        }
    }
    flattener.detach_results();
    if refusals.is_empty() { Ok(flattener.graph) } else { Err(refusals) }
}

/// The flattened graph under construction.
struct Flattener {
    graph: Graph,
    labels: i64,
}

impl Flattener {
    fn node(&mut self, node: Node) -> Result<(), Reason> {
        if !node.operator.runs_graphs() {
            self.graph.nodes.push(node);
            return Ok(());
        }
        match node.operator.name() {
            "cond" => self.branch(node),
            "while_loop" => self.while_loop(node),
            "map" => self.map(node),
            "scan" => self.scan(node),
            _ => Err(Reason::NoKernel),
        }
    }

    fn new_label(&mut self) -> i64 {
        self.labels += 1;
        self.labels
    }

    fn control(&mut self, control: Control) {
        self.graph.nodes.push(control.node());
    }

    /// Copies the value `from` to `to`.
    fn copy(&mut self, from: ValueId, to: ValueId) -> Result<(), Reason> {
        if self.graph.number(from).is_some() {
            self.control(Control::Move(from, to));
            return Ok(());
        }
        let order = self.graph.spec(to).dim_order.iter().map(|dim| i64::from(*dim)).collect();
        let arguments = vec![Argument::Value(from), Argument::Bool(false), Argument::Ints(order)];
        self.call("dim_order_ops._clone_dim_order.default", arguments, to)
    }

    fn call(&mut self, operator: &str, arguments: Vec<Argument>, output: ValueId) -> Result<(), Reason> {
        let operator = OperatorName::parse(operator).ok_or(Reason::NoKernel)?;
        self.graph.nodes.push(Node { operator, arguments, outputs: vec![output] });
        Ok(())
    }

    fn new_number(&mut self, name: &str, scalar_type: ScalarType) -> ValueId {
        let range = if scalar_type == ScalarType::Bool { Interval::FLAG } else { Interval::ALL };
        self.graph.add_number(name, scalar_type, range, ValueKind::Computed)
    }

    /// Copies outputs and updates that would read a value after an update has overwritten the value.
    fn detach_results(&mut self) {
        self.graph.updates.retain(|update| update.target != update.value);
        for index in 0..self.graph.outputs.len() {
            self.graph.outputs[index] = self.detached(self.graph.outputs[index]);
        }
        for index in 0..self.graph.updates.len() {
            self.graph.updates[index].value = self.detached(self.graph.updates[index].value);
        }
    }

    /// The value, or a copy if an update overwrites the value.
    fn detached(&mut self, id: ValueId) -> ValueId {
        if self.graph.updates.iter().all(|update| update.target != id) {
            return id;
        }
        let copy = self.graph.add_value("before", self.graph.spec(id).clone(), ValueKind::Computed);
        if self.copy(id, copy).is_ok() { copy } else { id }
    }
}

/// The tensors of a list argument.
fn list(node: &Node, index: usize) -> Result<Vec<ValueId>, Reason> {
    match node.arguments.get(index) {
        Some(Argument::Values(items)) => items.iter().copied().collect::<Option<_>>().ok_or(Reason::Arguments),
        Some(Argument::Value(item)) => Ok(vec![*item]),
        Some(Argument::Ints(items)) if items.is_empty() => Ok(Vec::new()),
        _ => Err(Reason::Arguments),
    }
}

fn graph(node: &Node, index: usize) -> Result<&Graph, Reason> {
    match node.arguments.get(index) {
        Some(Argument::Graph(graph)) => Ok(graph),
        _ => Err(Reason::Arguments),
    }
}
