//! Singular values and eigenvalues, and what follows from them.

use et_core::ScalarType;
use etbuild_ir::{Argument, OperatorName, TensorSpec, ValueId};

use super::orthogonal::basis;
use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

type Made = Result<ValueId, Reason>;

/// Singular vectors and values: `[.., rows, least]`, `[.., least]` and `[.., least, columns]`.
pub fn singular(editor: &mut Editor, of: ValueId) -> Result<[ValueId; 3], Reason> {
    let sizes = editor.static_sizes(of)?;
    let [outer @ .., rows, columns] = &sizes[..] else { return Err(Reason::Arguments) };
    if rows < columns {
        let transposed = editor.transpose(of)?;
        let [left, values, right] = singular(editor, transposed)?;
        return Ok([editor.transpose(right)?, values, editor.transpose(left)?]);
    }
    let spec = |last: &[i32]| TensorSpec::contiguous(editor.spec(of).scalar_type, [outer, last].concat());
    let outputs = vec![spec(&[*rows, *columns]), spec(&[*columns]), spec(&[*columns, *columns])];
    let operator = OperatorName::parse("etbuild.svd.default").ok_or(Reason::Arguments)?;
    let made = editor.keep(Call { operator, arguments: vec![Argument::Value(of)], outputs });
    made.try_into().map_err(|_| Reason::Arguments)
}

/// Eigenvalues and eigenvectors of symmetric matrices.
pub fn symmetric(editor: &mut Editor, of: ValueId, upper: bool) -> Result<[ValueId; 2], Reason> {
    let sizes = editor.static_sizes(of)?;
    let [outer @ .., size, _] = &sizes[..] else { return Err(Reason::Arguments) };
    let spec = |last: &[i32]| TensorSpec::contiguous(editor.spec(of).scalar_type, [outer, last].concat());
    let outputs = vec![spec(&[*size]), spec(&[*size, *size]), spec(&[*size, *size])];
    let operator = OperatorName::parse("etbuild.eigh.default").ok_or(Reason::Arguments)?;
    let made = editor.keep(Call { operator, arguments: vec![Argument::Value(of), Argument::Bool(upper)], outputs });
    let [values, vectors, _] = made[..] else { return Err(Reason::Arguments) };
    Ok([values, vectors])
}

fn is_upper(call: &Call) -> Result<bool, Reason> {
    match call.argument(1)? {
        Argument::Text(triangle) => Ok(matches!(triangle.as_str(), "U" | "u")),
        _ => Err(Reason::Arguments),
    }
}

/// `linalg_eigh(self, UPLO)` and `linalg_eigvalsh(self, UPLO)`.
pub fn eigen(editor: &mut Editor, call: &Call) -> Rewritten {
    let made = symmetric(editor, call.value(0)?, is_upper(call)?)?;
    Ok(made.into_iter().take(call.outputs.len()).collect())
}

/// `linalg_svd(A, full_matrices, driver)`: in full, further columns complete the bases.
pub fn svd(editor: &mut Editor, call: &Call) -> Rewritten {
    let [left, values, right] = singular(editor, call.value(0)?)?;
    if !call.flag(1)? {
        return Ok(vec![left, values, right]);
    }
    let left = completed(editor, left)?;
    let right = editor.transpose(right)?;
    let right = completed(editor, right)?;
    Ok(vec![left, values, editor.transpose(right)?])
}

/// `svd(self, some, compute_uv)`, whose right vectors are columns.
pub fn svd_of_columns(editor: &mut Editor, call: &Call) -> Rewritten {
    if !(call.flag(1)? && call.flag(2)?) {
        return Err(Reason::Unsupported("`svd` in full or without vectors"));
    }
    let [left, values, right] = singular(editor, call.value(0)?)?;
    Ok(vec![left, values, editor.transpose(right)?])
}

/// Orthonormal columns, followed by further columns of an orthonormal basis.
fn completed(editor: &mut Editor, columns: ValueId) -> Made {
    let sizes = editor.static_sizes(columns)?;
    let [outer @ .., rows, count] = &sizes[..] else { return Err(Reason::Arguments) };
    if rows == count {
        return Ok(columns);
    }
    let basis = basis(editor, columns)?;
    let last = outer.len() + 1;
    let rest = editor.slice(basis, last, i64::from(*count), i64::from(*rows))?;
    let output = TensorSpec::contiguous(editor.spec(columns).scalar_type, [outer, &[*rows, *rows]].concat());
    editor.cat(vec![columns, rest], last, output)
}

/// `linalg_svdvals(A, driver)`.
pub fn singular_values(editor: &mut Editor, call: &Call) -> Rewritten {
    let [_, values, _] = singular(editor, call.value(0)?)?;
    Ok(vec![values])
}

/// The magnitudes below which singular values or eigenvalues count as 0: `[.., 1]`. Arguments `index` and `index + 1` are the
/// absolute and the relative tolerance.
fn tolerance(editor: &mut Editor, call: &Call, (sizes, index): (ValueId, usize), relative: f64) -> Made {
    let scalar_type = editor.spec(sizes).scalar_type;
    let last = editor.spec(sizes).rank() - 1;
    let largest = editor.reduce("amax.default", sizes, &[last], true, vec![])?;
    let given = |editor: &mut Editor, index: usize| match call.argument(index)? {
        Argument::None => Ok::<_, Reason>(None),
        Argument::Value(value) => {
            let value = editor.convert(*value, scalar_type)?;
            let rank = editor.spec(value).rank();
            Ok(Some(if rank > 0 { editor.unsqueezed(value, rank)? } else { value }))
        }
        number => Ok(Some(editor.number(number.clone(), scalar_type)?)),
    };
    let (absolute, ratio) = (given(editor, index)?, given(editor, index + 1)?);
    let default = if absolute.is_some() { 0.0 } else { relative };
    let scaled = match (ratio, absolute) {
        (Some(ratio), _) => editor.pair("mul", largest, ratio)?,
        (None, Some(absolute)) if relative > 0.0 => {
            // The default ratio counts where the absolute tolerance is 0.
            let (none, spec) = (editor.compare("le.Scalar", absolute, Argument::Float(0.0))?, largest);
            let usual = editor.times(largest, relative)?;
            let zero = editor.number(Argument::Int(0), scalar_type)?;
            let dims = Dim::broadcast(&editor.dims(none), &editor.dims(spec))?;
            editor.choose(none, usual, zero, Dim::spec(scalar_type, &dims))?
        }
        _ => editor.times(largest, default)?,
    };
    match absolute {
        Some(absolute) => editor.combine("maximum.default", [absolute, scaled]),
        None => Ok(scaled),
    }
}

fn relative(editor: &Editor, of: ValueId) -> Result<f64, Reason> {
    let sizes = editor.static_sizes(of)?;
    let [.., rows, columns] = sizes[..] else { return Err(Reason::Arguments) };
    let epsilon =
        if editor.spec(of).scalar_type == ScalarType::Double { f64::EPSILON } else { f64::from(f32::EPSILON) };
    Ok(f64::from(rows.max(columns)) * epsilon)
}

/// `linalg_pinv(self, atol, rtol, hermitian)` and `pinverse(self, rcond)`.
pub fn pseudo_inverse(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    if output.sizes.contains(&0) {
        return Ok(vec![editor.full(Argument::Int(0), output)?]);
    }
    let hermitian = call.arguments.len() > 3 && call.flag(3)?;
    let [left, values, right] = if hermitian {
        let [values, vectors] = symmetric(editor, input, false)?;
        let rows = editor.transpose(vectors)?;
        [vectors, values, rows]
    } else {
        singular(editor, input)?
    };
    let sizes = editor.apply("abs", values)?;
    let least = if call.operator.name() == "pinverse" {
        let last = editor.spec(sizes).rank() - 1;
        let largest = editor.reduce("amax.default", sizes, &[last], true, vec![])?;
        editor.times(largest, call.number(1)?)?
    } else {
        let relative = relative(editor, input)?;
        tolerance(editor, call, (sizes, 1), relative)?
    };
    let counts = editor.compare("gt.Tensor", sizes, Argument::Value(least))?;
    let spec = editor.spec(values).clone();
    let inverse = editor.apply("reciprocal", values)?;
    let zero = editor.number(Argument::Int(0), spec.scalar_type)?;
    let inverse = editor.choose(counts, inverse, zero, spec)?;
    let (columns, rows) = (editor.transpose(right)?, editor.transpose(left)?);
    let rank = editor.spec(columns).rank();
    let inverse = editor.unsqueezed(inverse, rank - 2)?;
    let scaled = editor.pair("mul", columns, inverse)?;
    Ok(vec![editor.product(scaled, rows)?])
}

/// `linalg_matrix_rank(input, atol, rtol, hermitian)`.
pub fn rank(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    if editor.static_sizes(input)?.iter().rev().take(2).any(|size| *size == 0) {
        return Ok(vec![editor.full(Argument::Int(0), output)?]);
    }
    let values = if call.flag(3)? { symmetric(editor, input, false)?[0] } else { singular(editor, input)?[1] };
    let sizes = editor.apply("abs", values)?;
    let relative = relative(editor, input)?;
    let least = tolerance(editor, call, (sizes, 1), relative)?;
    let counts = editor.compare("gt.Tensor", sizes, Argument::Value(least))?;
    let counts = editor.convert(counts, ScalarType::Long)?;
    let last = editor.spec(counts).rank() - 1;
    Ok(vec![editor.sum(counts, &[last], false)?])
}

/// A function of the eigenvalues of symmetric matrices.
fn of_eigenvalues(editor: &mut Editor, [values, vectors]: [ValueId; 2]) -> Made {
    let rank = editor.spec(vectors).rank();
    let row = editor.unsqueezed(values, rank - 2)?;
    let scaled = editor.pair("mul", vectors, row)?;
    let rows = editor.transpose(vectors)?;
    editor.product(scaled, rows)
}

/// `linalg_matrix_sqrth(self)`: the root of positive semidefinite matrices.
pub fn root(editor: &mut Editor, call: &Call) -> Rewritten {
    let [values, vectors] = symmetric(editor, call.value(0)?, false)?;
    let positive = editor.map("clamp.default", values, vec![Argument::Float(0.0), Argument::None])?;
    let roots = editor.apply("sqrt", positive)?;
    Ok(vec![of_eigenvalues(editor, [roots, vectors])?])
}

/// `linalg_polar(A)`: an orthogonal and a symmetric factor.
pub fn polar(editor: &mut Editor, call: &Call) -> Rewritten {
    let [left, values, right] = singular(editor, call.value(0)?)?;
    let orthogonal = editor.product(left, right)?;
    let vectors = editor.transpose(right)?;
    Ok(vec![orthogonal, of_eigenvalues(editor, [values, vectors])?])
}

/// `linalg_matrix_exp(self)` and `matrix_exp(self)`.
pub fn exponential(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let operator = OperatorName::parse("etbuild.matrix_exp.default").ok_or(Reason::Arguments)?;
    let arguments = vec![Argument::Value(call.value(0)?)];
    Ok(editor.keep(Call { operator, arguments, outputs: vec![output.clone(), output] }).into_iter().take(1).collect())
}
