//! From archives to lowered programs: results must equal the results that PyTorch recorded.
#![allow(clippy::disallowed_methods, reason = "tests read files")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_import::import_pt2;
use etbuild_ir::{Graph, LoweredProgram, interpret};
use etbuild_pass::{Runtime, lower};
use safetensors::{Dtype, SafeTensors};

const TOLERANCE: f64 = 1e-4;

fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(relative)
}

fn edge(archive: &str) -> LoweredProgram {
    edge_for(archive, Runtime::Etbuild)
}

fn edge_for(archive: &str, runtime: Runtime) -> LoweredProgram {
    let program = import_pt2(Arc::new(std::fs::read(path(archive)).unwrap())).unwrap();
    lower(program, runtime).unwrap_or_else(|error| panic!("{error}"))
}

/// The number of calls of each operator.
fn operators(program: &LoweredProgram) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    forward(program).nodes.iter().for_each(|node| *counts.entry(node.operator.name()).or_default() += 1);
    counts
}

fn forward(program: &LoweredProgram) -> &Graph {
    &program.program().methods["forward"]
}

fn tensors(file: &str) -> BTreeMap<String, OwnedTensor> {
    let bytes = std::fs::read(path(file)).unwrap();
    let read = SafeTensors::deserialize(&bytes).unwrap();
    read.iter().map(|(name, view)| (name.to_owned(), owned(view.dtype(), view.shape(), view.data()))).collect()
}

fn owned(dtype: Dtype, shape: &[usize], data: &[u8]) -> OwnedTensor {
    let scalar_type = match dtype {
        Dtype::F32 => ScalarType::Float,
        Dtype::I64 => ScalarType::Long,
        Dtype::BOOL => ScalarType::Bool,
        other => panic!("no test has {other:?}"),
    };
    OwnedTensor { scalar_type, sizes: shape.iter().map(|size| *size as i32).collect(), bytes: data.to_vec() }
}

fn numbers(tensor: &OwnedTensor) -> Vec<f64> {
    match tensor.scalar_type {
        ScalarType::Float => {
            tensor.bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()).into()).collect()
        }
        ScalarType::Long => {
            tensor.bytes.chunks_exact(8).map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap()) as f64).collect()
        }
        _ => tensor.bytes.iter().map(|byte| f64::from(*byte)).collect(),
    }
}

fn assert_close(name: &str, got: &OwnedTensor, want: &OwnedTensor) {
    assert_eq!((got.scalar_type, &got.sizes), (want.scalar_type, &want.sizes), "{name}");
    for (index, (got, want)) in numbers(got).iter().zip(numbers(want)).enumerate() {
        assert!((got - want).abs() <= TOLERANCE * want.abs().max(1.0), "{name}[{index}]: {got}, PyTorch has {want}");
    }
}

fn assert_matches_recording(name: &str) {
    let folder = "etbuild/etbuild-import/tests/data";
    let recorded = tensors(&format!("{folder}/{name}.outputs.safetensors"));
    for runtime in [Runtime::Etbuild, Runtime::Executorch] {
        let program = edge_for(&format!("{folder}/{name}.pt2"), runtime);
        let outputs = interpret(forward(&program), &tensors(&format!("{folder}/{name}.inputs.safetensors"))).unwrap();
        assert_eq!(outputs.len(), recorded.len());
        for (index, got) in outputs.iter().enumerate() {
            let name = format!("output_{index}");
            assert_close(&format!("{name} for {}", runtime.name()), got, &recorded[&name]);
        }
    }
}

#[test]
fn elementwise_with_writes_through_views() {
    assert_matches_recording("elementwise");
}

#[test]
fn shapes_and_reductions() {
    assert_matches_recording("shapes");
}

#[test]
fn attention_and_layer_norm() {
    assert_matches_recording("attention");
}

#[test]
fn writes_seen_through_views() {
    assert_matches_recording("writes");
}

#[test]
fn convolutions_poolings_and_activations() {
    assert_matches_recording("images");
}

#[test]
fn embeddings_and_masked_attention() {
    assert_matches_recording("language");
}

#[test]
fn recurrent_layers_shared_heads_and_normalizations() {
    assert_matches_recording("layers");
}

#[test]
fn an_encoder_whose_first_token_is_read() {
    assert_matches_recording("first_token");
}

#[test]
fn only_the_tokens_that_are_read_are_computed() {
    let program = edge("etbuild/etbuild-import/tests/data/first_token.pt2");
    let rows = |operator: &str| -> Vec<usize> {
        let graph = forward(&program);
        let nodes = graph.nodes.iter().filter(|node| node.operator.name() == operator);
        let sizes = nodes.map(|node| &graph.spec(node.outputs[0]).sizes);
        sizes.map(|sizes| sizes[..sizes.len() - 1].iter().product::<i32>() as usize).collect()
    };
    // Key and value projections of all five tokens; two positions in the layer; then the first token alone.
    assert_eq!(rows("linear"), [5, 1, 2, 1, 1, 1]);
    assert_eq!((rows("layer_norm"), rows("gelu"), rows("_softmax")), (vec![5, 1, 1], vec![1], vec![2]));
    assert_eq!(rows("scaled_dot_product_attention"), [2]);
}

#[test]
fn layers_stay_whole_for_our_runtime_only() {
    let archive = "etbuild/etbuild-import/tests/data/layers.pt2";
    let whole =
        ["group_norm", "gru", "layer_norm", "lstm", "rms_norm", "rnn_relu", "rnn_tanh", "scaled_dot_product_attention"];
    let (ours, upstreams) = (edge(archive), edge_for(archive, Runtime::Executorch));
    let counts = operators(&ours);
    assert_eq!(whole.map(|name| counts.get(name).copied()), [1, 2, 1, 2, 1, 1, 1, 2].map(Some), "{counts:?}");
    assert!(!counts.contains_key("_softmax") && !counts.contains_key("sigmoid"), "{counts:?}");
    let counts = operators(&upstreams);
    assert!(whole.iter().all(|name| !counts.contains_key(name)), "{counts:?}");
    assert_eq!(counts["native_layer_norm"], 1);
}

#[test]
fn a_decomposed_archive_on_its_images() {
    let folder = "etbuild/etbuild-import/tests/data/digits_core";
    let recorded = tensors(&format!("{folder}.outputs.safetensors"));
    let images = tensors(&format!("{folder}.inputs.safetensors"));
    assert_logits(&edge(&format!("{folder}.pt2")), &images["x"], &recorded["output_0"]);
}

#[test]
fn digits_on_its_test_images() {
    let recorded = tensors("examples/digits/test.safetensors");
    assert_logits(&edge("examples/digits/digits.pt2"), &recorded["x"], &recorded["output_0"]);
}

/// Runs the program, which takes a batch of a single image, on each image.
fn assert_logits(program: &LoweredProgram, images: &OwnedTensor, logits: &OwnedTensor) {
    for index in 0..images.sizes[0] as usize {
        let inputs = BTreeMap::from([("x".to_owned(), nth(images, index))]);
        let outputs = interpret(forward(program), &inputs).unwrap();
        assert_close("logits", &outputs[0], &nth(logits, index));
    }
}

/// An element of the outermost dimension, with that dimension kept at size 1.
fn nth(tensor: &OwnedTensor, index: usize) -> OwnedTensor {
    let each = tensor.bytes.len() / tensor.sizes[0] as usize;
    let sizes = std::iter::once(1).chain(tensor.sizes[1..].iter().copied()).collect();
    OwnedTensor { sizes, bytes: tensor.bytes[index * each..][..each].to_vec(), ..tensor.clone() }
}

#[test]
fn digits_is_two_convolutions_and_a_linear_layer() {
    for (runtime, layer) in [(Runtime::Etbuild, "linear"), (Runtime::Executorch, "addmm")] {
        let program = edge_for("examples/digits/digits.pt2", runtime);
        let operators: Vec<_> = forward(&program).nodes.iter().map(|node| node.operator.name()).collect();
        let block = ["convolution", "relu", "max_pool2d_with_indices"];
        assert_eq!(operators, [&block[..], &block[..], &["view_copy", layer]].concat());
        assert_eq!(forward(&program).values.len(), 17);
    }
}
