//! Random numbers as a function of a seed, of the node that draws, and of the number of executions before, which becomes state.

use et_core::ScalarType;
use etbuild_ir::{
    Argument, ConstantData, Graph, LoweredProgram, Node, OperatorName, TensorSpec, Update, ValueId, ValueKind,
};

use crate::PassError;
use crate::pass::verified;

/// The name of the state, which methods share: the seed, and the number of executions before.
const NAME: &str = "random_state";

/// The operators that draw, with those that take a state.
const OPERATORS: [(&str, &str); 2] =
    [("aten.rand.default", "etbuild.uniform.default"), ("aten.randn.default", "etbuild.normal.default")];

/// Gives each operator that draws random numbers a number of its own and the state of the program, which each execution
/// advances: nodes and executions draw different numbers, the same for the same seed. A node in a loop draws the same numbers in each
/// pass of an execution.
///
/// # Errors
/// The program is invalid afterwards: a fault of this module.
pub fn with_random_state(program: LoweredProgram, seed: u64) -> Result<LoweredProgram, PassError> {
    let mut program = program.into_program();
    let mut drawn = 0;
    for graph in program.methods.values_mut() {
        if graph.nodes.iter().any(|node| drawing(node).is_some()) {
            let state = state(graph, seed);
            graph.nodes.iter_mut().for_each(|node| draw(node, state, &mut drawn));
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

fn draw(node: &mut Node, state: ValueId, drawn: &mut i64) {
    let Some(operator) = drawing(node) else { return };
    let sizes = node.arguments.first().cloned().unwrap_or(Argument::None);
    node.operator = operator;
    node.arguments = vec![Argument::Value(state), sizes, Argument::Int(*drawn)];
    *drawn += 1;
}

/// The node that counts the execution. The state changes at the end.
fn advance(graph: &mut Graph, state: ValueId) -> Node {
    let step: Vec<u8> = [0_u64, 1].into_iter().flat_map(u64::to_le_bytes).collect();
    let kind = ValueKind::Constant { qualified_name: format!("{NAME}_step"), data: ConstantData::new(step) };
    let step = graph.add_value(&format!("{NAME}_step"), pair(), kind);
    let next = graph.add_value(&format!("{NAME}_next"), pair(), ValueKind::Computed);
    graph.updates.push(Update { target: state, value: next });
    let arguments = vec![Argument::Value(state), Argument::Value(step), Argument::Int(1)];
    Node { operator: OperatorName::aten("add", "Tensor"), arguments, outputs: vec![next] }
}

fn pair() -> TensorSpec {
    TensorSpec::contiguous(ScalarType::Long, [2])
}
