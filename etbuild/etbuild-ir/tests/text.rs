//! Printed programs parse back, and no text makes the parser panic.

use et_core::ScalarType;
use etbuild_ir::text::{parse, parse_plan, print, print_plan};
use etbuild_ir::{
    Argument, ConstantData, Digest, Graph, MemoryFormat, Node, OperatorName, Program, TensorSpec, ValueId, ValueKind,
};
use proptest::collection::vec;
use proptest::prelude::*;

const PLANNED: &str = "etbuild-ir 1 planned
method forward
  input %x: float32[2, 2]
  constant %w: float32[1] = \"layer.weight\" b3:ec2bd03bf86b935fa34d71ad7ebb049f1f10f87d343e521511d8f9e6625620cd
  %sum: float32[2, 2] = aten.add.Tensor(%x, %w, 2)
  %out: float32[2, 2] = aten.relu.default(%sum)
  return %out
plan forward
  arena \"fast ram\" 32 16
  place %x 1 0
  place %sum 1 16
  place %out 1 0
";

fn zeros(digest: Digest) -> Option<ConstantData> {
    let data = ConstantData::new(vec![0_u8; 4]);
    (data.digest() == digest).then_some(data)
}

#[test]
fn a_planned_program_prints_as_it_was_written() {
    let planned = parse_plan(PLANNED, &mut zeros).unwrap();
    assert_eq!(print_plan(&planned), PLANNED);
}

#[test]
fn values_print_the_module_of_the_source() {
    let text = "etbuild-ir 1 aten
method forward
  input %x: float32[2]
  %y: float32[2] from encoder.0 = aten.relu.default(%x)
  return %y
";
    let (dialect, program) = parse(text, &mut zeros).unwrap();
    let origin = program.methods["forward"].origins.get(ValueId(1)).map(|origin| &**origin);
    assert_eq!((origin, &print(&dialect, &program)[..]), (Some("encoder.0"), text));
}

#[test]
fn errors_have_line_and_column() {
    let text = PLANNED.replace("(%x, %w, 2)", "(%x, %v, 2)");
    let error = parse(&text, &mut zeros).unwrap_err();
    assert_eq!(error.to_string(), "line 5, column 47: `v` is not defined above");
}

#[test]
fn an_unknown_digest_is_an_error() {
    let error = parse(PLANNED, &mut |_| None).unwrap_err();
    assert_eq!((error.line, &error.reason[..]), (4, "no constant has this digest"));
}

#[test]
fn values_out_of_line_order_print_their_number() {
    let spec = || TensorSpec::contiguous(ScalarType::Float, [1]);
    let mut graph = Graph::default();
    let late = graph.add_value("late", spec(), ValueKind::Computed);
    let input = graph.add_value("in put", spec(), ValueKind::Input);
    graph.add_value("left over", TensorSpec { dim_order: vec![1, 0], ..spec() }, ValueKind::Computed);
    let (operator, arguments) = (OperatorName::aten("relu", "default"), vec![Argument::Value(input)]);
    graph.nodes.push(Node { operator, arguments, outputs: vec![late] });
    (graph.inputs, graph.outputs) = (vec![input], vec![late]);
    let program = Program { methods: [("forward".to_owned(), graph)].into() };
    let text = "etbuild-ir 1 edge
method forward
  input %\"in put\"@1: float32[1]
  unused %\"left over\": float32[1]{1, 0}
  %late@0: float32[1] = aten.relu.default(%\"in put\")
  return %late
";
    assert_eq!(print("edge", &program), text);
    assert_eq!(parse(text, &mut zeros), Ok(("edge".to_owned(), program)));
}

/// An argument without references to values.
fn literal() -> impl Strategy<Value = Argument> {
    let float = || any::<f64>().prop_filter("NaN equals nothing", |number| !number.is_nan());
    prop_oneof![
        Just(Argument::None),
        Just(Argument::Place),
        any::<i64>().prop_map(Argument::Int),
        any::<bool>().prop_map(Argument::Bool),
        float().prop_map(Argument::Float),
        Just(Argument::Float(f64::INFINITY)),
        vec(any::<i64>(), 0..4).prop_map(Argument::Ints),
        vec(float(), 0..4).prop_map(Argument::Floats),
        vec(any::<bool>(), 0..4).prop_map(Argument::Bools),
        any::<String>().prop_map(Argument::Text),
        (0..ScalarType::ALL.len()).prop_map(|index| Argument::Type(ScalarType::ALL[index])),
        Just(Argument::MemoryFormat(MemoryFormat::ChannelsLast)),
    ]
}

/// An argument of a node, with `count` values defined before.
fn argument(count: u32) -> impl Strategy<Value = Argument> {
    let id = || (0..count).prop_map(ValueId);
    prop_oneof![
        literal(),
        id().prop_map(Argument::Value),
        vec(proptest::option::of(id()), 0..4).prop_map(Argument::Values),
    ]
}

fn spec() -> impl Strategy<Value = TensorSpec> {
    (vec(0..9_i32, 0..4), 0..ScalarType::ALL.len(), any::<bool>()).prop_map(|(sizes, scalar_type, reversed)| {
        let mut spec = TensorSpec::contiguous(ScalarType::ALL[scalar_type], sizes);
        if reversed {
            spec.dim_order.reverse();
        }
        spec
    })
}

fn graph() -> impl Strategy<Value = Graph> {
    let node = (any::<String>(), spec(), vec(argument(4), 0..4), 0..3_u32);
    (vec((any::<String>(), spec()), 5), vec(node, 0..8)).prop_map(|(first, nodes)| {
        let mut graph = Graph::default();
        for (index, (name, spec)) in first.iter().enumerate() {
            let (qualified_name, data) = (name.clone(), ConstantData::new(vec![0_u8; 4]));
            let constant = ValueKind::Constant { qualified_name, data };
            let kind = if index % 2 == 0 { ValueKind::Input } else { constant };
            graph.add_value(name, spec.clone(), kind);
        }
        graph.inputs = vec![ValueId(4), ValueId(0)]; // value 2 is an input that nobody gives
        for (name, spec, arguments, count) in nodes {
            let operator = OperatorName::aten("any", "overload");
            let outputs = (0..count).map(|_| graph.add_value(&name, spec.clone(), ValueKind::Computed)).collect();
            graph.nodes.push(Node { operator, arguments, outputs });
        }
        graph.outputs = (0..graph.values.len() as u32).step_by(3).map(ValueId).collect();
        graph
    })
}

proptest! {
    #[test]
    fn every_program_parses_back(graphs in proptest::collection::btree_map(any::<String>(), graph(), 0..3)) {
        let program = Program { methods: graphs };
        let text = print("edge", &program);
        prop_assert_eq!(parse(&text, &mut zeros), Ok(("edge".to_owned(), program)));
    }

    #[test]
    fn no_change_of_a_text_makes_the_parser_panic(
        changes in vec((any::<prop::sample::Index>(), "[ -~\n]{0,3}", 0..4_usize), 1..6),
    ) {
        let mut text = PLANNED.as_bytes().to_vec();
        for (place, new, removed) in changes {
            let start = place.index(text.len());
            let end = text.len().min(start + removed);
            text.splice(start..end, new.bytes());
        }
        let text = String::from_utf8(text).unwrap();
        let _ = parse_plan(&text, &mut zeros);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>()) {
        let _ = parse(&format!("etbuild-ir 1 edge\nmethod m\n{text}"), &mut zeros);
    }
}
