//! What the rules make of small graphs.

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_ir::{
    Argument, ConstantData, Graph, LoweredProgram, Node, OperatorName, Program, TensorSpec, ValueId, ValueKind,
};
use etbuild_quantize::{Data, InMemory, Layer, Options, Scheme, Tensors, quantize};

fn bytes(elements: &[f32]) -> Vec<u8> {
    elements.iter().flat_map(|element| element.to_le_bytes()).collect()
}

fn float(sizes: &[i32]) -> TensorSpec {
    TensorSpec::contiguous(ScalarType::Float, sizes)
}

/// A graph with an input `x` of two elements in `sizes`.
fn graph(sizes: &[i32]) -> (Graph, ValueId) {
    let mut graph = Graph::default();
    let x = graph.add_value("x", float(sizes), ValueKind::Input);
    graph.inputs = vec![x];
    (graph, x)
}

fn call(graph: &mut Graph, operator: &str, arguments: Vec<Argument>, sizes: &[i32]) -> ValueId {
    let operator = OperatorName::parse(operator).unwrap();
    let output = graph.add_value(operator.name(), float(sizes), ValueKind::Computed);
    graph.nodes.push(Node { operator, arguments, outputs: vec![output] });
    output
}

/// `x @ weight.T`, which is what wants integers.
fn linear(graph: &mut Graph, x: ValueId, inner: i32) -> ValueId {
    let data = ConstantData::new(bytes(&vec![1.0; inner as usize]));
    let kind = ValueKind::Constant { qualified_name: "weight".into(), data };
    let weight = graph.add_value("weight", float(&[1, inner]), kind);
    call(graph, "aten.linear.default", vec![Argument::Value(x), Argument::Value(weight), Argument::None], &[1, 1])
}

fn quantized(mut graph: Graph, output: ValueId, options: &Options) -> Graph {
    graph.outputs = vec![output];
    let sizes = graph.spec(graph.inputs[0]).sizes.clone();
    let x = OwnedTensor { scalar_type: ScalarType::Float, sizes, bytes: bytes(&[-3.0, 2.0]) };
    let program = Program { methods: [("forward".to_owned(), graph)].into() };
    let program = LoweredProgram::verify(program).unwrap();
    let program =
        quantize(program, options, Data::samples(Some(&Tensors::from([("x".to_owned(), x)]))), &InMemory).unwrap();
    program.into_program().methods.remove("forward").unwrap()
}

/// Scale and zero point of every tensor that is quantized, in order.
fn parameters(graph: &Graph) -> Vec<(f64, i64)> {
    let of = |node: &Node| match node.arguments[..] {
        [_, Argument::Float(scale), Argument::Int(zero_point), ..] if node.operator.name().starts_with("quantize") => {
            Some((scale, zero_point))
        }
        _ => None,
    };
    graph.nodes.iter().filter_map(of).collect()
}

#[test]
fn a_sigmoid_has_fixed_parameters_and_its_operand_its_own() {
    let (mut graph, x) = graph(&[1, 2]);
    let sigmoid = call(&mut graph, "aten.sigmoid.default", vec![Argument::Value(x)], &[1, 2]);
    let output = linear(&mut graph, sigmoid, 2);
    let found = parameters(&quantized(graph, output, &Options::new(Scheme::Int8)));
    assert_eq!(found, [(f64::from(5.0_f32 / 255.0), 25), (1.0 / 256.0, -128)]);
}

#[test]
fn what_is_joined_has_parameters_that_hold_all_of_it() {
    let (mut graph, x) = graph(&[1, 2]);
    let [sigmoid, tanh] = ["aten.sigmoid.default", "aten.tanh.default"]
        .map(|operator| call(&mut graph, operator, vec![Argument::Value(x)], &[1, 2]));
    let cat = call(&mut graph, "aten.cat.default", vec![Argument::values([tanh, sigmoid]), Argument::Int(1)], &[1, 4]);
    let output = linear(&mut graph, cat, 4);
    let found = parameters(&quantized(graph, output, &Options::new(Scheme::Int8)));
    let [_, first, second, joined] = found[..] else { panic!("{found:?}") };
    assert_eq!((first, second), (joined, joined));
    let (least, greatest) = (joined.0 * (-128 - joined.1) as f64, joined.0 * (127 - joined.1) as f64);
    assert!(least <= -0.99 && greatest >= 0.99, "{least} {greatest}");
}

#[test]
fn products_of_activations_stay_real_unless_they_are_named() {
    let product = |layers| {
        let (mut graph, x) = graph(&[1, 2, 1]);
        let turned = vec![Argument::Value(x), Argument::Ints(vec![0, 2, 1])];
        let turned = call(&mut graph, "aten.permute_copy.default", turned, &[1, 1, 2]);
        let output =
            call(&mut graph, "aten.bmm.default", vec![Argument::Value(x), Argument::Value(turned)], &[1, 2, 2]);
        parameters(&quantized(graph, output, &Options { layers, ..Options::new(Scheme::Int8) }))
    };
    assert_eq!(product(Vec::new()), []);
    let found = product(vec![Layer { name: None, operator: Some("bmm".into()), scheme: Scheme::Int8 }]);
    assert_eq!(found, [(f64::from(5.0_f32 / 255.0), 25); 2]);
}
