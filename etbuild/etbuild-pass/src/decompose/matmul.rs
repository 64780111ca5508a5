//! `aten.matmul`: `mm`, or `bmm` of operands broadcast to a common batch.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten, broadcast};

/// `matmul(self, other)`: a vector is a matrix of one row on the left and of one column on the right.
pub fn matmul(editor: &mut Editor, call: &Call) -> Rewritten {
    let (left, right) = (call.value(0)?, call.value(1)?);
    let (left, right) = (as_row(editor, left)?, as_column(editor, right)?);
    let output = call.output()?;
    let product =
        if editor.spec(right).rank() == 2 { product(editor, left, right)? } else { batch(editor, left, right)? };
    Ok(vec![editor.view(product, &output.sizes)?])
}

fn as_row(editor: &mut Editor, id: ValueId) -> Result<ValueId, Reason> {
    match editor.sizes(id)[..] {
        [size] => editor.view(id, &[1, size]),
        _ => Ok(id),
    }
}

fn as_column(editor: &mut Editor, id: ValueId) -> Result<ValueId, Reason> {
    match editor.sizes(id)[..] {
        [size] => editor.view(id, &[size, 1]),
        _ => Ok(id),
    }
}

/// Any number of matrices times one: the rows of all of them times it.
fn product(editor: &mut Editor, left: ValueId, right: ValueId) -> Result<ValueId, Reason> {
    let sizes = editor.sizes(left);
    let ([outer @ .., depth], [_, columns]) = (&sizes[..], &editor.sizes(right)[..]) else {
        return Err(Reason::Arguments);
    };
    let rows = product_of(outer)?;
    let matrix = editor.view(left, &[rows, *depth])?;
    let output = TensorSpec::contiguous(editor.spec(left).scalar_type, [rows, *columns]);
    editor.call("mm.default", vec![Argument::Value(matrix), Argument::Value(right)], output)
}

fn batch(editor: &mut Editor, left: ValueId, right: ValueId) -> Result<ValueId, Reason> {
    let (left_sizes, right_sizes) = (editor.sizes(left), editor.sizes(right));
    let ([left_outer @ .., rows, depth], [right_outer @ .., depth_too, columns]) = (&left_sizes[..], &right_sizes[..])
    else {
        return Err(Reason::Arguments);
    };
    let outer = broadcast(left_outer, right_outer)?;
    let count = product_of(&outer)?;
    let left = stacked(editor, left, &outer, [count, *rows, *depth])?;
    let right = stacked(editor, right, &outer, [count, *depth_too, *columns])?;
    let output = TensorSpec::contiguous(editor.spec(left).scalar_type, [count, *rows, *columns]);
    editor.call("bmm.default", vec![Argument::Value(left), Argument::Value(right)], output)
}

/// Matrices broadcast to a common batch, which is then one dimension.
fn stacked(editor: &mut Editor, id: ValueId, outer: &[i32], sizes: [i32; 3]) -> Result<ValueId, Reason> {
    let full: Vec<i32> = outer.iter().chain(&sizes[1..]).copied().collect();
    let expanded = editor.expand(id, &full)?;
    editor.view(expanded, &sizes)
}

fn product_of(sizes: &[i32]) -> Result<i32, Reason> {
    sizes.iter().try_fold(1_i32, |product, size| product.checked_mul(*size)).ok_or(Reason::Arguments)
}
