//! Pooling of images.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec};

use crate::edit::{Call, Dim, Editor, Rewritten};

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
    let places = TensorSpec { scalar_type: ScalarType::Long, ..output.clone() };
    let made = editor.call_many("max_pool2d_with_indices.default", arguments, vec![output, places])?;
    Ok(made.into_iter().take(1).collect())
}

/// `adaptive_avg_pool2d(self, output_size)`: a mean for a single output element.
pub fn adaptive_average(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    if Dim::of(&output).ends_with(&[1, 1].map(Dim::from)) {
        let dims = Argument::Ints(vec![-1, -2]);
        let arguments = vec![Argument::Value(input), dims, Argument::Bool(true), Argument::None];
        return Ok(vec![editor.call("mean.dim", arguments, output)?]);
    }
    let arguments = vec![Argument::Value(input), call.argument(1)?.clone()];
    Ok(vec![editor.call("_adaptive_avg_pool2d.default", arguments, output)?])
}
