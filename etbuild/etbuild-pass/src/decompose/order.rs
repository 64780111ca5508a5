//! Order statistics, in terms of sorting.

use et_core::ScalarType;
use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

type Made = Result<ValueId, Reason>;

/// `kthvalue(self, k, dim, keepdim)`: the element of rank `k`, counted from 1, and its index.
pub fn of_rank(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let rank = editor.spec(input).rank();
    let (input, dim) = if rank == 0 { (editor.flattened(input)?, 0) } else { (input, call.dim(2, rank)?) };
    let at = call.int(1)?.checked_sub(1).ok_or(Reason::Arguments)?;
    let sorted = editor.sorted(input, dim, false)?;
    let mut made = Vec::new();
    for of in sorted {
        let part = editor.slice(of, dim, at, at + 1)?;
        made.push(if call.flag(3)? && rank > 0 { part } else { editor.squeezed(part, dim)? });
    }
    Ok(made)
}

/// `nanmedian(self)` and `nanmedian(self, dim, keepdim)`: the lower middle of the elements that are not NaN.
pub fn median_of_numbers(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut input, mut dim, mut keep) = (call.value(0)?, 0, false);
    let rank = editor.spec(input).rank();
    if call.operator.overload() == "default" || rank == 0 {
        input = editor.flattened(input)?;
    } else {
        (dim, keep) = (call.dim(1, rank)?, call.flag(2)?);
    }
    let sorted = editor.sorted(input, dim, false)?;
    let count = numbers(editor, input, dim)?;
    let before = editor.map("sub.Scalar", count, vec![Argument::Int(1), Argument::Int(1)])?;
    let middle = editor.map("clamp.default", before, vec![Argument::Int(0), Argument::None])?;
    let half = vec![Argument::Int(2), Argument::Text("floor".into())];
    let middle = editor.map("div.Scalar_mode", middle, half)?;
    let mut made = Vec::new();
    for of in sorted.into_iter().take(call.outputs.len()) {
        let part = editor.gather(of, dim, middle)?;
        made.push(if keep { part } else { editor.squeezed(part, dim)? });
    }
    Ok(made)
}

/// How many elements along a dimension are not NaN, as `int64` with the dimension kept.
fn numbers(editor: &mut Editor, input: ValueId, dim: usize) -> Made {
    let mask = if editor.spec(input).scalar_type.is_float() {
        let undefined = editor.test("isnan", input)?;
        editor.test("logical_not", undefined)?
    } else {
        editor.compare("eq.Tensor", input, Argument::Value(input))?
    };
    let ones = editor.convert(mask, ScalarType::Long)?;
    editor.sum(ones, &[dim], true)
}

/// `nanmean(self, dim, keepdim, dtype)`: the sum of the elements that are not NaN, divided by their count.
pub fn mean_of_numbers(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let sum = editor.call("nansum.default", call.arguments.clone(), output.clone())?;
    let undefined = editor.test("isnan", input)?;
    let present = editor.test("logical_not", undefined)?;
    let present = editor.convert(present, output.scalar_type)?;
    let dims = call.dims(1, editor.spec(input).rank())?;
    let count = editor.sum(present, &dims, call.flag(2)?)?;
    Ok(vec![editor.pair("div", sum, count)?])
}

/// `quantile(self, q, dim, keepdim, interpolation)` and `nanquantile`: between neighbours of the sorted elements.
pub fn quantile(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut input, output) = (call.value(0)?, call.output()?);
    let rank = editor.spec(input).rank();
    let whole = *call.argument(2)? == Argument::None || rank == 0;
    let (dim, keep) = (if whole { 0 } else { call.dim(2, rank)? }, call.flag(3)?);
    if whole {
        input = editor.flattened(input)?;
    }
    let scalar_type = output.scalar_type;
    // The quantiles lie along a new first dimension.
    let wanted = editor.operand(call.argument(1)?, scalar_type)?;
    let several = editor.spec(wanted).rank() == 1;
    let wanted = editor.flattened(wanted)?;
    let inner = editor.spec(input).rank();
    let wanted = editor.along(wanted, 0, inner + 1)?;
    let [sorted, _] = editor.sorted(input, dim, false)?;
    let places = places(editor, input, dim, wanted, call.operator.name() == "quantile")?;
    let value = between(editor, sorted, dim, places, call.argument(4)?)?;
    // From [quantiles, .., 1, ..] to the sizes of the output.
    let dims = editor.static_sizes(value)?;
    let lost = |index: usize| (index == 0 && !several) || (index == dim + 1 && (!keep || whole));
    let sizes: Vec<i32> = dims.iter().enumerate().filter(|(index, _)| !lost(*index)).map(|(_, size)| *size).collect();
    let value = editor.view(value, &sizes)?;
    Ok(vec![if whole { editor.view(value, &output.sizes)? } else { value }])
}

/// The places of quantiles among sorted elements: `[quantiles, .., 1, ..]`, possibly with fractions. The place is of NaN, the last,
/// where an element is NaN and `strict`.
fn places(editor: &mut Editor, input: ValueId, dim: usize, wanted: ValueId, strict: bool) -> Made {
    let scalar_type = editor.spec(input).scalar_type;
    let count = numbers(editor, input, dim)?;
    let count = editor.convert(count, scalar_type)?;
    let last = editor.plus(count, -1.0)?;
    let last = editor.map("clamp.default", last, vec![Argument::Float(0.0), Argument::None])?;
    let last = editor.unsqueezed(last, 0)?;
    let places = editor.pair("mul", wanted, last)?;
    if !strict {
        return Ok(places);
    }
    let size = *editor.static_sizes(input)?.get(dim).ok_or(Reason::Arguments)?;
    let count = editor.unsqueezed(count, 0)?;
    let some = editor.compare("lt.Scalar", count, Argument::Float(f64::from(size)))?;
    let end = editor.number(Argument::Float(f64::from(size - 1)), scalar_type)?;
    let output = editor.spec(places).clone();
    editor.choose(some, end, places, output)
}

fn between(editor: &mut Editor, sorted: ValueId, dim: usize, places: ValueId, mode: &Argument) -> Made {
    let Argument::Text(mode) = mode else { return Err(Reason::Arguments) };
    let rounded = match mode.as_str() {
        "linear" | "midpoint" => None,
        "lower" => Some("floor"),
        "higher" => Some("ceil"),
        "nearest" => Some("round"),
        _ => return Err(Reason::Arguments),
    };
    if let Some(name) = rounded {
        let place = editor.apply(name, places)?;
        return at(editor, sorted, dim, place);
    }
    let (below, above) = (editor.apply("floor", places)?, editor.apply("ceil", places)?);
    let weight = if mode == "linear" { editor.pair("sub", places, below)? } else { half(editor, places)? };
    let [start, end] = [at(editor, sorted, dim, below)?, at(editor, sorted, dim, above)?];
    let output = editor.spec(start).clone();
    let arguments = [start, end, weight].map(Argument::Value).to_vec();
    editor.call("lerp.Tensor", arguments, output)
}

fn half(editor: &mut Editor, like: ValueId) -> Made {
    let nothing = editor.times(like, 0.0)?;
    editor.plus(nothing, 0.5)
}

/// The elements at whole places.
fn at(editor: &mut Editor, sorted: ValueId, dim: usize, places: ValueId) -> Made {
    let index = editor.convert(places, ScalarType::Long)?;
    let count = *editor.dims(index).first().ok_or(Reason::Arguments)?;
    let whole = editor.unsqueezed(sorted, 0)?;
    let mut dims = editor.dims(whole);
    *dims.first_mut().ok_or(Reason::Arguments)? = count;
    let whole = editor.expand_as(whole, &dims)?;
    editor.gather(whole, dim + 1, index)
}
