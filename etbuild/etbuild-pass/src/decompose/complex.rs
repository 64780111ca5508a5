//! Arithmetic on complex tensors, as arithmetic on their real and imaginary parts.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::fourier::{as_complex, part_of, parts};
use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// The parts of a complex operand; a real operand has no imaginary part.
#[derive(Clone, Copy)]
struct Pair {
    real: ValueId,
    imaginary: Option<ValueId>,
}

/// `mul(self, other)`.
pub fn product(editor: &mut Editor, call: &Call) -> Rewritten {
    of_pairs(editor, call, |editor, left, right, _| {
        let real = editor.pair("mul", left.real, right.real)?;
        let cross = |editor: &mut Editor, part: ValueId, other: Option<ValueId>| {
            other.map(|other| editor.pair("mul", part, other)).transpose()
        };
        let (outer, inner) = (cross(editor, left.real, right.imaginary)?, cross(editor, right.real, left.imaginary)?);
        let imaginary = match (outer, inner) {
            (Some(outer), Some(inner)) => Some(editor.pair("add", outer, inner)?),
            (one, other) => one.or(other),
        };
        let (Some(first), Some(second)) = (left.imaginary, right.imaginary) else {
            return Ok(Pair { real, imaginary });
        };
        let squared = editor.pair("mul", first, second)?;
        Ok(Pair { real: editor.pair("sub", real, squared)?, imaginary })
    })
}

/// `add(self, other, alpha)`.
pub fn sum(editor: &mut Editor, call: &Call) -> Rewritten {
    with_factor(editor, call, "add")
}

/// `sub(self, other, alpha)`.
pub fn difference(editor: &mut Editor, call: &Call) -> Rewritten {
    with_factor(editor, call, "sub")
}

fn with_factor(editor: &mut Editor, call: &Call, name: &'static str) -> Rewritten {
    of_pairs(editor, call, |editor, left, right, call| {
        let right = match call.number(2)? {
            1.0 => right,
            factor => right.map(|part| editor.times(part, factor))?,
        };
        let imaginary = match (left.imaginary, right.imaginary) {
            (Some(first), Some(second)) => Some(editor.pair(name, first, second)?),
            (None, Some(second)) if name == "sub" => Some(editor.apply("neg", second)?),
            (one, other) => one.or(other),
        };
        Ok(Pair { real: editor.pair(name, left.real, right.real)?, imaginary })
    })
}

/// `div(self, other)`: by a complex number, through the conjugate. The larger part of the divisor scales both operands, so that
/// no square overflows.
pub fn quotient(editor: &mut Editor, call: &Call) -> Rewritten {
    of_pairs(editor, call, |editor, left, right, _| {
        let Some(imaginary) = right.imaginary else {
            return left.map(|part| editor.pair("div", part, right.real));
        };
        let sizes = [editor.apply("abs", right.real)?, editor.apply("abs", imaginary)?];
        let scale = editor.combine("maximum.default", sizes)?;
        let [cosine, sine] = [editor.pair("div", right.real, scale)?, editor.pair("div", imaginary, scale)?];
        let divisor = [editor.pair("mul", right.real, cosine)?, editor.pair("mul", imaginary, sine)?];
        let divisor = editor.pair("add", divisor[0], divisor[1])?;
        let turned = turned_back(editor, left, [cosine, sine])?;
        let made = turned.map(|part| editor.pair("div", part, divisor))?;
        // Both parts of a divisor of 0 divide as a real 0 does.
        let none = editor.compare("eq.Scalar", scale, Argument::Int(0))?;
        let plain = left.map(|part| editor.pair("div", part, scale))?;
        Ok(Pair {
            real: either(editor, none, plain.real, made.real)?,
            imaginary: match (plain.imaginary, made.imaginary) {
                (Some(plain), Some(made)) => Some(either(editor, none, plain, made)?),
                (_, made) => made,
            },
        })
    })
}

/// A number times the conjugate of `cosine + i sine`.
fn turned_back(editor: &mut Editor, of: Pair, [cosine, sine]: [ValueId; 2]) -> Result<Pair, Reason> {
    let (mut real, across) = (editor.pair("mul", of.real, cosine)?, editor.pair("mul", of.real, sine)?);
    let mut imaginary = editor.apply("neg", across)?;
    if let Some(part) = of.imaginary {
        let (along, across) = (editor.pair("mul", part, sine)?, editor.pair("mul", part, cosine)?);
        (real, imaginary) = (editor.pair("add", real, along)?, editor.pair("add", imaginary, across)?);
    }
    Ok(Pair { real, imaginary: Some(imaginary) })
}

fn either(editor: &mut Editor, mask: ValueId, yes: ValueId, no: ValueId) -> Result<ValueId, Reason> {
    let output = editor.spec(no).clone();
    editor.choose(mask, yes, no, output)
}

/// `neg(self)`.
pub fn negative(editor: &mut Editor, call: &Call) -> Rewritten {
    of_parts(editor, call, |editor, parts| editor.apply("neg", parts))
}

/// `exp(self)`: a length and a direction.
pub fn exponential(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    if !output.scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    let Pair { real, imaginary } = pair(editor, call.argument(0)?, part_of(output.scalar_type))?;
    let length = editor.apply("exp", real)?;
    Ok(vec![editor.call(
        "polar.default",
        vec![Argument::Value(length), Argument::Value(imaginary.ok_or(Reason::Arguments)?)],
        output,
    )?])
}

/// `sum(self, dim, keepdim)` and `mean`: of each part.
pub fn reduction(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    if !output.scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    let name = format!("{}.{}", call.operator.name(), call.operator.overload());
    let input = as_complex(editor, call.value(0)?)?;
    let dims = call.dims(1, editor.spec(input).rank())?;
    let keep = call.flag(2)?;
    of_each(editor, input, output, |editor, parts| editor.reduce(&name, parts, &dims, keep, vec![Argument::None]))
}

/// `angle(self)` of complex numbers.
pub fn angle(editor: &mut Editor, input: ValueId) -> Rewritten {
    let part = part_of(editor.spec(input).scalar_type);
    let Pair { real, imaginary } = pair(editor, &Argument::Value(input), part)?;
    Ok(vec![editor.combine("atan2.default", [imaginary.ok_or(Reason::Arguments)?, real])?])
}

/// `mm(self, mat2)` and `bmm(self, mat2)`.
pub fn matrix(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(match matrix_product(editor, call)? {
        Some(made) => vec![made],
        None => editor.keep(call.clone()),
    })
}

/// The product of complex matrices; `None` for real matrices.
pub fn matrix_product(editor: &mut Editor, call: &Call) -> Result<Option<ValueId>, Reason> {
    let output = call.output()?;
    if !output.scalar_type.is_complex() {
        return Ok(None);
    }
    let part = TensorSpec { scalar_type: part_of(output.scalar_type), ..output.clone() };
    let [left, right] =
        [pair(editor, call.argument(0)?, part.scalar_type)?, pair(editor, call.argument(1)?, part.scalar_type)?];
    let multiply = |editor: &mut Editor, first: ValueId, second: ValueId| {
        editor.call("matmul.default", [first, second].map(Argument::Value).to_vec(), part.clone())
    };
    let (Some(first), Some(second)) = (left.imaginary, right.imaginary) else { return Err(Reason::Arguments) };
    let real = [multiply(editor, left.real, right.real)?, multiply(editor, first, second)?];
    let imaginary = [multiply(editor, left.real, second)?, multiply(editor, first, right.real)?];
    let real = editor.pair("sub", real[0], real[1])?;
    let imaginary = editor.pair("add", imaginary[0], imaginary[1])?;
    Ok(Some(editor.call("complex.default", [real, imaginary].map(Argument::Value).to_vec(), output)?))
}

/// Keeps a call with a real result. Else combines the parts of both operands.
fn of_pairs(
    editor: &mut Editor,
    call: &Call,
    combine: impl Fn(&mut Editor, Pair, Pair, &Call) -> Result<Pair, Reason>,
) -> Rewritten {
    let output = call.output()?;
    if !output.scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    let part = part_of(output.scalar_type);
    let (left, right) = (pair(editor, call.argument(0)?, part)?, pair(editor, call.argument(1)?, part)?);
    let Pair { real, imaginary } = combine(editor, left, right, call)?;
    let parts = vec![Argument::Value(real), Argument::Value(imaginary.ok_or(Reason::Arguments)?)];
    Ok(vec![editor.call("complex.default", parts, output)?])
}

/// Keeps a call with a real result. Else computes with the parts along a last dimension.
fn of_parts(
    editor: &mut Editor,
    call: &Call,
    compute: impl FnOnce(&mut Editor, ValueId) -> Result<ValueId, Reason>,
) -> Rewritten {
    let output = call.output()?;
    if !output.scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    of_each(editor, call.value(0)?, output, compute)
}

fn of_each(
    editor: &mut Editor,
    input: ValueId,
    output: TensorSpec,
    compute: impl FnOnce(&mut Editor, ValueId) -> Result<ValueId, Reason>,
) -> Rewritten {
    let part = TensorSpec { scalar_type: part_of(output.scalar_type), ..editor.spec(input).clone() };
    let parts = parts(editor, input, &part)?;
    let made = compute(editor, parts)?;
    Ok(vec![editor.call("view_as_complex.default", vec![Argument::Value(made)], output)?])
}

impl Pair {
    fn map(self, mut change: impl FnMut(ValueId) -> Result<ValueId, Reason>) -> Result<Self, Reason> {
        Ok(Self { real: change(self.real)?, imaginary: self.imaginary.map(change).transpose()? })
    }
}

/// The parts of an operand in the type `part`.
fn pair(editor: &mut Editor, operand: &Argument, part: ScalarType) -> Result<Pair, Reason> {
    let value = editor.operand(operand, part)?;
    if !editor.spec(value).scalar_type.is_complex() {
        return Ok(Pair { real: editor.convert(value, part)?, imaginary: None });
    }
    let own = TensorSpec { scalar_type: part_of(editor.spec(value).scalar_type), ..editor.spec(value).clone() };
    let both = parts(editor, value, &own)?;
    let part_at = |editor: &mut Editor, index: i64| {
        let arguments = vec![Argument::Value(both), Argument::Int(own.rank() as i64), Argument::Int(index)];
        let made = editor.call("select.int", arguments, own.clone())?;
        editor.convert(made, part)
    };
    Ok(Pair { real: part_at(editor, 0)?, imaginary: Some(part_at(editor, 1)?) })
}

/// The real and the imaginary part of an operand; the imaginary part of a real operand is 0.
pub fn separated(editor: &mut Editor, operand: &Argument) -> Result<[ValueId; 2], Reason> {
    let part = match operand {
        Argument::Value(id) => part_of(editor.spec(*id).scalar_type),
        _ => ScalarType::Double,
    };
    let Pair { real, imaginary } = pair(editor, operand, part)?;
    let zero = || Argument::Int(0);
    Ok([real, imaginary.map_or_else(|| editor.number(zero(), part), Ok)?])
}

/// A complex value from its parts, which broadcast.
pub fn joined(editor: &mut Editor, parts: [ValueId; 2], output: TensorSpec) -> Result<ValueId, Reason> {
    let part = part_of(output.scalar_type);
    let parts = [editor.convert(parts[0], part)?, editor.convert(parts[1], part)?];
    editor.call("complex.default", parts.map(Argument::Value).to_vec(), output)
}
