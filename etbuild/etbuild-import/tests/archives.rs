//! Archives as torch writes them.
#![allow(clippy::disallowed_methods, reason = "tests read files")]

use std::path::Path;
use std::sync::Arc;

use etbuild_import::{ImportError, import_pt2};
use etbuild_ir::{Argument, Graph, ValueKind};

fn archive(name: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = if name == "digits" { root.join("../../examples/digits") } else { root.join("tests/data") };
    std::fs::read(folder.join(format!("{name}.pt2"))).unwrap()
}

fn import(bytes: Vec<u8>) -> Result<Graph, Vec<ImportError>> {
    import_pt2(Arc::new(bytes)).map(|program| program.program().methods["forward"].clone())
}

fn operators(graph: &Graph) -> Vec<String> {
    graph.nodes.iter().map(|node| node.operator.to_string()).collect()
}

#[test]
fn digits_has_the_layers_of_its_source() {
    let graph = import(archive("digits")).unwrap();
    let block = ["aten.conv2d.default", "aten.batch_norm.default", "aten.relu.default", "aten.max_pool2d.default"];
    let tail = ["aten.flatten.using_ints", "aten.dropout.default", "aten.linear.default"];
    assert_eq!(operators(&graph), [&block[..], &block[..], &tail[..]].concat());
    assert_eq!(graph.inputs.iter().map(|id| &graph.value(*id).name[..]).collect::<Vec<_>>(), ["x"]);
    assert_eq!(graph.spec(graph.outputs[0]).sizes, [1, 10]);
}

#[test]
fn arguments_are_complete_and_in_schema_order() {
    let graph = import(archive("digits")).unwrap();
    let convolution = &graph.nodes[0].arguments;
    assert_eq!(convolution.len(), 7);
    assert_eq!(convolution[5..], [Argument::Ints(vec![1, 1]), Argument::Int(1)]);
    assert_eq!(graph.nodes[3].arguments[4..], [Argument::Ints(vec![1, 1]), Argument::Bool(false)]);
}

#[test]
fn constants_are_parts_of_the_archive_with_the_names_of_the_source() {
    let bytes: Arc<Vec<u8>> = Arc::new(archive("digits"));
    let program = import_pt2(bytes.clone()).unwrap();
    let graph = &program.program().methods["forward"];
    let mut names = Vec::new();
    for value in &graph.values {
        let ValueKind::Constant { qualified_name, data } = &value.kind else { continue };
        names.push(qualified_name.as_str());
        assert!(bytes.as_ptr_range().contains(&data.bytes().as_ptr()), "{qualified_name} was copied");
    }
    assert_eq!(names.len(), 14, "the counters of batches are not read by any node: {names:?}");
    assert!(names.contains(&"conv1.weight") && names.contains(&"norm2.running_var"));
}

#[test]
fn nodes_have_the_module_of_the_source() {
    let graph = import(archive("digits")).unwrap();
    assert_eq!(graph.origins.get(graph.nodes[0].outputs[0]).map(|origin| &**origin), Some("conv1"));
    assert_eq!(graph.origins.get(graph.nodes[2].outputs[0]), None, "relu is called by the model itself");
}

#[test]
fn every_archive_is_imported_without_writes() {
    for name in ["attention", "digits_core", "elementwise", "shapes"] {
        let graph = import(archive(name)).unwrap();
        assert!(!graph.outputs.is_empty(), "{name}");
    }
}

#[test]
fn a_write_through_a_slice_reaches_the_sliced_tensor() {
    let graph = import(archive("elementwise")).unwrap();
    let scatter = graph.nodes.iter().find(|node| node.operator.name() == "slice_scatter").unwrap();
    let clamp = graph.nodes.iter().find(|node| node.operator.name() == "clamp").unwrap();
    assert_eq!(clamp.arguments[0], Argument::Value(scatter.outputs[0]));
}
