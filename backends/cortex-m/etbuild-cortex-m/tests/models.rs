//! Quantized networks: the backend against the portable kernels, which compute in float32 between quantization and dequantization.

mod net;

use et_core::ScalarType;
use etbuild_backend::TargetFacts;
use etbuild_conformance::{compile, load, run};
use etbuild_ir::{Argument, LoweredProgram, Node, OperatorName, TensorSpec, ValueId, ValueKind};
use net::{Form, Net, PLAIN, Quantized, ROWS, Shape, candidate, random_inputs};

/// The outputs of a program on a target; every node must be on the backend or, on another target, on portable kernels.
fn outputs(program: LoweredProgram, inputs: &[Vec<u8>], features: &[&str], delegates: bool) -> Vec<Vec<u8>> {
    let features = features.iter().map(|feature| (*feature).to_owned()).collect();
    let target =
        TargetFacts { architecture: "thumb".to_owned(), features, hosted: !delegates, ..TargetFacts::default() };
    let candidate = candidate(&target);
    let compiled = compile(program, &candidate).unwrap();
    let refused: Vec<_> = compiled.partitioned.report.iter().filter(|node| !node.refusals.is_empty()).collect();
    assert_eq!(refused.is_empty(), delegates, "{refused:?}");
    let outputs = run(&mut load(&compiled.file, &candidate).unwrap(), inputs).unwrap();
    outputs.into_iter().map(|output| output.bytes).collect()
}

/// Whether int8 outputs differ by at most a step from the portable kernels, and few differ at all; all rows are equal.
fn compare(make: impl Fn() -> (LoweredProgram, Vec<Vec<u8>>)) {
    let (program, inputs) = make();
    let expected = outputs(program, &inputs, &[], false);
    let (program, inputs) = make();
    let plain = outputs(program, &inputs, &[], true);
    for row in ROWS {
        let (program, inputs) = make();
        assert_eq!(plain, outputs(program, &inputs, &[row], true), "{row}");
    }
    let (mut count, mut differ) = (0, 0);
    for (expected, got) in expected.iter().flatten().zip(plain.iter().flatten()) {
        let distance = i32::from(expected.cast_signed()) - i32::from(got.cast_signed());
        assert!(distance.abs() <= 1, "{} {}", expected.cast_signed(), got.cast_signed());
        (count, differ) = (count + 1, differ + i32::from(distance != 0));
    }
    assert!(count > 0 && differ * 50 <= count.max(50), "{differ} of {count} differ");
    let constant = expected.iter().all(|output| output.iter().all(|byte| *byte == output[0]));
    assert!(!constant, "the outputs say nothing");
}

/// A network whose only output is the value that `build` makes of a quantized input.
fn check(sizes: &[i32], build: impl Fn(&mut Net, Quantized) -> ValueId) {
    for seed in 1..4 {
        compare(|| {
            let mut net = Net::new(seed);
            let input = net.input(sizes);
            let quantized = net.quantize(input, 1.0 / 120.0, 3);
            let output = build(&mut net, quantized);
            let program = net.program(&[output]);
            let inputs = random_inputs(&program, seed);
            (program, inputs)
        });
    }
}

#[test]
fn convolutions_of_all_shapes() {
    let shapes = [
        (PLAIN, 5, 7),
        (PLAIN, 8, 4),
        (Shape { kernel: [3, 3], pad: [1, 1], ..PLAIN }, 3, 5),
        (Shape { kernel: [3, 2], pad: [0, 1], stride: 2, ..PLAIN }, 4, 6),
        (Shape { kernel: [3, 3], pad: [2, 2], dilation: 2, ..PLAIN }, 2, 3),
        (Shape { kernel: [5, 4], pad: [2, 1], stride: 2, ..PLAIN }, 1, 8),
    ];
    for (shape, inner, channels) in shapes {
        check(&[2, inner, 7, 6], |net, input| {
            let output = net.convolution(input, channels, shape);
            net.quantize(output, 0.012, -7).id
        });
    }
}

#[test]
fn depthwise_convolutions() {
    for (channels, stride, pad) in [(8, 1, 1), (6, 2, 1), (4, 1, 0), (3, 1, 2)] {
        let shape = Shape { kernel: [3, 3], stride, pad: [pad, pad], groups: i64::from(channels), ..PLAIN };
        check(&[1, channels, 9, 5], |net, input| {
            let output = net.convolution(input, channels, shape);
            let output = net.unary("aten.relu.default", output);
            net.quantize(output, 0.012, -128).id
        });
    }
}

/// Groups of several channels, groups of a channel with several results, and both behind the sum of a residual block and before float32.
#[test]
fn grouped_convolutions() {
    for (inner, channels, groups) in [(6, 6, 3), (6, 10, 2), (4, 12, 4), (3, 6, 3)] {
        let shape = Shape { kernel: [3, 3], pad: [1, 1], groups, ..PLAIN };
        check(&[2, inner, 5, 4], |net, input| {
            let output = net.convolution(input, channels, shape);
            let output = net.unary("aten.relu.default", output);
            net.quantize(output, 0.012, -128).id
        });
        check(&[2, inner, 5, 4], |net, input| {
            let first = net.convolution(input, channels, PLAIN);
            let first = net.quantize(first, 0.01, 4);
            let output = net.convolution(input, channels, shape);
            let other = net.dequantize(first);
            let arguments = vec![Argument::Value(output), Argument::Value(other), Argument::Int(1)];
            let sizes = net.sizes(output);
            let sum = net.node("aten.add.Tensor", &sizes, arguments);
            net.quantize(sum, 0.02, -9).id
        });
    }
}

#[test]
fn linear_layers_of_odd_sizes() {
    for (inner, columns) in [(17, 5), (40, 8), (3, 1)] {
        check(&[3, inner], |net, input| {
            let output = net.linear(input, columns);
            let output = net.unary("aten.relu.default", output);
            net.quantize(output, 0.01, -128).id
        });
    }
}

#[test]
fn a_residual_block() {
    check(&[1, 6, 5, 5], |net, input| {
        let shape = Shape { kernel: [3, 3], pad: [1, 1], ..PLAIN };
        let first = net.convolution(input, 6, shape);
        let first = net.unary("aten.relu.default", first);
        let first = net.quantize(first, 0.01, -128);
        let second = net.convolution(first, 6, shape);
        let shortcut = net.dequantize(input);
        let sizes = net.sizes(second);
        let arguments = [shortcut, second].map(Argument::Value).into_iter().chain([Argument::Int(1)]).collect();
        let sum = net.node("aten.add.Tensor", &sizes, arguments);
        let sum = net.unary("aten.relu.default", sum);
        net.quantize(sum, 0.015, -128).id
    });
}

#[test]
fn arithmetic_of_two_tensors() {
    for operator in ["aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor"] {
        check(&[1, 6, 5, 5], |net, input| {
            let other = net.convolution(input, 6, PLAIN);
            let other = net.quantize(other, 0.012, 5);
            let (left, right) = (net.dequantize(input), net.dequantize(other));
            let sizes = net.sizes(left);
            let factor = (operator != "aten.mul.Tensor").then_some(Argument::Int(1));
            let arguments = [left, right].map(Argument::Value).into_iter().chain(factor).collect();
            let result = net.node(operator, &sizes, arguments);
            net.quantize(result, 0.02, -4).id
        });
    }
}

#[test]
fn a_number_for_each_channel_multiplies_an_image() {
    check(&[1, 6, 5, 5], |net, input| {
        let real = net.dequantize(input);
        let axes = Argument::Ints(vec![2, 3]);
        let means = net.node(
            "aten.mean.dim",
            &[1, 6, 1, 1],
            vec![Argument::Value(real), axes, Argument::Bool(true), Argument::None],
        );
        let means = net.quantize(means, 0.003, 10);
        let gates = net.convolution(means, 6, PLAIN);
        let gates = net.quantize(gates, 0.005, 0);
        let gates = net.dequantize(gates);
        let gates = net.unary("aten.sigmoid.default", gates);
        let gates = net.quantize(gates, 1.0 / 256.0, -128);
        let gates = net.dequantize(gates);
        let result = net.node("aten.mul.Tensor", &[1, 6, 5, 5], [gates, real].map(Argument::Value).to_vec());
        net.quantize(result, 0.006, 2).id
    });
}

#[test]
fn pools() {
    check(&[2, 5, 8, 6], |net, input| {
        let real = net.dequantize(input);
        let (two, none, one) = (Argument::Ints(vec![2, 2]), Argument::Ints(vec![0, 0]), Argument::Ints(vec![1, 1]));
        let arguments = vec![Argument::Value(real), two.clone(), two, none, one, Argument::Bool(false)];
        let greatest = net.graph.add_value(
            "greatest",
            TensorSpec::contiguous(ScalarType::Float, [2, 5, 4, 3]),
            ValueKind::Computed,
        );
        let places =
            net.graph.add_value("places", TensorSpec::contiguous(ScalarType::Long, [2, 5, 4, 3]), ValueKind::Computed);
        let operator = OperatorName::parse("aten.max_pool2d_with_indices.default").unwrap();
        net.graph.nodes.push(Node { operator, arguments, outputs: vec![greatest, places] });
        let greatest = net.quantize(greatest, input.scale, input.zero);
        let real = net.dequantize(greatest);
        let (three, one) = (Argument::Ints(vec![3, 3]), Argument::Ints(vec![1, 1]));
        let arguments = vec![
            Argument::Value(real),
            three,
            one.clone(),
            one,
            Argument::Bool(false),
            Argument::Bool(true),
            Argument::None,
        ];
        let averages = net.node("aten.avg_pool2d.default", &[2, 5, 4, 3], arguments);
        net.quantize(averages, input.scale, input.zero).id
    });
}

/// Along each dimension, with the qparams of the result and with others.
#[test]
fn concatenations() {
    for (dimension, sizes) in [(0, [4, 6, 5, 3]), (1, [2, 12, 5, 3]), (-2, [2, 6, 10, 3]), (3, [2, 6, 5, 6])] {
        for (scale, zero) in [(1.0 / 120.0, 3), (0.012, 5)] {
            check(&[2, 6, 5, 3], |net, input| {
                let other = net.convolution(input, 6, PLAIN);
                let other = net.quantize(other, scale, zero);
                let operands = [input, other].map(|operand| net.dequantize(operand));
                let arguments = vec![Argument::values(operands), Argument::Int(dimension)];
                let result = net.node("aten.cat.default", &sizes, arguments);
                net.quantize(result, input.scale, input.zero).id
            });
        }
    }
}

#[test]
fn a_concatenation_of_rows() {
    check(&[3, 7], |net, input| {
        let other = net.linear(input, 4);
        let other = net.quantize(other, input.scale, input.zero);
        let operands = [other, input, other].map(|operand| net.dequantize(operand));
        let result = net.node("aten.cat.default", &[3, 15], vec![Argument::values(operands), Argument::Int(-1)]);
        net.quantize(result, input.scale, input.zero).id
    });
}

#[test]
fn softmax_and_a_view() {
    check(&[2, 3, 2, 2], |net, input| {
        let real = net.dequantize(input);
        let flat =
            net.node("aten.view_copy.default", &[2, 12], vec![Argument::Value(real), Argument::Ints(vec![2, 12])]);
        let flat = net.quantize(flat, input.scale, input.zero);
        let logits = net.linear(flat, 10);
        let logits = net.quantize(logits, 0.02, 0);
        let logits = net.dequantize(logits);
        let softmax = net.node(
            "aten._softmax.default",
            &[2, 10],
            vec![Argument::Value(logits), Argument::Int(-1), Argument::Bool(false)],
        );
        net.quantize(softmax, 1.0 / 256.0, -128).id
    });
}

/// Outputs of several kinds: an image as int8, a dequantized image, and a product in float32.
#[test]
fn results_leave_the_partition_in_row_major_order() {
    let make = || {
        let mut net = Net::new(5);
        let input = net.input(&[1, 4, 5, 3]);
        let input = net.quantize(input, 1.0 / 120.0, 3);
        let shape = Shape { kernel: [3, 3], pad: [1, 1], ..PLAIN };
        let first = net.convolution(input, 6, shape);
        let first = net.quantize(first, 0.01, 4);
        let real = net.dequantize(first);
        let second = net.convolution(first, 3, PLAIN);
        let second = net.unary("aten.relu.default", second);
        let program = net.program(&[first.id, real, second]);
        let inputs = random_inputs(&program, 5);
        (program, inputs)
    };
    let (program, inputs) = make();
    let expected = outputs(program, &inputs, &[], false);
    let (program, inputs) = make();
    let got = outputs(program, &inputs, &["dsp"], true);
    let near = |left: &u8, right: &u8| (i32::from(left.cast_signed()) - i32::from(right.cast_signed())).abs() <= 1;
    assert!(expected[0].iter().zip(&got[0]).all(|(left, right)| near(left, right)));
    let reals =
        |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect::<Vec<_>>();
    for (position, step) in [(1, 0.0101), (2, 0.05)] {
        let (left, right) = (reals(&expected[position]), reals(&got[position]));
        assert!(left.len() == right.len() && left.iter().any(|number| *number > 0.0));
        assert!(left.iter().zip(&right).all(|(left, right)| (left - right).abs() <= step), "{left:?} {right:?}");
    }
}

/// Networks whose last layer writes float32.
#[test]
fn other_widths_compute_what_the_portable_kernels_compute() {
    for (form, limit, is_grouped) in
        [(Form::Int4, 0.02, false), (Form::Int16, 0.001, false), (Form::Int4, 0.02, true), (Form::Int16, 0.001, true)]
    {
        let program = || if is_grouped { in_groups(form) } else { net::keyword_spotting(form) };
        let inputs = random_inputs(&program(), 9);
        let reals = |outputs: Vec<Vec<u8>>| -> Vec<f32> {
            outputs.concat().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        };
        let expected = reals(outputs(program(), &inputs, &[], false));
        let plain = reals(outputs(program(), &inputs, &[], true));
        for row in ROWS {
            assert_eq!(plain, reals(outputs(program(), &inputs, &[row], true)), "{row}");
        }
        let greatest = expected.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        for (expected, got) in expected.iter().zip(&plain) {
            assert!((expected - got).abs() < limit * greatest, "{form:?} {expected} {got}");
        }
    }
}

/// Convolutions in groups whose results are float32: of several channels, and of one.
fn in_groups(form: Form) -> LoweredProgram {
    let mut net = Net::new(4);
    net.int4 = form == Form::Int4;
    let input = net.input(&[1, 6, 7, 5]);
    let at = net.quantized_input(form, input);
    let shape = Shape { kernel: [3, 3], pad: [1, 1], groups: 3, ..PLAIN };
    let outputs = [(9, shape), (6, Shape { groups: 6, ..shape }), (12, Shape { groups: 6, ..shape })];
    let outputs = outputs.map(|(channels, shape)| net.convolution(at, channels, shape));
    net.program(&outputs)
}
