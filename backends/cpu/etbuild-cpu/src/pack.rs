//! Weights in the form that kernels read them in.

use et_cpu::Window;
use et_gemm::{FloatProduct, Weights};

use crate::{Isa, Problem};

/// Weights `[columns, channels, height, width]` and biases of a product.
pub fn product(isa: Isa, weights: &[f32], bias: &[f32], window: &Window) -> Result<Vec<u8>, Problem> {
    let shape = et_cpu::shape(window, window.input[2] as usize).ok_or(Problem::Weights)?;
    let product = FloatProduct::new(shape, isa).map_err(|_| Problem::Weights)?;
    let mut packed = vec![0; product.packed_size()];
    let weights = Weights::convolution(weights, &shape);
    product.pack(&weights, bias, &mut packed).map_err(|_| Problem::Weights)?;
    Ok(packed)
}

/// Weights `[channels, 1, height, width]` of a convolution of each channel by itself: `[height, width, channels]`.
pub fn depthwise(_isa: Isa, weights: &[f32], window: &Window) -> Result<Vec<u8>, Problem> {
    let (channels, taps) = (window.output[2] as usize, (window.kernel[0] * window.kernel[1]) as usize);
    let element = |index: usize| weights.get(index % channels * taps + index / channels).copied();
    let packed: Option<Vec<[u8; 4]>> = (0..channels * taps).map(|index| element(index).map(f32::to_le_bytes)).collect();
    Ok(packed.ok_or(Problem::Weights)?.into_flattened())
}
