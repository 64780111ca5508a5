//! Adaptive pooling: receptive fields that cover an image evenly, for a given output size.

use core::ops::Range;

use et_core::{Args, Element, Error, Number, Result, Tensor};

use crate::Meta;
use crate::family::divide::Divide;
use crate::family::opmath::Opmath;
use crate::family::pool::{greatest, resized, sum};
use crate::family::spatial::{Taps, Volume, per_dim_argument};

/// The dtype of the first argument and its shape, with the spatial sizes replaced by argument 1. An image without
/// pixels is refused.
pub fn meta(args: &Args<'_, '_>, dims: usize) -> Result<Meta> {
    let image = Volume::new(&args.tensor(0)?, dims)?;
    if image.sizes[1..].contains(&0) {
        return Err(Error::InvalidArgument);
    }
    resized(args, per_dim_argument(args, 1, dims)?, dims)
}

/// Stores the mean of each receptive field.
pub fn means<T: Opmath>(input: &Tensor<'_>, out: &Tensor<'_>, dims: usize) -> Result<()> {
    let (from, to) = (input.input::<T>()?, out.output::<T>()?);
    let (image, out_image) = (Volume::new(input, dims)?, Volume::new(out, dims)?);
    out_image.for_each_pixel(|pixel @ [batch, channel, at @ ..]| {
        let window = window(&image, &out_image, at);
        let counts = window.clone().map(|range| T::Math::from_i64(range.len() as i64));
        let sum = sum::<T>(from, &image, image.channel(batch, channel), window);
        to.set(out_image.offset(pixel), T::lower(counts.into_iter().fold(sum, Divide::divided)));
    });
    Ok(())
}

/// Stores the maximum of each receptive field in `out`, and the index of the maximum in its channel in `indices`.
pub fn maxima<T: Number>(input: &Tensor<'_>, [out, indices]: [&Tensor<'_>; 2], dims: usize) -> Result<()> {
    let (from, to, places) = (input.input::<T>()?, out.output::<T>()?, indices.output::<i64>()?);
    let image = Volume::new(input, dims)?;
    let [out_image, index_image] = [Volume::new(out, dims)?, Volume::new(indices, dims)?];
    out_image.for_each_pixel(|pixel @ [batch, channel, at @ ..]| {
        let start = image.channel(batch, channel);
        let taps =
            window(&image, &out_image, at).map(|range| Taps { start: range.start, first: 0, count: range.len() });
        let (value, index) = greatest(&image, taps, [1; 3], |offset| from.get(start + offset));
        to.set(out_image.offset(pixel), value);
        places.set(index_image.offset(pixel), index as i64);
    });
    Ok(())
}

/// The inputs that the output at a position covers.
fn window(image: &Volume, out: &Volume, at: [usize; 3]) -> [Range<usize>; 3] {
    let (inputs, outputs) = (image.extent(), out.extent());
    core::array::from_fn(|dim| share(inputs[dim], outputs[dim], at[dim]))
}

fn share(inputs: usize, outputs: usize, index: usize) -> Range<usize> {
    index * inputs / outputs..((index + 1) * inputs).div_ceil(outputs)
}
