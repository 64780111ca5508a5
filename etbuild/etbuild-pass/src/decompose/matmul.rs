//! `aten.matmul`: `mm`, or `bmm` of operands broadcast to a common batch.

use etbuild_ir::{Argument, ValueId};

use super::complex;
use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `matmul(self, other)`: a vector is a matrix with a single row on the left, and with a single column on the right.
pub fn matmul(editor: &mut Editor, call: &Call) -> Rewritten {
    if let Some(made) = complex::matrix_product(editor, call)? {
        return Ok(vec![made]);
    }
    let (left, right) = (call.value(0)?, call.value(1)?);
    let vectors = [left, right].map(|id| editor.spec(id).rank() == 1);
    let (left, right) = (as_row(editor, left)?, as_column(editor, right)?);
    let (product, mut dims) =
        if editor.spec(right).rank() == 2 { product(editor, left, right)? } else { batch(editor, left, right)? };
    if vectors[1] {
        dims.pop();
    }
    if vectors[0] {
        dims.remove(dims.len().saturating_sub(if vectors[1] { 1 } else { 2 }));
    }
    Ok(vec![editor.view_as(product, &dims)?])
}

fn as_row(editor: &mut Editor, id: ValueId) -> Result<ValueId, Reason> {
    match editor.dims(id)[..] {
        [size] => editor.view_as(id, &[1.into(), size]),
        _ => Ok(id),
    }
}

fn as_column(editor: &mut Editor, id: ValueId) -> Result<ValueId, Reason> {
    match editor.dims(id)[..] {
        [size] => editor.view_as(id, &[size, 1.into()]),
        _ => Ok(id),
    }
}

/// A product with the final shape.
type Product = Result<(ValueId, Vec<Dim>), Reason>;

/// Matrices times a single matrix: the rows of all matrices form a tall matrix.
fn product(editor: &mut Editor, left: ValueId, right: ValueId) -> Product {
    let dims = editor.dims(left);
    let ([outer @ .., depth], [_, columns]) = (&dims[..], &editor.dims(right)[..]) else {
        return Err(Reason::Arguments);
    };
    let rows = Dim::product(outer);
    let matrix = editor.view_as(left, &[rows, *depth])?;
    let output = Dim::spec(editor.spec(left).scalar_type, &[rows, *columns]);
    let product = editor.call("mm.default", vec![Argument::Value(matrix), Argument::Value(right)], output)?;
    Ok((product, outer.iter().chain([columns]).copied().collect()))
}

fn batch(editor: &mut Editor, left: ValueId, right: ValueId) -> Product {
    let (left_dims, right_dims) = (editor.dims(left), editor.dims(right));
    let ([left_outer @ .., rows, depth], [right_outer @ .., depth_too, columns]) = (&left_dims[..], &right_dims[..])
    else {
        return Err(Reason::Arguments);
    };
    let outer = Dim::broadcast(left_outer, right_outer)?;
    let count = Dim::product(&outer);
    let left = stacked(editor, left, &outer, [count, *rows, *depth])?;
    let right = stacked(editor, right, &outer, [count, *depth_too, *columns])?;
    let output = Dim::spec(editor.spec(left).scalar_type, &[count, *rows, *columns]);
    let product = editor.call("bmm.default", vec![Argument::Value(left), Argument::Value(right)], output)?;
    Ok((product, outer.iter().chain([rows, columns]).copied().collect()))
}

/// Matrices broadcast to a common batch, with the batch as a single dimension.
fn stacked(editor: &mut Editor, id: ValueId, outer: &[Dim], dims: [Dim; 3]) -> Result<ValueId, Reason> {
    let full: Vec<Dim> = outer.iter().chain(&dims[1..]).copied().collect();
    let expanded = if editor.dims(id) == full { id } else { editor.expand_as(id, &full)? };
    editor.view_as(expanded, &dims)
}
