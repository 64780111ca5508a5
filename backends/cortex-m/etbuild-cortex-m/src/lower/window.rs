//! The windows of convolutions, linear layers and pools.

use et_cortex_m::Window;
use etbuild_backend::{ByteWeights, Call, Geometry, Refusal, RefusalKind, image_sizes};
use etbuild_ir::ValueId;

use etbuild_backend::int8::pattern::no;

/// A linear layer as a 1x1 convolution: every row is an image of one pixel.
pub fn linear(input: &[usize], weights: &ByteWeights) -> Result<Window, Refusal> {
    let (Some(inner), [columns, _]) = (input.last(), &weights.sizes[..]) else {
        return Err(no(RefusalKind::Shape, "the operand is a scalar, or the weights are no matrix"));
    };
    let rows: usize = input.iter().rev().skip(1).product();
    Ok(Window {
        batch: rows as u32,
        in_height: 1,
        in_width: 1,
        in_channels: *inner as u32,
        out_height: 1,
        out_width: 1,
        out_channels: *columns as u32,
        kernel_height: 1,
        kernel_width: 1,
        stride_height: 1,
        stride_width: 1,
        dilation_height: 1,
        dilation_width: 1,
        ..Window::default()
    })
}

/// The window and the groups of a convolution; a one-dimensional convolution has images of one row.
pub fn convolution(call: &Call<'_>, input: ValueId, weights: &ByteWeights) -> Result<(Window, usize), Refusal> {
    if call.flag(6)? {
        return Err(no(RefusalKind::Argument, "the convolution is transposed"));
    }
    if !(3..=4).contains(&weights.sizes.len()) {
        return Err(no(RefusalKind::Shape, "images have one or two dimensions"));
    }
    let groups = call.int(8)?.and_then(|groups| usize::try_from(groups).ok()).unwrap_or(0);
    let (input, output) = (image_sizes(&call.sizes(input))?, image_sizes(&call.output_sizes()?)?);
    Ok((window(input, output, call.convolution()?), groups))
}

/// The window of a convolution or pool of images `[batch, channels, height, width]`.
pub fn window(input: [usize; 4], output: [usize; 4], geometry: Geometry) -> Window {
    let ([batch, in_channels, in_height, in_width], [_, out_channels, out_height, out_width]) =
        (input.map(|size| size as u32), output.map(|size| size as u32));
    let Geometry { kernel, stride, padding, dilation } = geometry;
    Window {
        batch,
        in_height,
        in_width,
        in_channels,
        out_height,
        out_width,
        out_channels,
        kernel_height: kernel[0],
        kernel_width: kernel[1],
        stride_height: stride[0],
        stride_width: stride[1],
        pad_top: padding[0],
        pad_left: padding[1],
        dilation_height: dilation[0],
        dilation_width: dilation[1],
    }
}
