//! `aten.embedding_bag`: rows of a table, reduced per bag.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// Reductions by the operator's numbers.
const SUM: i64 = 0;
const MEAN: i64 = 1;

/// The gathered rows, and the bag of each row.
struct Bags {
    rows: ValueId,
    /// A row per bag with a mark for each gathered row of the bag.
    members: ValueId,
    count: i32,
    total: i32,
    width: i32,
    scalar_type: ScalarType,
}

/// `embedding_bag(weight, indices, offsets, scale_grad, mode, sparse, per_sample_weights, include_last_offset,
/// padding_idx)`. Only the first result is computed.
pub fn bags(editor: &mut Editor, call: &Call) -> Rewritten {
    let bags = looked_up(editor, call)?;
    let made = match call.int(4)? {
        SUM => sum(editor, call, &bags)?,
        MEAN => mean(editor, &bags)?,
        _ => max(editor, &bags)?,
    };
    Ok(vec![made])
}

fn looked_up(editor: &mut Editor, call: &Call) -> Result<Bags, Reason> {
    let (weight, indices, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let ([count, width], [total]) = (&output.sizes[..], &editor.sizes(indices)[..]) else {
        return Err(Reason::Unsupported("indices of two dimensions"));
    };
    if output.is_dynamic() || editor.spec(indices).is_dynamic() {
        return Err(Reason::Dynamic);
    }
    let (count, width, total) = (*count, *width, *total);
    let rows = TensorSpec::contiguous(output.scalar_type, [total, width]);
    let arguments = vec![Argument::Value(weight), Argument::Value(indices), Argument::Int(-1)];
    let rest = [Argument::Bool(false), Argument::Bool(false)];
    let rows = editor.call("embedding.default", arguments.into_iter().chain(rest).collect(), rows)?;
    let mut members = members(editor, call, count, total)?;
    if let Argument::Int(padding) = *call.argument(8)? {
        // A negative index counts from the last row.
        let padding = if padding < 0 { padding + i64::from(editor.sizes(weight)[0]) } else { padding };
        let kept = editor.compare("ne.Scalar", indices, Argument::Int(padding))?;
        members = both(editor, members, kept)?;
    }
    Ok(Bags { rows, members, count, total, width, scalar_type: output.scalar_type })
}

/// A row is in a bag if the bag's offset is at or before the row, and the next bag's offset is behind.
fn members(editor: &mut Editor, call: &Call, count: i32, total: i32) -> Result<ValueId, Reason> {
    let mut offsets = call.value(2)?;
    let positions = editor.integers(&(0..i64::from(total)).collect::<Vec<_>>())?;
    if editor.sizes(offsets) != [count] {
        offsets = editor.slice(offsets, 0, 0, i64::from(count))?;
    }
    let begun = editor.view(offsets, &[count, 1])?;
    let begun = editor.compare("le.Tensor", begun, Argument::Value(positions))?;
    if count < 2 {
        return Ok(begun);
    }
    let next = editor.slice(begun, 0, 1, i64::from(count))?;
    let last = editor.mask(&[1, total], (0..total).map(|_| false))?;
    let ended = editor.cat(vec![next, last], 0, TensorSpec::contiguous(ScalarType::Bool, [count, total]))?;
    let open = editor.test("logical_not", ended)?;
    both(editor, begun, open)
}

fn both(editor: &mut Editor, left: ValueId, right: ValueId) -> Result<ValueId, Reason> {
    let output = editor.spec(left).clone();
    editor.call("logical_and.default", [left, right].map(Argument::Value).to_vec(), output)
}

fn sum(editor: &mut Editor, call: &Call, bags: &Bags) -> Result<ValueId, Reason> {
    let mut factors = editor.convert(bags.members, bags.scalar_type)?;
    if let Some(weights) = call.optional_value(6)? {
        factors = editor.pair("mul", factors, weights)?;
    }
    total(editor, bags, factors)
}

fn total(editor: &mut Editor, bags: &Bags, factors: ValueId) -> Result<ValueId, Reason> {
    let output = TensorSpec::contiguous(bags.scalar_type, [bags.count, bags.width]);
    editor.call("mm.default", [factors, bags.rows].map(Argument::Value).to_vec(), output)
}

/// The sum divided by the number of rows; 0 for an empty bag.
fn mean(editor: &mut Editor, bags: &Bags) -> Result<ValueId, Reason> {
    let factors = editor.convert(bags.members, bags.scalar_type)?;
    let sum = total(editor, bags, factors)?;
    let sizes = editor.sum(factors, &[1], true)?;
    let sizes = editor.map("clamp.default", sizes, vec![Argument::Int(1), Argument::None])?;
    editor.pair("div", sum, sizes)
}

/// The largest element of each column; 0 for an empty bag.
fn max(editor: &mut Editor, bags: &Bags) -> Result<ValueId, Reason> {
    let wide = TensorSpec::contiguous(bags.scalar_type, [bags.count, bags.total, bags.width]);
    let mask = editor.view(bags.members, &[bags.count, bags.total, 1])?;
    let nothing = editor.number(Argument::Float(f64::NEG_INFINITY), bags.scalar_type)?;
    let candidates = editor.choose(mask, bags.rows, nothing, wide)?;
    let largest = editor.reduce("amax.default", candidates, &[1], false, vec![])?;
    let output = editor.spec(largest).clone();
    let filled = editor.convert(bags.members, bags.scalar_type)?;
    let filled = editor.sum(filled, &[1], true)?;
    let filled = editor.compare("gt.Scalar", filled, Argument::Int(0))?;
    let zero = editor.number(Argument::Int(0), bags.scalar_type)?;
    editor.choose(filled, largest, zero, output)
}
