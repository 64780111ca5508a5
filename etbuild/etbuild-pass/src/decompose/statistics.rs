//! Deviations, norms and further reductions in terms of reductions with kernels.

use et_core::ScalarType;
use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten, reduced};

/// The longest dimension for an unrolled running product.
const LONGEST: i32 = 256;

/// The arguments of `var` and related operators.
struct Spread {
    input: ValueId,
    dims: Vec<usize>,
    correction: Argument,
    keep: bool,
}

/// `(self, unbiased)`, `(self, dim, unbiased, keepdim)` or `(self, dim, correction, keepdim)`.
fn spread(editor: &Editor, call: &Call) -> Result<Spread, Reason> {
    let input = call.value(0)?;
    let rank = editor.spec(input).rank();
    let unbiased = |index| Ok::<_, Reason>(Argument::Int(i64::from(call.flag(index)?)));
    match call.operator.overload() {
        "default" => Ok(Spread { input, dims: (0..rank).collect(), correction: unbiased(1)?, keep: false }),
        "dim" => Ok(Spread { input, dims: call.dims(1, rank)?, correction: unbiased(2)?, keep: call.flag(3)? }),
        _ => {
            let correction = match call.argument(2)? {
                Argument::None => Argument::Int(1),
                number => number.clone(),
            };
            Ok(Spread { input, dims: call.dims(1, rank)?, correction, keep: call.flag(3)? })
        }
    }
}

fn variance_of(editor: &mut Editor, spread: &Spread) -> Result<ValueId, Reason> {
    let dims = reduced(&editor.dims(spread.input), &spread.dims, spread.keep);
    let output = Dim::spec(editor.spec(spread.input).scalar_type, &dims);
    let dims = Argument::Ints(spread.dims.iter().map(|dim| *dim as i64).collect());
    let arguments = vec![Argument::Value(spread.input), dims, spread.correction.clone(), Argument::Bool(spread.keep)];
    let operator = etbuild_ir::OperatorName::aten("var", "correction");
    editor.keep(Call { operator, arguments, outputs: vec![output] }).pop().ok_or(Reason::Arguments)
}

/// `var` in every form: the overload with a correction.
pub fn variance(editor: &mut Editor, call: &Call) -> Rewritten {
    let spread = spread(editor, call)?;
    Ok(vec![variance_of(editor, &spread)?])
}

/// `std` in every form.
pub fn deviation(editor: &mut Editor, call: &Call) -> Rewritten {
    let variance = variance(editor, call)?.pop().ok_or(Reason::Arguments)?;
    Ok(vec![editor.apply("sqrt", variance)?])
}

/// `var_mean` in every form.
pub fn variance_and_mean(editor: &mut Editor, call: &Call) -> Rewritten {
    let spread = spread(editor, call)?;
    let variance = variance_of(editor, &spread)?;
    Ok(vec![variance, editor.reduce("mean.dim", spread.input, &spread.dims, spread.keep, vec![Argument::None])?])
}

/// `std_mean` in every form.
pub fn deviation_and_mean(editor: &mut Editor, call: &Call) -> Rewritten {
    let mut made = variance_and_mean(editor, call)?;
    if let Some(first) = made.first_mut() {
        *first = editor.apply("sqrt", *first)?;
    }
    Ok(made)
}

/// `linalg_vector_norm(self, ord, dim, keepdim, dtype)` and `norm(self, p, dim, keepdim)`.
pub fn norm(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = editor.convert(call.value(0)?, call.output()?.scalar_type)?;
    let order = if *call.argument(1)? == Argument::None { 2.0 } else { call.number(1)? };
    let rank = editor.spec(input).rank();
    let (dims, keep) = match call.arguments.len() {
        2 => ((0..rank).collect(), false),
        _ => (call.dims(2, rank)?, call.flag(3)?),
    };
    Ok(vec![norm_of(editor, input, order, &dims, keep)?])
}

/// `dist(self, other, p)`: the norm of the difference.
pub fn distance(editor: &mut Editor, call: &Call) -> Rewritten {
    let difference = editor.pair("sub", call.value(0)?, call.value(1)?)?;
    let dims: Vec<usize> = (0..editor.spec(difference).rank()).collect();
    Ok(vec![norm_of(editor, difference, call.number(2)?, &dims, false)?])
}

/// The norm of this order over `dims`.
pub fn norm_of(editor: &mut Editor, of: ValueId, order: f64, dims: &[usize], keep: bool) -> Result<ValueId, Reason> {
    if order == 2.0 {
        let squares = editor.pair("mul", of, of)?;
        let sum = editor.sum(squares, dims, keep)?;
        return editor.apply("sqrt", sum);
    }
    let size = editor.apply("abs", of)?;
    if order == 0.0 {
        let scalar_type = editor.spec(of).scalar_type;
        let present = editor.compare("ne.Scalar", of, Argument::Int(0))?;
        let present = editor.convert(present, scalar_type)?;
        return editor.sum(present, dims, keep);
    }
    if order == 1.0 {
        return editor.sum(size, dims, keep);
    }
    if order.is_infinite() {
        let name = if order > 0.0 { "amax.default" } else { "amin.default" };
        return editor.reduce(name, size, dims, keep, vec![]);
    }
    let powers = editor.map("pow.Tensor_Scalar", size, vec![Argument::Float(order)])?;
    let sum = editor.sum(powers, dims, keep)?;
    editor.map("pow.Tensor_Scalar", sum, vec![Argument::Float(1.0 / order)])
}

/// `cosine_similarity(x1, x2, dim, eps)`.
pub fn cosine(editor: &mut Editor, call: &Call) -> Rewritten {
    let eps = call.number(3)?;
    let operands = [call.value(0)?, call.value(1)?];
    let dims = Dim::broadcast(&editor.dims(operands[0]), &editor.dims(operands[1]))?;
    let along = call.dims(2, dims.len())?;
    let operands = [editor.expand_as(operands[0], &dims)?, editor.expand_as(operands[1], &dims)?];
    let product = editor.pair("mul", operands[0], operands[1])?;
    let product = editor.sum(product, &along, false)?;
    let mut lengths = Vec::new();
    for operand in operands {
        let length = norm_of(editor, operand, 2.0, &along, false)?;
        lengths.push(editor.map("clamp.default", length, vec![Argument::Float(eps), Argument::None])?);
    }
    let [first, second] = lengths[..] else { return Err(Reason::Arguments) };
    let scale = editor.pair("mul", first, second)?;
    Ok(vec![editor.pair("div", product, scale)?])
}

/// `logsumexp(self, dim, keepdim)`, shifted by the largest element.
pub fn log_of_sum(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = editor.convert(call.value(0)?, call.output()?.scalar_type)?;
    let (spec, keep) = (editor.spec(input).clone(), call.flag(2)?);
    let dims = call.dims(1, spec.rank())?;
    let largest = editor.reduce("amax.default", input, &dims, true, vec![])?;
    let size = editor.apply("abs", largest)?;
    let infinite = editor.compare("eq.Scalar", size, Argument::Float(f64::INFINITY))?;
    let zero = editor.number(Argument::Int(0), spec.scalar_type)?;
    let kept = editor.spec(largest).clone();
    let shift = editor.choose(infinite, zero, largest, kept)?;
    let shifted = editor.pair("sub", input, shift)?;
    let exponential = editor.apply("exp", shifted)?;
    let sum = editor.sum(exponential, &dims, keep)?;
    let log = editor.apply("log", sum)?;
    let kept = reduced(&editor.dims(input), &dims, keep);
    let shift = editor.view_as(shift, &kept)?;
    Ok(vec![editor.pair("add", log, shift)?])
}

/// `aminmax(self, dim, keepdim)`.
pub fn both_extrema(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let dims = call.dims(1, editor.spec(input).rank())?;
    let keep = call.flag(2)?;
    ["amin.default", "amax.default"].iter().map(|name| editor.reduce(name, input, &dims, keep, vec![])).collect()
}

/// `all(self)`, `all(self, dim, keepdim)`: no element is false.
pub fn all(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    if output.scalar_type != ScalarType::Bool {
        return Err(Reason::Unsupported("`all` of `uint8`"));
    }
    let wrong = editor.test("logical_not", call.value(0)?)?;
    let mut arguments = call.arguments.clone();
    if let Some(first) = arguments.first_mut() {
        *first = Argument::Value(wrong);
    }
    let any = editor.call(&format!("any.{}", call.operator.overload()), arguments, output)?;
    Ok(vec![editor.test("logical_not", any)?])
}

/// `count_nonzero(self, dim)`.
pub fn count(editor: &mut Editor, call: &Call) -> Rewritten {
    let present = editor.compare("ne.Scalar", call.value(0)?, Argument::Int(0))?;
    let present = editor.convert(present, ScalarType::Long)?;
    let dims = call.dims(1, editor.spec(present).rank())?;
    Ok(vec![editor.sum(present, &dims, false)?])
}

/// `cumprod(self, dim, dtype)`: unrolled multiplications.
pub fn running_product(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let input = editor.convert(call.value(0)?, output.scalar_type)?;
    if output.rank() == 0 {
        return Ok(vec![input]);
    }
    let dim = call.dim(1, output.rank())?;
    let size = *output.sizes.get(dim).ok_or(Reason::Arguments)?;
    if size > LONGEST {
        return Err(Reason::Unsupported("`cumprod` of more than 256 elements"));
    }
    let mut parts: Vec<ValueId> = Vec::new();
    for index in 0..i64::from(size) {
        let part = editor.slice(input, dim, index, index + 1)?;
        let part = match parts.last() {
            Some(before) => editor.pair("mul", *before, part)?,
            None => part,
        };
        parts.push(part);
    }
    if parts.is_empty() { Ok(vec![input]) } else { Ok(vec![editor.cat(parts, dim, output)?]) }
}

/// `renorm(self, p, dim, maxnorm)`: parts of a dimension whose norm is larger are scaled to the norm.
pub fn renorm(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let rank = editor.spec(input).rank();
    let (order, dim, most) = (call.number(1)?, call.dim(2, rank)?, call.number(3)?);
    let others: Vec<usize> = (0..rank).filter(|other| *other != dim).collect();
    let norm = norm_of(editor, input, order, &others, true)?;
    let safe = editor.plus(norm, 1e-7)?;
    let inverse = editor.apply("reciprocal", safe)?;
    let factor = editor.times(inverse, most)?;
    let longer = editor.compare("gt.Scalar", norm, Argument::Float(most))?;
    let (one, spec) = (editor.number(Argument::Int(1), editor.spec(norm).scalar_type)?, editor.spec(norm).clone());
    let factor = editor.choose(longer, factor, one, spec)?;
    Ok(vec![editor.pair("mul", input, factor)?])
}
