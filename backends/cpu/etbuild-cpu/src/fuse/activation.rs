//! An activation becomes a part of the epilogue of the GEMM, convolution or transposed convolution before it.

use et_cpu::{Activation, ActivationKind, Elementwise, Instruction, Rows, Term, Write};
use et_kernels::elementwise::Operation;

use super::Change;
use super::legal::{Dense, absorbed};
use crate::program::Program;

/// The activation of an epilogue without activation and limits.
pub const UNLIMITED: Activation = Activation::clamp(f32::NEG_INFINITY, f32::INFINITY);

/// Fuses the producer of an activation.
pub fn find(program: &mut Program<'_>, consumer: usize) -> Option<Change> {
    let Instruction::Elementwise(chain) = program.instruction(consumer)? else { return None };
    let (operation, numbers) = function(&chain)?;
    let read = Dense::of_stream(&chain, &chain.streams[0])?;
    let (producer, mut instruction) = absorbed(program, consumer, read)?;
    let own = match &mut instruction {
        Instruction::Conv2d(gemm) if !gemm.epilogue.residual_last => {
            gemm.output = Write(Rows { place: *chain.output, ..*gemm.output });
            &mut gemm.epilogue.activation
        }
        Instruction::Depthwise(depthwise) if is_of_depthwise(operation) => {
            depthwise.output = chain.output;
            &mut depthwise.activation
        }
        Instruction::Col2im(sums) => {
            sums.output = chain.output;
            &mut sums.activation
        }
        _ => return None,
    };
    *own = followed_by(*own, operation, &numbers)?;
    Some(Change::fuse(producer, instruction))
}

/// The function of one f32 tensor that a chain computes, with numbers behind the tensor.
fn function(chain: &Elementwise) -> Option<(Operation, Vec<f32>)> {
    let step = chain.steps[0];
    let is_float = !chain.qparams.is_int8() && !chain.streams[0].qparams.is_int8();
    let is_function = [chain.stream_count, chain.step_count] == [1, 1] && step.terms[0] == Term::register(0);
    let numbers = step.terms[1..].iter().take_while(|term| term.kind == 1).map(|term| f32::from_bits(term.bits));
    (is_float && is_function).then(|| (step.operation.0, numbers.collect()))
}

/// Whether the epilogue of depthwise convolution kernels has this activation.
const fn is_of_depthwise(operation: Operation) -> bool {
    matches!(operation, Operation::Relu | Operation::Clamp | Operation::Hardswish)
}

/// The activation equal to `own` followed by an operator; `None` where the epilogue has no such activation.
fn followed_by(own: Activation, operation: Operation, numbers: &[f32]) -> Option<Activation> {
    let limits = |low: f32, high: f32| {
        let is_identity = own.kind == ActivationKind::Identity;
        is_identity.then(|| Activation::clamp(own.low.max(low).min(high), own.high.min(high).max(low)))
    };
    let kind = match (operation, numbers) {
        (Operation::Clamp, [low, high]) => return limits(*low, *high),
        (Operation::Relu, []) => return limits(0.0, f32::INFINITY),
        (Operation::Hardswish, []) => ActivationKind::Hardswish,
        (Operation::Hardsigmoid, []) => ActivationKind::Hardsigmoid,
        (Operation::Silu, []) => ActivationKind::Silu,
        (Operation::Gelu, []) => ActivationKind::Gelu,
        (Operation::GeluTanh, []) => ActivationKind::GeluTanh,
        (Operation::Sigmoid, []) => ActivationKind::Sigmoid,
        _ => return None,
    };
    (own == UNLIMITED).then(|| Activation::of(kind))
}
