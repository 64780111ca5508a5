//! The digits model in every scheme: accuracy, and the structure of the quantized program.
#![allow(clippy::disallowed_methods, reason = "tests read files")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_ir::{Graph, LoweredProgram, interpret};
use etbuild_pass::Runtime;
use etbuild_quantize::{
    Data, InMemory, Layer, Observer, Options, QuantizeError, Scheme, Tensors, compare, quantize, right_answers,
};
use safetensors::{Dtype, SafeTensors};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/digits").join(name)
}

fn digits() -> LoweredProgram {
    let bytes = std::fs::read(file("digits.pt2")).unwrap();
    etbuild_pass::lower(etbuild_import::import_pt2(Arc::new(bytes)).unwrap(), Runtime::Etbuild).unwrap()
}

fn tensors(name: &str) -> Tensors {
    let bytes = std::fs::read(file(name)).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let owned = |view: safetensors::tensor::TensorView<'_>| OwnedTensor {
        scalar_type: if view.dtype() == Dtype::F32 { ScalarType::Float } else { ScalarType::Long },
        sizes: view.shape().iter().map(|size| i32::try_from(*size).unwrap()).collect(),
        bytes: view.data().to_vec(),
    };
    tensors.iter().map(|(name, view)| (name.to_owned(), owned(view))).collect()
}

fn forward(program: &LoweredProgram) -> &Graph {
    &program.program().methods["forward"]
}

fn quantized(options: &Options) -> LoweredProgram {
    quantize(digits(), options, Data::samples(Some(&tensors("calibration.safetensors"))), &InMemory).unwrap()
}

/// The number of test images that a program classifies correctly.
fn right(program: &LoweredProgram) -> usize {
    let test = tensors("test.safetensors");
    let images = test["x"].bytes.chunks_exact(64 * 4);
    let labels = test["labels"].bytes.as_chunks::<8>().0.iter().map(|label| i64::from_le_bytes(*label) as usize);
    let read = |image: &[u8]| {
        let input = OwnedTensor { scalar_type: ScalarType::Float, sizes: vec![1, 1, 8, 8], bytes: image.to_vec() };
        let outputs = interpret(forward(program), &BTreeMap::from([("x".to_owned(), input)])).unwrap();
        let logits = outputs[0].bytes.as_chunks::<4>().0.iter().map(|logit| f32::from_le_bytes(*logit));
        logits.enumerate().max_by(|left, right| left.1.total_cmp(&right.1)).unwrap().0
    };
    images.zip(labels).filter(|(image, label)| read(image) == *label).count()
}

fn operators(program: &LoweredProgram) -> Vec<&str> {
    forward(program).nodes.iter().map(|node| node.operator.name()).collect()
}

/// The float model classifies 357 of 360 images correctly; half a percentage point is 1.8 images.
#[test]
fn at_most_half_a_point_of_accuracy_is_lost() {
    assert_eq!(right(&digits()), 357);
    let schemes =
        [Scheme::Int8, Scheme::DynamicInt8, Scheme::Int8Weights, Scheme::Int4Weights, Scheme::Dynamic8Weight4];
    for scheme in schemes {
        let found = right(&quantized(&Options::new(scheme)));
        assert!(found >= 356, "{scheme:?}: {found}");
    }
    for observer in [Observer::Percentile { kept_per_million: 999_900 }, Observer::MeanSquare] {
        let found = right(&quantized(&Options { observer, ..Options::new(Scheme::Int8) }));
        assert!(found >= 356, "{observer:?}: {found}");
    }
}

#[test]
fn correct_predictions_are_counted_by_label() {
    let (program, mut test) = (digits(), tensors("test.safetensors"));
    let labels: Vec<i64> =
        test["labels"].bytes.as_chunks::<8>().0.iter().map(|label| i64::from_le_bytes(*label)).collect();
    assert_eq!(right_answers(forward(&program), &test, &labels), Ok(357));
    assert_eq!(right_answers(forward(&program), &test, &vec![-1; labels.len()]), Ok(0));
    let few = right_answers(forward(&program), &test, &labels[1..]);
    assert_eq!(few, Err(QuantizeError::OtherLabels { found: 359, wanted: 360 }));
    test.remove("x");
    assert!(matches!(right_answers(forward(&program), &test, &labels), Err(QuantizeError::MissingInput { .. })));
}

#[test]
fn the_static_scheme_quantizes_every_tensor_between_layers() {
    let program = quantized(&Options::new(Scheme::Int8));
    let (pair, weight) = (["quantize_per_tensor", "dequantize_per_tensor"], "dequantize_per_channel");
    let block = [weight, "convolution", "relu", pair[0], pair[1], "max_pool2d_with_indices", pair[0], pair[1]];
    let tail = ["view_copy", pair[0], pair[1], weight, "linear"];
    let wanted: Vec<&str> = pair.into_iter().chain(block).chain(block).chain(tail).collect();
    assert_eq!(operators(&program), wanted);
}

#[test]
fn float_weights_are_removed() {
    let mut floats = 0;
    let program = quantized(&Options::new(Scheme::Int8));
    for (id, value) in forward(&program).values_with_ids() {
        let is_float = value.spec.scalar_type == ScalarType::Float && value.spec.rank() > 1;
        floats += usize::from(is_float && forward(&program).constant(id).is_some());
    }
    assert_eq!(floats, 0);
}

#[test]
fn the_result_does_not_depend_on_the_order_of_samples() {
    let forwards = tensors("calibration.safetensors");
    let mut backwards = forwards.clone();
    let images = &mut backwards.get_mut("x").unwrap().bytes;
    *images = forwards["x"].bytes.chunks_exact(256).rev().flatten().copied().collect();
    for observer in [Observer::MinMax, Observer::MeanSquare] {
        let options = Options { observer, ..Options::new(Scheme::Int8) };
        let [left, right] = [&forwards, &backwards]
            .map(|samples| quantize(digits(), &options, Data::samples(Some(samples)), &InMemory).unwrap());
        assert_eq!(left, right);
    }
}

fn layer(name: Option<&str>, operator: Option<&str>, scheme: Scheme) -> Layer {
    Layer { name: name.map(str::to_owned), operator: operator.map(str::to_owned), scheme }
}

#[test]
fn exceptions_match_by_name_and_by_operator() {
    let with = |layers| quantized(&Options { layers, ..Options::new(Scheme::Int8) });
    let dequantized = |program: &LoweredProgram| {
        operators(program).into_iter().filter(|name| *name == "dequantize_per_channel").count()
    };
    assert_eq!(dequantized(&with(vec![layer(None, Some("convolution"), Scheme::Float)])), 1);
    assert_eq!(dequantized(&with(vec![layer(Some("*"), None, Scheme::Float)])), 0);
    let all_but_linear = vec![layer(Some("*"), None, Scheme::Float), layer(None, Some("linear"), Scheme::DynamicInt8)];
    assert_eq!(dequantized(&with(all_but_linear)), 1);
}

#[test]
fn unfit_data_and_unmatched_exceptions_are_errors() {
    let (options, samples) = (Options::new(Scheme::Int8), tensors("calibration.safetensors"));
    let refused =
        |options: &Options, samples| quantize(digits(), options, Data::samples(samples), &InMemory).unwrap_err();
    assert_eq!(refused(&options, None), QuantizeError::NoSamples { method: "forward".into() });
    let renamed = Tensors::from([("y".to_owned(), samples["x"].clone())]);
    let missing = QuantizeError::MissingInput { name: "x".into(), found: vec!["y".into()] };
    assert_eq!(refused(&options, Some(&renamed)), missing);
    let mut turned = samples.clone();
    turned.get_mut("x").unwrap().sizes = vec![64, 64];
    assert!(matches!(refused(&options, Some(&turned)), QuantizeError::OtherShape { .. }));
    let layers = vec![layer(Some("encoder.*"), None, Scheme::Float)];
    let unmatched = refused(&Options { layers, ..options }, Some(&samples));
    assert!(matches!(unmatched, QuantizeError::Unmatched { layer: 0, .. }), "{unmatched:?}");
}

#[test]
fn losses_are_listed_worst_first() {
    let (float, samples) = (digits(), tensors("calibration.safetensors"));
    let program = quantized(&Options::new(Scheme::Int8));
    let losses = compare(forward(&float), forward(&program), &samples).unwrap();
    assert!(losses.is_sorted_by(|left, right| left.sqnr <= right.sqnr));
    assert!(losses.iter().all(|loss| loss.sqnr > 25.0), "{losses:?}");
    assert!(losses.iter().filter(|loss| loss.quantized).count() >= 6, "{losses:?}");
    assert_eq!(compare(forward(&float), forward(&float), &samples).unwrap(), []);
}
