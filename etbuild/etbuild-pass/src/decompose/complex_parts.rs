//! Comparisons, selection, reductions and conversions of complex tensors, part by part.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec};

use super::complex::{joined, separated};
use super::fourier::part_of;
use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `eq(self, other)` and `ne(self, other)`: of both parts.
pub fn equality(editor: &mut Editor, call: &Call) -> Rewritten {
    let is_complex =
        |argument: &Argument| matches!(argument, Argument::Value(id) if editor.spec(*id).scalar_type.is_complex());
    if !call.arguments.iter().any(is_complex) {
        return Ok(editor.keep(call.clone()));
    }
    let (name, join) =
        if call.operator.name() == "eq" { ("eq.Tensor", "logical_and") } else { ("ne.Tensor", "logical_or") };
    let mut masks = Vec::new();
    let (left, right) = (separated(editor, call.argument(0)?)?, separated(editor, call.argument(1)?)?);
    for (left, right) in left.into_iter().zip(right) {
        masks.push(editor.compare(name, left, Argument::Value(right))?);
    }
    let masks = masks.into_iter().map(Argument::Value).collect();
    Ok(vec![editor.call(&format!("{join}.default"), masks, call.output()?)?])
}

/// `isnan(self)` and `isinf(self)`: of any part.
pub fn test(editor: &mut Editor, call: &Call) -> Rewritten {
    if !editor.spec(call.value(0)?).scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    let parts = separated(editor, call.argument(0)?)?;
    let name = call.operator.name();
    let masks = [editor.test(name, parts[0])?, editor.test(name, parts[1])?];
    Ok(vec![editor.combine("logical_or.default", masks)?])
}

/// `where(condition, self, other)`: of each part.
pub fn choice(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    if !output.scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    let (yes, no) = (separated(editor, call.argument(1)?)?, separated(editor, call.argument(2)?)?);
    let mut parts = Vec::new();
    for (yes, no) in yes.into_iter().zip(no) {
        let spec = TensorSpec { scalar_type: part_of(output.scalar_type), ..output.clone() };
        let (yes, no) = (editor.convert(yes, spec.scalar_type)?, editor.convert(no, spec.scalar_type)?);
        parts.push(editor.choose(call.value(0)?, yes, no, spec)?);
    }
    let [real, imaginary] = parts[..] else { return Err(Reason::Arguments) };
    Ok(vec![joined(editor, [real, imaginary], output)?])
}

/// `full(size, value)`, with a complex or real value.
pub fn filled(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    if !output.scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    let [real, imaginary] = separated(editor, call.argument(1)?)?;
    let number = joined(editor, [real, imaginary], TensorSpec::contiguous(output.scalar_type, []))?;
    let arguments = vec![Argument::Value(number), call.argument(0)?.clone(), Argument::Bool(false)];
    Ok(vec![editor.call("expand.default", arguments, output)?])
}

/// `prod(self, dim, keepdim)` and `prod(self)`: a product after the other.
pub fn product(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    if !output.scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    let mut input = editor.convert(call.value(0)?, output.scalar_type)?;
    let whole = call.operator.overload() == "default" || editor.spec(input).rank() == 0;
    if whole {
        input = editor.flattened(input)?;
    }
    let dim = if whole { 0 } else { call.dim(1, editor.spec(input).rank())? };
    let size = *editor.static_sizes(input)?.get(dim).ok_or(Reason::Arguments)?;
    if size > 256 {
        return Err(Reason::Unsupported("`prod` of more than 256 complex elements"));
    }
    let mut made = None;
    for index in 0..i64::from(size) {
        let part = editor.slice(input, dim, index, index + 1)?;
        made = Some(made.map_or(Ok(part), |made| editor.pair("mul", made, part))?);
    }
    match made {
        Some(made) => Ok(vec![editor.view_like(made, &output)?]),
        None => Ok(vec![editor.full(Argument::Int(1), output)?]),
    }
}

/// `cumsum(self, dim)`: of each part.
pub fn running_sum(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    if !output.scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    let parts = separated(editor, call.argument(0)?)?;
    let rest = || vec![call.arguments.get(1).cloned().unwrap_or(Argument::Int(0)), Argument::None];
    let sums = [editor.map("cumsum.default", parts[0], rest())?, editor.map("cumsum.default", parts[1], rest())?];
    Ok(vec![joined(editor, sums, output)?])
}

/// `_to_copy(self, dtype)`: a real number has an imaginary part of 0; a conversion to real numbers drops the imaginary part.
pub fn conversion(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let from = editor.spec(input).scalar_type;
    if from == output.scalar_type || (!from.is_complex() && !output.scalar_type.is_complex()) {
        return Ok(editor.keep(call.clone()));
    }
    let [real, imaginary] = separated(editor, call.argument(0)?)?;
    if !output.scalar_type.is_complex() {
        if output.scalar_type == ScalarType::Bool {
            return Ok(vec![editor.compare("ne.Scalar", input, Argument::Int(0))?]);
        }
        return Ok(vec![editor.convert(real, output.scalar_type)?]);
    }
    Ok(vec![joined(editor, [real, imaginary], output)?])
}
