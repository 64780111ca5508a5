//! Per-channel scales of an image (squeeze-and-excite) become a part of the following GEMM: scaled weights, of which there are fewer
//! than elements of the image.

use et_cpu::{Conv2d, Elementwise, Gemm, Instruction, Place, Rows, Stream};
use et_kernels::elementwise::Operation;

use super::Change;
use super::fused_mlp::rows_of_window;
use super::legal::{Dense, absorbed};
use crate::program::Program;

/// The minimum ratio of rows to columns at which each thread scales the weights.
const ROWS: usize = 4;

/// The maximum weights: each thread has a scaled copy.
const MOST: usize = 1 << 16;

/// Fuses the scaling of a GEMM's input where scaling the weights pays.
pub fn find(program: &mut Program<'_>, consumer: usize) -> Option<Change> {
    let Instruction::Conv2d(gemm) = program.instruction(consumer)? else { return None };
    let [channels, columns] = [gemm.window.input[2] as usize, gemm.window.output[2] as usize];
    let rows = rows_of_window(&gemm.window)?;
    let is_plain = gemm.gemm() == Some(Gemm::Float) && !gemm.channel_scales.is_present();
    let pays = rows >= ROWS * columns && columns * channels <= MOST;
    let is_dense = gemm.input.stride as usize == channels;
    let read = (is_plain && pays && is_dense).then(|| Dense::floats(gemm.input.place, rows * channels))?;
    let (producer, instruction) = absorbed(program, consumer, read)?;
    let Instruction::Elementwise(chain) = instruction else { return None };
    let (input, channel_scales) = image_and_scales(&chain)?;
    let agrees = chain.sizes[2..] == [rows as u32, channels as u32];
    agrees.then(|| Change::fuse(producer, Conv2d { input, channel_scales, ..gemm }))
}

/// The rows and the per-channel scales of a chain that is a single multiplication.
fn image_and_scales(chain: &Elementwise) -> Option<(Rows, Place)> {
    let (streams, step) = (chain.streams.get(..2)?, chain.steps.first()?);
    let is_product = [chain.stream_count, chain.step_count] == [2, 1]
        && step.operation.0 == Operation::Mul
        && step.terms[..2].iter().all(|term| term.kind == 0)
        && step.terms[0].bits + step.terms[1].bits == 1;
    let is_one = chain.sizes[..2] == [1, 1];
    let are_float = !chain.qparams.is_int8() && streams.iter().all(|stream| !stream.qparams.is_int8());
    let scales = |stream: &&Stream| stream.strides[2..] == [0, 1];
    let image = |stream: &&Stream| stream.strides[2] > 0 && stream.strides[3] == 1;
    let (image, scales) = (streams.iter().find(image)?, streams.iter().find(scales)?);
    let input = Rows { place: image.place, stride: image.strides[2] };
    (is_product && is_one && are_float).then_some((input, scales.place))
}
