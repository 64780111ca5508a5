//! `aten::_adaptive_avg_pool2d`: means of windows that cover the image evenly with a given number of outputs.

use core::ops::Range;

use crate::family::divide::Divide;
use crate::family::opmath::Opmath;
use crate::family::pool::{ABSENT, resized, sum};
use crate::family::spatial::{Image, pair_argument};
use crate::prelude::*;

/// `torch.nn.functional.adaptive_avg_pool2d`.
pub const ADAPTIVE_AVG_POOL2D: Operator = Operator {
    schema: "aten::_adaptive_avg_pool2d.out(Tensor self, SymInt[2] output_size, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::_adaptive_avg_pool2d",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "the whole image",
            &[Tensor(CaseTensor::float(&[1, 2, 1, 2], &[1.0, 2.0, 3.0, 5.0])), Ints(&[1, 1])],
            &[CaseTensor::float(&[1, 2, 1, 1], &[1.5, 4.0])],
        ),
        Case::exact(
            "windows that overlap, in double precision",
            &[Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 3], &[1.0, 2.0, 4.0])), Ints(&[1, 2])],
            &[CaseTensor::of(ScalarType::Double, &[1, 1, 2], &[1.5, 3.0])],
        ),
        Case::exact(
            "more outputs than inputs",
            &[Tensor(CaseTensor::float(&[1, 1, 2], &[1.0, 2.0])), Ints(&[2, 3])],
            &[CaseTensor::float(&[1, 2, 3], &[1.0, 1.5, 2.0, 1.0, 1.5, 2.0])],
        ),
        Case::refused("a matrix", &[Tensor(CaseTensor::float(&[1, 1], &[1.0])), Ints(&[1, 1])], Error::InvalidArgument),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let image = Image::new(&args.tensor(0)?, ABSENT)?;
    if image.sizes[1..].contains(&0) {
        return Err(Error::InvalidArgument);
    }
    resized(args, pair_argument(args, 1)?)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(2)?);
    out.resize(&infer(args, 0)?.shape)?;
    dispatch!(D, out.scalar_type(), floats, T => means::<T>(&input, &out))
}

fn means<T: Opmath>(input: &et_core::Tensor<'_>, out: &et_core::Tensor<'_>) -> Result<()> {
    let (from, to) = (input.input::<T>()?, out.output::<T>()?);
    let (image, out_image) = (Image::new(input, ABSENT)?, Image::new(out, ABSENT)?);
    let [_, _, in_rows, in_columns] = image.sizes;
    let [_, _, out_rows, out_columns] = out_image.sizes;
    out_image.for_each_pixel(|pixel @ [batch, channel, row, column]| {
        let window = [share(in_rows, out_rows, row), share(in_columns, out_columns, column)];
        let [height, width] = [count::<T>(&window[0]), count::<T>(&window[1])];
        let sum = sum::<T>(from, &image, image.plane(batch, channel), window);
        let mean = sum.divided(height).divided(width);
        to.set(out_image.offset(pixel), T::lower(mean));
    });
    Ok(())
}

/// The inputs that output `index` of `outputs` covers.
fn share(inputs: usize, outputs: usize, index: usize) -> Range<usize> {
    index * inputs / outputs..((index + 1) * inputs).div_ceil(outputs)
}

fn count<T: Opmath>(range: &Range<usize>) -> T::Math {
    et_core::Element::from_i64(range.len() as i64)
}
