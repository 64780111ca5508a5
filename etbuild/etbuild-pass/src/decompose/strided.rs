//! Writes through a view by strides: a scatter of the flat tensor at constant positions.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten, normal_dim};

/// `as_strided_scatter(self, src, size, stride, storage_offset)` of a contiguous tensor.
pub fn scatter(editor: &mut Editor, call: &Call) -> Rewritten {
    let offset = if *call.argument(4)? == Argument::None { 0 } else { call.int(4)? };
    let positions = positions(call.ints(2)?, call.ints(3)?, offset);
    written(editor, call, positions)
}

/// `diagonal_scatter(self, src, offset, dim1, dim2)`.
pub fn diagonal_scatter(editor: &mut Editor, call: &Call) -> Rewritten {
    let sizes = editor.sizes(call.value(0)?);
    let rank = sizes.len();
    let (offset, dims) = (call.int(2)?, [normal_dim(call.int(3)?, rank)?, normal_dim(call.int(4)?, rank)?]);
    let stride = |dim: usize| sizes[dim + 1..].iter().map(|size| i64::from(*size)).product::<i64>();
    let start = dims.map(stride)[usize::from(offset > 0)] * offset.abs();
    let rest = (0..rank).filter(|dim| !dims.contains(dim));
    let mut shape: Vec<i64> = rest.clone().map(|dim| i64::from(sizes[dim])).collect();
    let mut strides: Vec<i64> = rest.map(stride).collect();
    let source = editor.sizes(call.value(1)?);
    shape.push(source.last().copied().map_or(1, i64::from));
    strides.push(stride(dims[0]) + stride(dims[1]));
    written(editor, call, positions(&shape, &strides, start))
}

/// The positions of a view's elements in row-major order.
fn positions(sizes: &[i64], strides: &[i64], offset: i64) -> Vec<i64> {
    let mut found = vec![offset];
    for (size, stride) in sizes.iter().zip(strides) {
        found = found.into_iter().flat_map(|start| (0..*size).map(move |index| start + index * stride)).collect();
    }
    found
}

fn written(editor: &mut Editor, call: &Call, positions: Vec<i64>) -> Rewritten {
    let (input, source, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let scalar_type = output.scalar_type;
    let flat = |editor: &mut Editor, of: ValueId| {
        let count = i32::try_from(editor.spec(of).numel()).map_err(|_| Reason::Arguments)?;
        editor.view(of, &[count])
    };
    let source = editor.convert(source, scalar_type)?;
    let (whole, source) = (flat(editor, input)?, flat(editor, source)?);
    let index = editor.integers(&positions)?;
    let arguments =
        [Argument::Value(whole), Argument::Int(0), Argument::Value(index), Argument::Value(source)].to_vec();
    let spec = TensorSpec::contiguous(scalar_type, editor.sizes(whole));
    let made = editor.call("scatter.src", arguments, spec)?;
    Ok(vec![editor.view(made, &output.sizes)?])
}
