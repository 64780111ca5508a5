//! Pooling of images.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode)`: `max_pool2d_with_indices`.
pub fn max(editor: &mut Editor, call: &Call) -> Rewritten {
    let stride = if call.ints(2)?.is_empty() { 1 } else { 2 };
    let arguments = vec![
        Argument::Value(call.value(0)?),
        call.ints_per_dim(1, 2)?,
        call.ints_per_dim(stride, 2)?,
        call.ints_per_dim(3, 2)?,
        call.ints_per_dim(4, 2)?,
        call.argument(5)?.clone(),
    ];
    let output = call.output()?;
    let places = TensorSpec::contiguous(ScalarType::Long, output.sizes.clone());
    let made = editor.call_many("max_pool2d_with_indices.default", arguments, vec![output, places])?;
    Ok(made.into_iter().take(1).collect())
}

/// `adaptive_avg_pool2d(self, output_size)`: a mean for a single output element.
pub fn adaptive_average(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    if output.sizes.ends_with(&[1, 1]) {
        let dims = Argument::Ints(vec![-1, -2]);
        let arguments = vec![Argument::Value(input), dims, Argument::Bool(true), Argument::None];
        return Ok(vec![editor.call("mean.dim", arguments, output)?]);
    }
    let arguments = vec![Argument::Value(input), call.argument(1)?.clone()];
    Ok(vec![editor.call("_adaptive_avg_pool2d.default", arguments, output)?])
}

/// `adaptive_avg_pool1d(self, output_size)`: pooling of an image with a single row.
pub fn adaptive_average_1d(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let as_image = |sizes: &[i32]| {
        let (last, outer) = sizes.split_last().ok_or(Reason::Arguments)?;
        Ok(outer.iter().copied().chain([1, *last]).collect::<Vec<_>>())
    };
    let (sizes, image) = (as_image(&output.sizes)?, as_image(&editor.sizes(input))?);
    let image = editor.view(input, &image)?;
    let size = Argument::Ints(vec![1, i64::from(*sizes.last().ok_or(Reason::Arguments)?)]);
    let pooled = TensorSpec::contiguous(output.scalar_type, sizes);
    let pooled = editor.call("adaptive_avg_pool2d.default", vec![Argument::Value(image), size], pooled)?;
    Ok(vec![editor.view(pooled, &output.sizes)?])
}
