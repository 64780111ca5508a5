//! Random numbers as a function of a seed, of the node that draws, and of the number of executions before, which becomes state.

use std::collections::BTreeMap;
use std::ops::Range;

use et_core::ScalarType;
use etbuild_ir::{
    Argument, ConstantData, Control, Graph, LoweredProgram, Node, OperatorName, TensorSpec, Update, ValueId, ValueKind,
};

use crate::PassError;
use crate::pass::verified;

/// The name of the state, which methods share: the seed, and the number of executions before.
const NAME: &str = "random_state";

/// What a pass of a loop adds to the number of executions.
const PASS: u64 = 1 << 32;

/// The operators that draw, with those that take a state.
const OPERATORS: [(&str, &str); 2] =
    [("aten.rand.default", "etbuild.uniform.default"), ("aten.randn.default", "etbuild.normal.default")];

/// Gives each operator that draws random numbers a number of its own and the state of the program, which each execution
/// advances: nodes and executions draw different numbers, the same for the same seed. A loop with such a node counts its passes in the upper
/// half of the number of executions: each pass draws its own numbers.
///
/// # Errors
/// The program is invalid afterwards: a fault of this module.
pub fn with_random_state(program: LoweredProgram, seed: u64) -> Result<LoweredProgram, PassError> {
    let mut program = program.into_program();
    let mut drawn = 0;
    for graph in program.methods.values_mut() {
        if graph.nodes.iter().any(|node| drawing(node).is_some()) {
            let state = state(graph, seed);
            let loops = loops_that_draw(graph);
            let passing = if loops.is_empty() {
                state
            } else {
                graph.add_value(&format!("{NAME}_pass"), pair(), ValueKind::Computed)
            };
            for (index, node) in graph.nodes.iter_mut().enumerate() {
                let is_repeated = loops.iter().any(|part| part.contains(&index));
                draw(node, if is_repeated { passing } else { state }, &mut drawn);
            }
            count_passes(graph, &loops, (state, passing));
            let counted = advance(graph, state);
            graph.nodes.insert(0, counted);
        }
    }
    verified(program)
}

/// The operator that draws in place of a node's, from a state.
fn drawing(node: &Node) -> Option<OperatorName> {
    let (_, with_state) = OPERATORS.iter().find(|(name, _)| *name == node.operator.as_str())?;
    OperatorName::parse(with_state)
}

fn state(graph: &mut Graph, seed: u64) -> ValueId {
    let initial: Vec<u8> = [seed, 0].into_iter().flat_map(u64::to_le_bytes).collect();
    let kind = ValueKind::State { qualified_name: NAME.to_owned(), initial: ConstantData::new(initial) };
    graph.add_value(NAME, pair(), kind)
}

/// The nodes from each label up to a jump back to the label, if any of the nodes draws.
fn loops_that_draw(graph: &Graph) -> Vec<Range<usize>> {
    let mut labels = BTreeMap::new();
    let mut loops = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        match Control::of(node) {
            Some(Control::Label(label)) => drop(labels.insert(label, index)),
            Some(Control::Jump(label)) => loops.extend(labels.get(&label).map(|start| *start..index)),
            _ => {}
        }
    }
    let draws = |part: &Range<usize>| graph.nodes[part.clone()].iter().any(|node| drawing(node).is_some());
    loops.retain(draws);
    loops
}

/// Counts a pass before each jump back. A method starts with the count of the state.
fn count_passes(graph: &mut Graph, loops: &[Range<usize>], (state, passing): (ValueId, ValueId)) {
    // From the last jump on: an inserted node moves the nodes behind it only.
    for part in loops.iter().rev() {
        let (node, next) = counted(graph, passing, "next_pass", PASS);
        graph.nodes.splice(part.end..part.end, [node, copied(next, passing)]);
    }
    if !loops.is_empty() {
        graph.nodes.insert(0, copied(state, passing));
    }
}

fn copied(from: ValueId, to: ValueId) -> Node {
    let arguments = vec![Argument::Value(from), Argument::Bool(false), Argument::Ints(vec![0])];
    let operator = OperatorName::parse("dim_order_ops._clone_dim_order.default");
    Node { operator: operator.unwrap_or_else(|| OperatorName::aten("clone", "default")), arguments, outputs: vec![to] }
}

fn draw(node: &mut Node, state: ValueId, drawn: &mut i64) {
    let Some(operator) = drawing(node) else { return };
    let sizes = node.arguments.first().cloned().unwrap_or(Argument::None);
    node.operator = operator;
    node.arguments = vec![Argument::Value(state), sizes, Argument::Int(*drawn)];
    *drawn += 1;
}

/// The node that counts the execution. The state changes at the end.
fn advance(graph: &mut Graph, state: ValueId) -> Node {
    let (counted, next) = counted(graph, state, "next", 1);
    graph.updates.push(Update { target: state, value: next });
    counted
}

/// A node that adds to the number of executions of a state, and its result.
fn counted(graph: &mut Graph, state: ValueId, name: &str, count: u64) -> (Node, ValueId) {
    let step: Vec<u8> = [0, count].into_iter().flat_map(u64::to_le_bytes).collect();
    let kind = ValueKind::Constant { qualified_name: format!("{NAME}_step_{count}"), data: ConstantData::new(step) };
    let step = graph.add_value(&format!("{NAME}_step"), pair(), kind);
    let next = graph.add_value(&format!("{NAME}_{name}"), pair(), ValueKind::Computed);
    let arguments = vec![Argument::Value(state), Argument::Value(step), Argument::Int(1)];
    (Node { operator: OperatorName::aten("add", "Tensor"), arguments, outputs: vec![next] }, next)
}

fn pair() -> TensorSpec {
    TensorSpec::contiguous(ScalarType::Long, [2])
}
