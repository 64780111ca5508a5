//! Quantization becomes a part of the instruction that computes the f32 tensor.

use et_cpu::{ActivationKind, Conv2d, Gemm, Instruction, QParams, Rows, SlotNumber, Write};
use etbuild_cpu_weights::{Form, Packing};

use super::Change;
use super::legal::{Dense, absorbed, converted};
use crate::program::{Program, Storage};

/// Fuses the producer of an int8 tensor.
pub fn find(program: &mut Program<'_>, consumer: usize) -> Option<Change> {
    let (to, stream) = converted(&program.instruction(consumer)?, [false, true])?;
    let (producer, mut instruction) = absorbed(program, consumer, Dense::of_stream(&to, &stream)?)?;
    match &mut instruction {
        Instruction::Conv2d(gemm) if gemm.gemm() == Some(Gemm::Int8) => {
            gemm.output = Write(Rows { place: *to.output, ..*gemm.output });
            requantize(program, gemm, to.qparams);
        }
        Instruction::Elementwise(chain) => (chain.output, chain.qparams) = (to.output, to.qparams),
        _ => return None,
    }
    Some(Change::fuse(producer, instruction))
}

/// Sets the output qparams of an int8 GEMM. Where clamp limits alone follow the accumulators, the packed scales include the output
/// scale.
fn requantize(program: &mut Program<'_>, gemm: &mut Conv2d, to: QParams) {
    gemm.output_qparams = to;
    if is_divisible(gemm) {
        gemm.epilogue.is_divided = true;
        divide_scales(program, gemm.weights.slot, to.scale);
    }
}

fn is_divisible(gemm: &Conv2d) -> bool {
    let epilogue = &gemm.epilogue;
    let adds_float = epilogue.residual.place.is_present() && !epilogue.residual_qparams.is_int8();
    let is_limited = epilogue.activation.kind == ActivationKind::Identity && !epilogue.residual_last;
    is_limited && !adds_float && !gemm.row_scales.is_present()
}

fn divide_scales(program: &mut Program<'_>, slot: SlotNumber, by: f32) {
    let storage = program.buffers.get_mut(slot.0 as usize).map(|memory| &mut memory.storage);
    if let Some(Storage::Packed(Packing { form: Form::Bytes(scales, _), .. })) = storage {
        scales.iter_mut().for_each(|scale| *scale /= by);
    }
}
