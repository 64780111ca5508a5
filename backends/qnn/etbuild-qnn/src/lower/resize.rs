//! Resizing of images.

use etbuild_backend::{Call, Refusal, RefusalKind};

use crate::builder::{Builder, Order};
use crate::program::Parameter;

use super::Done;

/// The pixel to which the coordinate falls.
pub fn nearest(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let flags = vec![("align_corners", Parameter::Bool(false)), ("half_pixel_centers", Parameter::Bool(false))];
    resized(builder, &call, "ResizeNearestNeighbor", flags)
}

/// The mean of the four pixels around the coordinate.
pub fn bilinear(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let aligns = call.flag(2)?;
    let flags = vec![("align_corners", Parameter::Bool(aligns)), ("half_pixel_centers", Parameter::Bool(!aligns))];
    resized(builder, &call, "ResizeBilinear", flags)
}

fn resized(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    type_name: &'static str,
    parameters: Vec<(&'static str, Parameter)>,
) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let (from, to) = (call.sizes(input), call.output_sizes()?);
    let ([_, _, height, width], [_, _, rows, columns]) = (&from[..], &to[..]) else {
        return Err(Refusal::new(RefusalKind::Shape, "only images in batches are resized on the NPU"));
    };
    // The library takes the factor from the sizes, PyTorch perhaps from an argument.
    if rows % height != 0 || columns % width != 0 {
        return Err(Refusal::new(RefusalKind::Shape, "the image does not grow by whole factors"));
    }
    builder.map(type_name, parameters, [input, output], Order::Nhwc)
}
