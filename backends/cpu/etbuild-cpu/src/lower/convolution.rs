//! Convolutions of every kind: of images, of volumes, transposed.

use etbuild_backend::Call;

use crate::builder::Builder;
use crate::lower::{Lowered, conv2d, transposed, volume};

/// `aten.convolution`.
pub fn convolution(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    match (call.flag(6)?, call.output_sizes()?.len()) {
        (true, _) => transposed::convolution(builder, &call),
        (false, 5) => volume::convolution(builder, &call),
        (false, _) => conv2d::convolution(builder, &call),
    }
}
