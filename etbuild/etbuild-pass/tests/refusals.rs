//! Programs that cannot run: every call that stands against it is named.

use et_core::ScalarType;
use etbuild_ir::{Argument, AtenProgram, Graph, Node, OperatorName, Program, TensorSpec, ValueKind};
use etbuild_pass::{PassError, Reason, Refusal, to_core_aten, to_edge};

/// A program of one call of an operator on a tensor of four elements.
fn program(name: &str, scalar_type: ScalarType, rest: Vec<Argument>) -> AtenProgram {
    let mut graph = Graph::default();
    let spec = TensorSpec::contiguous(scalar_type, [4]);
    let x = graph.add_value("x", spec.clone(), ValueKind::Input);
    let y = graph.add_value("y", spec, ValueKind::Computed);
    graph.origins.insert(y, "encoder.0".into());
    let arguments = std::iter::once(Argument::Value(x)).chain(rest).collect();
    graph.nodes.push(Node { operator: OperatorName::parse(name).unwrap(), arguments, outputs: vec![y] });
    (graph.inputs, graph.outputs) = (vec![x], vec![y]);
    AtenProgram::verify(Program { methods: [("forward".to_owned(), graph)].into() }).unwrap()
}

fn refusal(program: AtenProgram) -> Refusal {
    match to_core_aten(program).and_then(to_edge).unwrap_err() {
        PassError::Refused(refusals) if refusals.len() == 1 => refusals.into_iter().next().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_operator_without_decomposition_is_named_with_its_module() {
    let refusal = refusal(program("aten.digamma.default", ScalarType::Float, vec![]));
    assert_eq!(refusal.reason, Reason::NoDecomposition);
    let text = refusal.to_string();
    for part in ["aten.digamma.default", "float32", "encoder.0", "forward"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
}

#[test]
fn a_canonical_operator_without_kernel_is_named() {
    assert_eq!(
        refusal(program("aten.embedding_dense_backward.default", ScalarType::Float, vec![])).reason,
        Reason::NoKernel
    );
}

#[test]
fn a_type_that_the_kernel_does_not_take_is_named() {
    let refusal = refusal(program("aten.relu.default", ScalarType::Bool, vec![]));
    assert_eq!(refusal.reason, Reason::NoKernelForType(ScalarType::Bool));
}

#[test]
fn dropout_in_training_says_what_to_do() {
    let arguments = vec![Argument::Float(0.5), Argument::Bool(true)];
    let refusal = refusal(program("aten.dropout.default", ScalarType::Float, arguments));
    assert!(refusal.to_string().contains("model.eval()"));
}

#[test]
fn arguments_that_contradict_the_shapes_are_refused() {
    let arguments = vec![Argument::Int(0), Argument::Int(7)];
    assert_eq!(refusal(program("aten.transpose.int", ScalarType::Float, arguments)).reason, Reason::Arguments);
}
