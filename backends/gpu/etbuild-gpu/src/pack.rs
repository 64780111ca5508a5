//! Weights in texels.

use crate::tensor::{TEXEL, Tensor, Texels};

/// The elements of a row-major tensor in the order of texels, layer by layer, row by row.
pub fn packed(bytes: &[u8], tensor: &Tensor, texels: &Texels) -> Vec<u8> {
    let width = tensor.scalar_type.size();
    let mut packed = vec![0; TEXEL * width * texels.count()];
    let [texels_x, texels_y, _] = texels.extent;
    let channels = tensor.sizes[texels.channel].max(1);
    let inner: usize = tensor.sizes[texels.channel + 1..].iter().product();
    for (index, element) in bytes.chunks_exact(width).enumerate() {
        let mut rest = index;
        let mut at = [0; 3];
        for (dim, size) in tensor.sizes.iter().enumerate().rev() {
            let along = rest % size;
            rest /= size;
            let along = if dim == texels.channel { along / TEXEL } else { along };
            for (place, strides) in at.iter_mut().zip(&texels.strides) {
                *place += along * strides[dim];
            }
        }
        let lane = index / inner % channels % TEXEL;
        let start = width * (TEXEL * ((at[2] * texels_y + at[1]) * texels_x + at[0]) + lane);
        if let Some(place) = packed.get_mut(start..start + width) {
            place.copy_from_slice(element);
        }
    }
    packed
}
