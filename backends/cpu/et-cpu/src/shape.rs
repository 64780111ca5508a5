//! The GEMM shape of a window.

use et_gemm::Shape;

use crate::Window;

/// The implicit GEMM shape of a convolution; `pixel_stride` is the stride of an NHWC pixel in elements. `None` for zero groups, and for
/// NCHW images with several groups.
pub fn shape(window: &Window, pixel_stride: usize) -> Option<Shape> {
    let pair = |pair: [u32; 2]| pair.map(|number| number as usize);
    let groups = window.groups as usize;
    let shape = Shape {
        batch: window.batch as usize,
        input: [window.input[0] as usize, window.input[1] as usize],
        output: [window.output[0] as usize, window.output[1] as usize],
        channels: (window.input[2] as usize).checked_div(groups)?,
        columns: (window.output[2] as usize).checked_div(groups)?,
        groups,
        planes: 1,
        pixel_stride,
        kernel: pair(window.kernel),
        stride: pair(window.stride),
        padding: pair(window.padding),
        dilation: pair(window.dilation),
    };
    match window.is_planar {
        0 => Some(shape),
        _ => (groups == 1).then(|| shape.planar()),
    }
}
