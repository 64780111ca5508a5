//! Networks for boards.

use etbuild_ir::{Argument, LoweredProgram};

use super::{Cell, Form, Net, PLAIN, Quantized, Shape};

/// The keyword spotting network of MLPerf Tiny: a DS-CNN on 49 times 10 features.
pub fn keyword_spotting(form: Form) -> LoweredProgram {
    let mut net = Net::new(1);
    net.int4 = form == Form::Int4;
    let input = net.input(&[1, 1, 49, 10]);
    let mut at = net.quantized_input(form, input);
    let first = Shape { kernel: [10, 4], stride: 2, pad: [5, 1], ..PLAIN };
    at = net.activated(at, 64, first);
    for _ in 0..4 {
        let depthwise = Shape { kernel: [3, 3], pad: [1, 1], groups: 64, ..PLAIN };
        at = net.activated(at, 64, depthwise);
        at = net.activated(at, 64, PLAIN);
    }
    let real = net.dequantize(at);
    let arguments = vec![Argument::Value(real), Argument::Ints(vec![2, 3]), Argument::Bool(false), Argument::None];
    let means = net.node("aten.mean.dim", &[1, 64], arguments);
    let means = net.quantize_like(at, means, 0.006, -128);
    let scores = net.linear(means, 12);
    net.program(&[scores])
}

/// An LSTM and a bidirectional GRU on 49 times 10 features.
pub fn recurrent() -> LoweredProgram {
    let mut net = Net::new(3);
    let input = net.input(&[1, 49, 10]);
    let mut at = net.quantize(input, 1.0 / 120.0, 3);
    let real = net.recurrent(at, Cell::Lstm, 32, false);
    at = net.quantize(real, 1.0 / 128.0, 0);
    let real = net.recurrent(at, Cell::Gru, 21, true);
    at = net.quantize(real, 1.0 / 128.0, 0);
    let real = net.dequantize(at);
    net.program(&[real])
}

/// A network whose channels, pixels and products fill no vector: depthwise convolutions with an odd number of taps, with and without
/// whole groups of channels, one with three results for each channel, a convolution in four groups, and a sum with a convolution.
pub fn odd_sizes(form: Form) -> LoweredProgram {
    let mut net = Net::new(2);
    net.int4 = form == Form::Int4;
    let input = net.input(&[1, 3, 9, 7]);
    let dense = Shape { kernel: [3, 3], pad: [1, 1], ..PLAIN };
    let mut at = net.quantized_input(form, input);
    at = net.activated(at, 10, dense);
    at = net.activated(at, 10, Shape { groups: 10, ..dense });
    at = net.activated(at, 30, Shape { groups: 10, ..dense });
    at = net.activated(at, 20, PLAIN);
    at = net.activated(at, 20, Shape { groups: 4, ..dense });
    at = net.activated(at, 20, Shape { kernel: [5, 3], pad: [2, 1], groups: 20, ..PLAIN });
    let second = net.convolution(at, 20, dense);
    let second = net.quantize_like(at, second, 0.012, 5);
    let (left, right) = (net.dequantize(second), net.dequantize(at));
    let sizes = net.sizes(left);
    let arguments = [left, right].map(Argument::Value).into_iter().chain([Argument::Int(1)]).collect();
    let sum = net.node("aten.add.Tensor", &sizes, arguments);
    at = net.quantize_like(at, sum, 0.02, -4);
    at = net.activated(at, 7, Shape { stride: 2, ..dense });
    let real = net.dequantize(at);
    net.program(&[real])
}

const DENSE: Shape = Shape { kernel: [3, 3], pad: [1, 1], ..PLAIN };

/// Convolutions with strides and padding, depthwise and dense, as in MobileNet; nothing is as large as the first images.
pub fn separable(form: Form) -> LoweredProgram {
    let mut net = Net::new(5);
    net.int4 = form == Form::Int4;
    let input = net.input(&[1, 1, 33, 31]);
    let mut at = net.quantized_input(form, input);
    at = net.activated(at, 8, DENSE);
    at = net.activated(at, 8, Shape { groups: 8, ..DENSE });
    at = net.activated(at, 20, Shape { stride: 2, ..PLAIN });
    at = net.activated(at, 20, Shape { kernel: [5, 3], pad: [2, 1], stride: 2, groups: 20, ..PLAIN });
    at = net.activated(at, 24, Shape { kernel: [3, 3], pad: [2, 2], dilation: 2, ..PLAIN });
    at = net.activated(at, 6, Shape { stride: 2, ..DENSE });
    let real = net.dequantize(at);
    net.program(&[real])
}

fn sum(net: &mut Net, left: Quantized, right: Quantized) -> Quantized {
    let operands = [left, right].map(|one| net.dequantize(one));
    let sizes = net.sizes(operands[0]);
    let arguments = operands.map(Argument::Value).into_iter().chain([Argument::Int(1)]).collect();
    let sum = net.node("aten.add.Tensor", &sizes, arguments);
    net.quantize_like(left, sum, 0.02, -4)
}

/// Blocks with sums, which lie in the memory of an addend, as in ResNet, between a large image and small ones.
pub fn residual(form: Form) -> LoweredProgram {
    let mut net = Net::new(7);
    net.int4 = form == Form::Int4;
    let input = net.input(&[1, 2, 26, 19]);
    let mut at = net.quantized_input(form, input);
    at = net.activated(at, 16, DENSE);
    let inner = net.activated(at, 12, DENSE);
    let inner = net.activated(inner, 16, DENSE);
    at = sum(&mut net, inner, at);
    let other = net.activated(at, 16, PLAIN);
    at = sum(&mut net, at, other);
    at = net.activated(at, 8, Shape { kernel: [4, 4], stride: 4, ..PLAIN });
    let real = net.dequantize(at);
    net.program(&[real])
}
