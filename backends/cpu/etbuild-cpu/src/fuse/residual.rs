//! An addition becomes the residual of the GEMM that computes one of the operands.

use et_cpu::{Conv2d, Elementwise, Gemm, Instruction, Rows, Stream, Term, Write};
use et_kernels::elementwise::Operation;

use super::Change;
use super::activation::UNLIMITED;
use super::legal::{Dense, absorbed};
use crate::chain::dense_in;
use crate::program::Program;

/// Fuses the producer of an operand of an addition; the left operand first.
pub fn find(program: &mut Program<'_>, consumer: usize) -> Option<Change> {
    let Instruction::Elementwise(chain) = program.instruction(consumer)? else { return None };
    let [left, right, ..] = chain.streams;
    let add = |(own, other)| fused(program, consumer, &chain, [own, other]);
    let (producer, gemm) = [(&left, &right), (&right, &left)].into_iter().find_map(add)?;
    Some(Change::fuse(producer, gemm))
}

/// The GEMM that computes `own` with `other` as residual.
fn fused(
    program: &Program<'_>,
    consumer: usize,
    chain: &Elementwise,
    [own, other]: [&Stream; 2],
) -> Option<(usize, Conv2d)> {
    let agrees = is_sum(chain) && other.strides == dense_in(chain.sizes) && other.place.slot != own.place.slot;
    // A GEMM that rounds its result to int8 has nowhere to add after the rounding.
    let read = Dense::of_stream(chain, own).filter(|_| agrees && !own.qparams.is_int8())?;
    let (producer, instruction) = absorbed(program, consumer, read)?;
    let Instruction::Conv2d(mut gemm) = instruction else { return None };
    let has_type = match gemm.gemm()? {
        Gemm::Float => !other.qparams.is_int8(),
        Gemm::Int8 => true,
        Gemm::Blocks | Gemm::WeightOnly => false,
    };
    let is_free = has_type && !gemm.epilogue.residual.place.is_present();
    gemm.epilogue.residual = Rows { place: other.place, stride: gemm.window.output[2] };
    gemm.epilogue.residual_qparams = other.qparams;
    gemm.epilogue.residual_last = gemm.epilogue.activation != UNLIMITED;
    gemm.output = Write(Rows { place: *chain.output, ..*gemm.output });
    is_free.then_some((producer, gemm))
}

/// Whether a chain is the f32 sum of two tensors.
fn is_sum(chain: &Elementwise) -> bool {
    let step = chain.steps[0];
    [chain.stream_count, chain.step_count] == [2, 1]
        && step.operation.0 == Operation::Add
        && step.terms[..2] == [Term::register(0), Term::register(1)]
        && !chain.qparams.is_int8()
}
