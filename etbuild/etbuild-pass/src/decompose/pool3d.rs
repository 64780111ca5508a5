//! Pooling over three dimensions.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec};

use crate::edit::{Call, Editor, Rewritten};

/// `max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode)`: `max_pool3d_with_indices`.
pub fn max(editor: &mut Editor, call: &Call) -> Rewritten {
    let stride = if call.ints(2)?.is_empty() { 1 } else { 2 };
    let arguments = vec![
        Argument::Value(call.value(0)?),
        call.ints_per_dim(1, 3)?,
        call.ints_per_dim(stride, 3)?,
        call.ints_per_dim(3, 3)?,
        call.ints_per_dim(4, 3)?,
        call.argument(5)?.clone(),
    ];
    let output = call.output()?;
    let places = TensorSpec { scalar_type: ScalarType::Long, ..output.clone() };
    let made = editor.call_many("max_pool3d_with_indices.default", arguments, vec![output, places])?;
    Ok(made.into_iter().take(1).collect())
}

/// `adaptive_avg_pool3d(self, output_size)`.
pub fn adaptive_average(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.call("_adaptive_avg_pool3d.default", call.arguments.clone(), call.output()?)?])
}
