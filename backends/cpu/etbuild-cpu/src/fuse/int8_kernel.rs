//! A depthwise convolution or a mean between dequantization and quantization becomes int8: these kernels have int8 inputs where
//! the outputs are int8 too.

use et_cpu::{ActivationKind, Depthwise, Instruction, Mean, Place, SlotNumber, Stream};
use etbuild_weights::reals;

use super::Change;
use super::legal::{Dense, absorbed, converted, recomputed};
use crate::channels::{self, accumulator_scales, int32_bias};
use crate::program::{Program, Storage};
use crate::tensor::Buffer;

/// Fuses dequantization, kernel and quantization.
pub fn find(program: &mut Program<'_>, consumer: usize) -> Option<Change> {
    let (to, stream) = converted(&program.instruction(consumer)?, [false, true])?;
    let (producer, instruction) = absorbed(program, consumer, Dense::of_stream(&to, &stream)?)?;
    let int8: Instruction = match instruction {
        Instruction::Mean(mean) if !mean.from.is_int8() => {
            let count = mean.sizes.iter().map(|size| *size as usize).product();
            let from = dequantized(program, producer, mean.input, count)?;
            Mean { input: from.place, from: from.qparams, output: to.output, to: to.qparams, ..mean }.into()
        }
        Instruction::Depthwise(depthwise) if !depthwise.input_qparams.is_int8() => {
            let [height, width, channels] = depthwise.window.input.map(|size| size as usize);
            let count = depthwise.window.batch as usize * height * width * channels;
            let from = dequantized(program, producer, depthwise.input, count)?;
            let int8 = Depthwise { input: from.place, input_qparams: from.qparams, ..depthwise };
            quantized(program, Depthwise { output: to.output, output_qparams: to.qparams, ..int8 })?.into()
        }
        _ => return None,
    };
    Some(Change::fuse(producer, int8))
}

/// The int8 operand of the dequantization that computes an operand.
fn dequantized(program: &Program<'_>, consumer: usize, place: Place, count: usize) -> Option<Stream> {
    let (_, instruction) = recomputed(program, consumer, Dense::floats(place, count))?;
    let (chain, stream) = converted(&instruction, [true, false])?;
    Dense::of_stream(&chain, &stream).map(|_| stream)
}

/// The depthwise convolution with int8 weights. Where clamp limits alone follow the accumulators, the scales include the output scale.
fn quantized(program: &mut Program<'_>, depthwise: Depthwise) -> Option<Depthwise> {
    let Depthwise { window, activation, output_qparams, .. } = depthwise;
    let int8 = program.int8_weights.get(&Buffer(depthwise.weights.0))?.clone();
    let bias = constant(program, depthwise.bias)?;
    let mut scales = accumulator_scales(&int8, depthwise.input_qparams);
    let bias = int32_bias(&bias, &scales);
    if activation.kind == ActivationKind::Identity {
        scales.iter_mut().for_each(|scale| *scale /= output_qparams.scale);
    }
    let weights = channels::depthwise(int8.bytes.bytes(), 1, &window).ok()?;
    Some(Depthwise {
        weights: program.constant(weights),
        bias: program.constant(bias.iter().flat_map(|number| number.to_le_bytes()).collect()),
        scales: program.constant(reals::stored(&scales)),
        ..depthwise
    })
}

/// The elements of an f32 constant.
fn constant(program: &Program<'_>, slot: SlotNumber) -> Option<Vec<f32>> {
    match &program.memory(slot)?.storage {
        Storage::Model(data) => Some(reals::floats(data.bytes())),
        Storage::Made(bytes) => Some(reals::floats(bytes)),
        _ => None,
    }
}
