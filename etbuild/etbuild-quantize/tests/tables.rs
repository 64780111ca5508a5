//! Weights in half precision, and tables that the head of a language model reads too.

use std::cell::RefCell;

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_ir::{
    Argument, ConstantData, Graph, LoweredProgram, Node, OperatorName, Program, TensorSpec, ValueId, ValueKind,
};
use etbuild_quantize::{
    Data, Embedding, InMemory, Keeper, Kept, Layer, Options, Scheme, Tensors, Work, compare, quantize,
};

const ROWS: i32 = 8;
const LENGTH: i32 = 64;

fn float(sizes: &[i32]) -> TensorSpec {
    TensorSpec::contiguous(ScalarType::Float, sizes)
}

fn call(graph: &mut Graph, operator: &str, arguments: Vec<Argument>, spec: TensorSpec) -> ValueId {
    let operator = OperatorName::parse(operator).unwrap();
    let output = graph.add_value(operator.name(), spec, ValueKind::Computed);
    graph.nodes.push(Node { operator, arguments, outputs: vec![output] });
    output
}

/// A matrix of `bfloat16`, and the node that makes it numbers of `float32`.
fn matrix(graph: &mut Graph, name: &str, seed: usize) -> ValueId {
    let count = (ROWS * LENGTH) as usize;
    let bits = |index: usize| (0x3d00 + (index * seed % 509)) as u16 | ((index % 2) << 15) as u16;
    let bytes: Vec<u8> = (0..count).flat_map(|index| bits(index).to_le_bytes()).collect();
    let kind = ValueKind::Constant { qualified_name: name.into(), data: ConstantData::new(bytes) };
    let halves = graph.add_value(name, TensorSpec::contiguous(ScalarType::BFloat16, [ROWS, LENGTH]), kind);
    let order = vec![Argument::Value(halves), Argument::Bool(false), Argument::Ints(vec![0, 1])];
    call(graph, "dim_order_ops._to_dim_order_copy.default", order, float(&[ROWS, LENGTH]))
}

/// Rows of a table, and their products with a head: the table itself where `tied`.
fn model(tied: bool) -> Program {
    let mut graph = Graph::default();
    let tokens = graph.add_value("tokens", TensorSpec::contiguous(ScalarType::Long, [1, 2]), ValueKind::Input);
    graph.inputs = vec![tokens];
    let table = matrix(&mut graph, "table", 7919);
    let head = if tied { table } else { matrix(&mut graph, "head", 104_729) };
    let flags = [Argument::Int(-1), Argument::Bool(false), Argument::Bool(false)];
    let arguments = [table, tokens].map(Argument::Value).into_iter().chain(flags).collect();
    let rows = call(&mut graph, "aten.embedding.default", arguments, float(&[1, 2, LENGTH]));
    let arguments = vec![Argument::Value(rows), Argument::Value(head), Argument::None];
    graph.outputs = vec![call(&mut graph, "aten.linear.default", arguments, float(&[1, 2, ROWS]))];
    Program { methods: [("forward".to_owned(), graph)].into() }
}

fn quantized(tied: bool, options: &Options, keeper: &dyn Keeper) -> Graph {
    let program = quantize(LoweredProgram::verify(model(tied)).unwrap(), options, Data::samples(None), keeper).unwrap();
    program.into_program().methods.remove("forward").unwrap()
}

fn operators(graph: &Graph) -> Vec<&str> {
    graph.nodes.iter().map(|node| node.operator.as_str()).filter(|name| !name.contains("_affine")).collect()
}

/// The node of this name whose first argument is `first`.
fn reader<'g>(graph: &'g Graph, name: &str, first: ValueId) -> &'g Node {
    let reads = |node: &&Node| node.operator.as_str() == name && node.arguments[0] == Argument::Value(first);
    graph.nodes.iter().find(reads).unwrap()
}

fn constant(graph: &Graph, name: &str) -> ValueId {
    graph.values_with_ids().find(|(_, value)| value.name == name).unwrap().0
}

/// The worst ratio of signal to noise.
fn worst(tied: bool, graph: &Graph) -> f64 {
    let bytes = [3_i64, 6].into_iter().flat_map(i64::to_le_bytes).collect();
    let tokens = OwnedTensor { scalar_type: ScalarType::Long, sizes: vec![1, 2], bytes };
    let real = model(tied).methods.remove("forward").unwrap();
    compare(&real, graph, &Tensors::from([("tokens".to_owned(), tokens)])).unwrap()[0].sqnr
}

const DEQUANTIZE: &str = "torchao.dequantize_affine.default";

#[test]
fn a_tied_table_and_the_head_read_the_same_integers_and_scales() {
    for embedding in [None, Some(Embedding::Weight4)] {
        let options = Options { embedding, ..Options::new(Scheme::Dynamic8Weight4) };
        let graph = quantized(true, &options, &InMemory);
        assert_eq!(operators(&graph), ["aten.embedding.default", "aten.embedding.default", "aten.linear.default"]);
        let [integers, scales] = ["table_integers", "table_scales"].map(|name| constant(&graph, name));
        assert_eq!(graph.spec(integers), &TensorSpec::contiguous(ScalarType::Char, [ROWS, LENGTH]));
        assert_eq!(graph.spec(scales), &float(&[ROWS, LENGTH / 32]));
        let head = reader(&graph, DEQUANTIZE, integers);
        assert_eq!(head.arguments[1..4], [Argument::Ints(vec![1, 32]), Argument::Value(scales), Argument::None]);
        let [rows, row_scales] = [integers, scales].map(|id| reader(&graph, "aten.embedding.default", id).outputs[0]);
        let gathered = reader(&graph, DEQUANTIZE, rows);
        let arguments = [Argument::Ints(vec![1, 1, 32]), Argument::Value(row_scales), Argument::None];
        assert_eq!(gathered.arguments[1..4], arguments);
        assert!(worst(true, &graph) > 15.0, "{}", worst(true, &graph));
    }
}

#[test]
fn a_tied_table_of_bytes_and_the_head_read_the_same_integers_and_scales() {
    for (scheme, embedding) in
        [(Scheme::Int8Weights, None), (Scheme::DynamicInt8, None), (Scheme::Int8Weights, Some(Embedding::Weight8))]
    {
        let graph = quantized(true, &Options { embedding, ..Options::new(scheme) }, &InMemory);
        let [integers, scales] = ["table_integers", "table_scales"].map(|name| constant(&graph, name));
        assert_eq!(graph.spec(scales), &float(&[ROWS, 1]));
        let head = reader(&graph, DEQUANTIZE, integers);
        assert_eq!(head.arguments[1..3], [Argument::Ints(vec![1, i64::from(LENGTH)]), Argument::Value(scales)]);
        let rows = reader(&graph, "aten.embedding.default", integers).outputs[0];
        let gathered = reader(&graph, DEQUANTIZE, rows);
        assert_eq!(gathered.arguments[1], Argument::Ints(vec![1, 1, i64::from(LENGTH)]));
        assert!(worst(true, &graph) > 35.0, "{}", worst(true, &graph));
    }
}

#[test]
fn a_table_alone_is_quantized_where_that_is_asked_and_has_groups_of_the_size() {
    let scheme = Options { group_size: Some(16), ..Options::new(Scheme::Dynamic8Weight4) };
    let graph = quantized(false, &scheme, &InMemory);
    let conversion = "dim_order_ops._to_dim_order_copy.default";
    assert_eq!(operators(&graph), [conversion, "aten.embedding.default", "aten.linear.default"]);
    let graph = quantized(false, &Options { embedding: Some(Embedding::Weight4), ..scheme.clone() }, &InMemory);
    assert_eq!(operators(&graph), ["quantized_decomposed.embedding_4bit.default", "aten.linear.default"]);
    assert_eq!(graph.spec(constant(&graph, "table_scales")), &float(&[ROWS, LENGTH / 16]));
    assert!(worst(false, &graph) > 15.0, "{}", worst(false, &graph));
}

#[test]
fn a_table_stays_real_where_a_layer_says_so_and_where_the_head_does() {
    for operator in ["embedding", "linear"] {
        let layers = vec![Layer { name: None, operator: Some(operator.into()), scheme: Scheme::Float }];
        let graph = quantized(true, &Options { layers, ..Options::new(Scheme::Dynamic8Weight4) }, &InMemory);
        let conversion = "dim_order_ops._to_dim_order_copy.default";
        assert_eq!(operators(&graph), [conversion, "aten.embedding.default", "aten.linear.default"]);
    }
}

/// Notes what it is asked for.
#[derive(Default)]
struct Notes(RefCell<Vec<(String, String)>>);

impl Keeper for Notes {
    fn keep(&self, name: &str, work: &Work) -> Kept {
        self.0.borrow_mut().push((name.to_owned(), work.identity()));
        InMemory.keep(name, work)
    }
}

#[test]
fn work_is_named_by_all_that_decides_about_it_and_done_once() {
    let asked = |options: &Options| {
        let notes = Notes::default();
        quantized(true, options, &notes);
        notes.0.into_inner()
    };
    let options = Options::new(Scheme::Dynamic8Weight4);
    let first = asked(&options);
    assert_eq!((first.len(), first[0].0.as_str()), (1, "table"));
    assert_eq!(asked(&options), first);
    assert_ne!(asked(&Options { group_size: Some(64), ..options.clone() }), first);
    assert_eq!(asked(&Options::new(Scheme::Int4Weights)), first, "activations have no part in it");
    assert_ne!(asked(&Options::new(Scheme::Int8Weights)), first);
}
