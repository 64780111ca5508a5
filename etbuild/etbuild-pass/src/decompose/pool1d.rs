//! Pooling of signals: pooling of images with a single row.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode)`.
pub fn max(editor: &mut Editor, call: &Call) -> Rewritten {
    let settings =
        vec![row(call, 1, 1)?, row(call, 2, 1)?, row(call, 3, 0)?, row(call, 4, 1)?, call.argument(5)?.clone()];
    pooled(editor, call, "max_pool2d.default", settings)
}

/// `avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad)`.
pub fn average(editor: &mut Editor, call: &Call) -> Rewritten {
    let (ceiling, counts) = (call.argument(4)?.clone(), call.argument(5)?.clone());
    let settings = vec![row(call, 1, 1)?, row(call, 2, 1)?, row(call, 3, 0)?, ceiling, counts, Argument::None];
    pooled(editor, call, "avg_pool2d.default", settings)
}

/// `adaptive_max_pool1d(self, output_size)`, which also returns indices.
pub fn adaptive_max(editor: &mut Editor, call: &Call) -> Rewritten {
    pooled(editor, call, "adaptive_max_pool2d.default", vec![row(call, 1, 1)?])
}

/// A list with an item for signals, or an empty list, as a list for images.
fn row(call: &Call, index: usize, of_rows: i64) -> Result<Argument, Reason> {
    match call.ints(index)? {
        [] => Ok(Argument::Ints(vec![])),
        [columns] => Ok(Argument::Ints(vec![of_rows, *columns])),
        _ => Err(Reason::Arguments),
    }
}

fn pooled(editor: &mut Editor, call: &Call, name: &str, settings: Vec<Argument>) -> Rewritten {
    let input = call.value(0)?;
    let sizes = with_row(&editor.sizes(input))?;
    let image = editor.view(input, &sizes)?;
    let as_image = |spec: &TensorSpec| Ok(TensorSpec::contiguous(spec.scalar_type, with_row(&spec.sizes)?));
    let outputs = call.outputs.iter().map(as_image).collect::<Result<_, _>>()?;
    let arguments = std::iter::once(Argument::Value(image)).chain(settings).collect();
    let made: Vec<ValueId> = editor.call_many(name, arguments, outputs)?;
    made.into_iter().zip(&call.outputs).map(|(id, output)| editor.view(id, &output.sizes)).collect()
}

/// Sizes with a dimension of size 1 before the last.
fn with_row(sizes: &[i32]) -> Result<Vec<i32>, Reason> {
    let (columns, outer) = sizes.split_last().ok_or(Reason::Arguments)?;
    Ok(outer.iter().copied().chain([1, *columns]).collect())
}
