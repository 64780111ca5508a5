//! The QR factorization, by Householder reflections.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

type Made = Result<ValueId, Reason>;

/// The reflections of a factorization, and their scales.
fn reflections(editor: &mut Editor, of: ValueId) -> Result<[ValueId; 2], Reason> {
    let sizes = editor.static_sizes(of)?;
    let [outer @ .., rows, columns] = &sizes[..] else { return Err(Reason::Arguments) };
    let scalar_type = editor.spec(of).scalar_type;
    let scales = TensorSpec::contiguous(scalar_type, [outer.to_vec(), vec![*rows.min(columns)]].concat());
    let outputs = vec![TensorSpec::contiguous(scalar_type, sizes.clone()), scales];
    let made = editor.call_many("geqrf.default", vec![Argument::Value(of)], outputs)?;
    made.try_into().map_err(|_| Reason::Arguments)
}

/// The first `count` columns of the product of reflections.
fn product(editor: &mut Editor, [vectors, scales]: [ValueId; 2], count: i32) -> Made {
    let sizes = editor.static_sizes(vectors)?;
    let [outer @ .., rows, columns] = &sizes[..] else { return Err(Reason::Arguments) };
    let (last, wide) = (outer.len() + 1, [outer.to_vec(), vec![*rows, count]].concat());
    let vectors = if count <= *columns {
        editor.slice(vectors, last, 0, i64::from(count))?
    } else {
        let pads = vec![0, i64::from(count - columns)];
        let output = TensorSpec::contiguous(editor.spec(vectors).scalar_type, wide.clone());
        let arguments = vec![Argument::Value(vectors), Argument::Ints(pads), Argument::Float(0.0)];
        editor.call("constant_pad_nd.default", arguments, output)?
    };
    let output = TensorSpec::contiguous(editor.spec(vectors).scalar_type, wide);
    let arguments = vec![Argument::Value(vectors), Argument::Value(scales)];
    editor.call("linalg_householder_product.default", arguments, output)
}

/// An orthonormal basis of all columns: `[.., rows, rows]`, the first of which span the columns of `of`.
pub fn basis(editor: &mut Editor, of: ValueId) -> Made {
    let sizes = editor.static_sizes(of)?;
    let [.., rows, _] = sizes[..] else { return Err(Reason::Arguments) };
    let reflections = reflections(editor, of)?;
    product(editor, reflections, rows)
}

/// `linalg_qr(A, mode)`.
pub fn factors(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let Argument::Text(mode) = call.argument(1)? else { return Err(Reason::Arguments) };
    factorized(editor, input, mode == "complete", mode == "r", call)
}

/// `qr(self, some)`.
pub fn reduced_factors(editor: &mut Editor, call: &Call) -> Rewritten {
    factorized(editor, call.value(0)?, !call.flag(1)?, false, call)
}

fn factorized(editor: &mut Editor, input: ValueId, complete: bool, only_upper: bool, call: &Call) -> Rewritten {
    let sizes = editor.static_sizes(input)?;
    let [.., rows, columns] = sizes[..] else { return Err(Reason::Arguments) };
    let count = if complete { rows } else { rows.min(columns) };
    let [vectors, scales] = reflections(editor, input)?;
    let upper = editor.slice(vectors, sizes.len() - 2, 0, i64::from(count))?;
    let upper = editor.map("triu.default", upper, vec![Argument::Int(0)])?;
    if only_upper {
        let empty = editor.full(Argument::Int(0), call.output()?)?;
        return Ok(vec![empty, upper]);
    }
    Ok(vec![product(editor, [vectors, scales], count)?, upper])
}

/// `ormqr(self, input2, input3, left, transpose)`: a product with the full orthogonal factor.
pub fn times_factor(editor: &mut Editor, call: &Call) -> Rewritten {
    let [vectors, scales, other] = [call.value(0)?, call.value(1)?, call.value(2)?];
    let (left, transposed) = (call.flag(3)?, call.flag(4)?);
    let sizes = editor.static_sizes(vectors)?;
    let [.., rows, _] = sizes[..] else { return Err(Reason::Arguments) };
    let mut factor = product(editor, [vectors, scales], rows)?;
    if transposed {
        factor = editor.transpose(factor)?;
    }
    let pair = if left { [factor, other] } else { [other, factor] };
    Ok(vec![editor.product(pair[0], pair[1])?])
}
