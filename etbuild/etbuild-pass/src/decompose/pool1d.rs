//! Pooling of signals: pooling of images with a single row.

use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode)`.
pub fn max(editor: &mut Editor, call: &Call) -> Rewritten {
    let settings =
        vec![row(call, 1, 1)?, row(call, 2, 1)?, row(call, 3, 0)?, row(call, 4, 1)?, call.argument(5)?.clone()];
    pooled(editor, call, "max_pool2d.default", settings)
}

/// `max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)`.
pub fn max_with_indices(editor: &mut Editor, call: &Call) -> Rewritten {
    let settings =
        vec![row(call, 1, 1)?, row(call, 2, 1)?, row(call, 3, 0)?, row(call, 4, 1)?, call.argument(5)?.clone()];
    pooled(editor, call, "max_pool2d_with_indices.default", settings)
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

/// `adaptive_avg_pool1d(self, output_size)`.
pub fn adaptive_average(editor: &mut Editor, call: &Call) -> Rewritten {
    pooled(editor, call, "adaptive_avg_pool2d.default", vec![row(call, 1, 1)?])
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
    let dims = with_row(&editor.dims(input))?;
    let image = editor.view_as(input, &dims)?;
    let outputs = call.outputs.iter().map(|spec| Ok(Dim::spec(spec.scalar_type, &with_row(&Dim::of(spec))?)));
    let outputs = outputs.collect::<Result<_, _>>()?;
    let arguments = std::iter::once(Argument::Value(image)).chain(settings).collect();
    let made: Vec<ValueId> = editor.call_many(name, arguments, outputs)?;
    made.into_iter().map(|id| without_row(editor, id)).collect()
}

/// Sizes with a dimension of size 1 before the last.
fn with_row(dims: &[Dim]) -> Result<Vec<Dim>, Reason> {
    let (columns, outer) = dims.split_last().ok_or(Reason::Arguments)?;
    Ok(outer.iter().copied().chain([Dim::from(1), *columns]).collect())
}

/// A value of [`with_row`] without the row.
fn without_row(editor: &mut Editor, of: ValueId) -> Result<ValueId, Reason> {
    let mut dims = editor.dims(of);
    dims.remove(dims.len().checked_sub(2).ok_or(Reason::Arguments)?);
    editor.view_as(of, &dims)
}
