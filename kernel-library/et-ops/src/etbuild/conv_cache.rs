//! `etbuild::conv_cache`: causal depthwise convolution of the rows of a prefill chunk, or of a decode step, and of cached rows before.

use crate::etbuild::span::{self, Span};
use crate::family::opmath::Opmath;
use crate::family::unary;
use crate::math::Math;
use crate::prelude::*;
use et_core::Element;

/// Causal depthwise convolution over the positions of a text (a short convolution, as in LFM2 and Mamba). `rows` is
/// `[1, rows, channels]`, `weight` is `[channels, kernel]`, `bias` is `[channels]`; the last element of the kernel meets the row itself. Rows
/// before `start` come from the ring buffer `cache`, `[1, slots, 1, channels]`, and rows before the text are zeros. A call is refused
/// if the ring buffer, which may already have the rows of the chunk, has no slot for each position that a row sees.
#[cfg(feature = "catalogue")]
pub const CONV_CACHE: Operator = Operator {
    schema: "etbuild::conv_cache.out(Tensor rows, Tensor cache, Tensor weight, Tensor? bias, Tensor start, Tensor last, *, \
             Tensor(a!) out) -> Tensor(a!)",
    functional: "etbuild::conv_cache",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "the first rows of a text",
            &[
                Tensor(CaseTensor::float(&[1, 3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::float(&[1, 5, 1, 2], &[9.0; 10])),
                Tensor(WEIGHT),
                CaseArgument::None,
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Tensor(CaseTensor::long(&[1], &[2.0])),
            ],
            &[CaseTensor::float(&[1, 3, 2], &[4.0, 1.0, 14.0, 0.0, 27.0, 1.0])],
        ),
        Case::exact(
            "a row behind two that went around the end, with biases",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 2], &[5.0, 6.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 3, 1, 2], &[3.0, 4.0, 9.0, 9.0, 1.0, 2.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 3], &[1.0, 2.0, 4.0, 1.0, -1.0, 0.5])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2], &[0.5, -1.0])),
                Tensor(CaseTensor::long(&[1], &[4.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 1, 2], &[27.5, 0.0])],
        ),
        Case::refused(
            "a ring buffer that is too short",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2], &[5.0, 6.0])),
                Tensor(CaseTensor::float(&[1, 2, 1, 2], &[9.0; 4])),
                Tensor(WEIGHT),
                CaseArgument::None,
                Tensor(CaseTensor::long(&[1], &[4.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "weights of other channels",
            &[
                Tensor(CaseTensor::float(&[1, 1, 3], &[5.0, 6.0, 7.0])),
                Tensor(CaseTensor::float(&[1, 3, 1, 3], &[9.0; 9])),
                Tensor(WEIGHT),
                CaseArgument::None,
                Tensor(CaseTensor::long(&[1], &[4.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
            ],
            Error::InvalidArgument,
        ),
    ],
};

const WEIGHT: CaseTensor = CaseTensor::float(&[2, 3], &[1.0, 2.0, 4.0, 1.0, -1.0, 0.5]);

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let [rows, cache, weight] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    span::check(args, [4, 5])?;
    let (new, slots, kernel) = (rows.shape(), cache.shape(), weight.shape());
    let ([1, _, channels], [1, _, 1, depth], [outputs, _]) = (new.sizes(), slots.sizes(), kernel.sizes()) else {
        return Err(Error::InvalidArgument);
    };
    let bias = args.optional_tensor(3)?;
    let is_biased =
        bias.is_none_or(|bias| bias.shape().sizes() == [*channels] && bias.scalar_type() == rows.scalar_type());
    let types = [cache.scalar_type(), weight.scalar_type()];
    let fits = depth == channels && outputs == channels && is_biased && types == [rows.scalar_type(); 2];
    if fits { unary::like_first(args, index) } else { Err(Error::InvalidArgument) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(6)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => convolve::<T>(args, &out))
}

fn convolve<T: Opmath>(args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()>
where
    T::Math: Math,
{
    let [rows, cache, weight] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    let (count, kernel, slots) = (rows.size(1), weight.size(1), cache.size(1));
    let span = Span::read(args, [4, 5], count)?;
    // Rows of the chunk may be in the ring buffer too, where they must leave the rows before alone.
    if span.end() > slots && kernel + span.last > slots {
        return Err(Error::InvalidArgument);
    }
    let bias = args.optional_tensor(3)?;
    let bias = bias.as_ref().map(|bias| Ok((bias.input::<T>()?, bias.strides()[0]))).transpose()?;
    let (new, old, factors, to) = (rows.input::<T>()?, cache.input::<T>()?, weight.input::<T>()?, out.output::<T>()?);
    let (new_steps, old_steps, steps, to_steps) = (rows.strides(), cache.strides(), weight.strides(), out.strides());
    for row in 0..count {
        for channel in 0..rows.size(2) {
            let mut sum = bias.map_or(T::Math::from_f64(0.0), |(bias, step)| bias.get(channel * step).raise());
            for tap in 0..kernel {
                // The distance of the tap's row from the row.
                let before = kernel - 1 - tap;
                let element = if before <= row {
                    new.get((row - before) * new_steps[1] + channel * new_steps[2])
                } else if before <= row + span.start {
                    old.get((span.start + row - before) % slots * old_steps[1] + channel * old_steps[3])
                } else {
                    continue;
                };
                sum = sum + element.raise() * factors.get(channel * steps[0] + tap * steps[1]).raise();
            }
            to.set(row * to_steps[1] + channel * to_steps[2], T::lower(sum));
        }
    }
    Ok(())
}
