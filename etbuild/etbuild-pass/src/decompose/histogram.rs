//! Histograms: the number of elements between neighbouring edges.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

type Made = Result<ValueId, Reason>;

/// `histc(self, bins, min, max)`: bins of equal width; from the least to the greatest element if `min` equals `max`.
pub fn counts(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let input = editor.convert(call.value(0)?, output.scalar_type)?;
    let input = editor.flattened(input)?;
    let (bins, least, most) = (call.int(1)?, call.number(2)?, call.number(3)?);
    let [start, end] = ends(editor, input, (least != most).then_some([least, most]), 1.0)?;
    let (offset, width) = (editor.pair("sub", input, start)?, editor.pair("sub", end, start)?);
    let scaled = editor.times(offset, bins as f64)?;
    let place = editor.pair("div", scaled, width)?;
    let inside = inside(editor, input, [start, end])?;
    let place = editor.convert(place, ScalarType::Long)?;
    let hits = editor.convert(inside, output.scalar_type)?;
    Ok(vec![added(editor, [place, hits], output)?])
}

/// `histogram(self, bins, range, weight, density)` with a number of bins, and `histogram(self, bins, weight, density)` with edges.
pub fn with_edges(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let input = editor.flattened(input)?;
    let edges = call.outputs.get(1).cloned().ok_or(Reason::Arguments)?;
    let named = call.operator.overload() == "bin_ct";
    let (weight, density) = (call.optional_value(2 + usize::from(named))?, call.flag(3 + usize::from(named))?);
    let edges = if named {
        let range = match call.argument(2)? {
            Argument::None => None,
            Argument::Floats(range) => Some(<[f64; 2]>::try_from(range.clone()).map_err(|_| Reason::Arguments)?),
            _ => return Err(Reason::Arguments),
        };
        let [start, end] = ends(editor, input, range, 0.5)?;
        let steps = Argument::Int(edges.numel() as i64);
        editor.call("linspace.Tensor_Tensor", vec![Argument::Value(start), Argument::Value(end), steps], edges)?
    } else {
        call.value(1)?
    };
    let count = i64::from(*editor.static_sizes(edges)?.first().ok_or(Reason::Arguments)?);
    let (start, end) = (editor.slice(edges, 0, 0, 1)?, editor.slice(edges, 0, count - 1, count)?);
    let places = TensorSpec { scalar_type: ScalarType::Long, ..editor.spec(input).clone() };
    let arguments = vec![Argument::Value(input), Argument::Value(edges), Argument::Bool(false), Argument::Bool(true)];
    let behind = editor.call("bucketize.Tensor", arguments, places)?;
    let place = editor.map("sub.Scalar", behind, vec![Argument::Int(1), Argument::Int(1)])?;
    let inside = inside(editor, input, [start, end])?;
    let mut hits = editor.convert(inside, output.scalar_type)?;
    if let Some(weight) = weight {
        let weight = editor.flattened(weight)?;
        hits = editor.pair("mul", hits, weight)?;
    }
    let mut counts = added(editor, [place, hits], output)?;
    if density {
        let (below, above) = (editor.slice(edges, 0, 0, count - 1)?, editor.slice(edges, 0, 1, count)?);
        let widths = editor.pair("sub", above, below)?;
        let total = editor.sum(counts, &[0], false)?;
        let areas = editor.pair("mul", widths, total)?;
        counts = editor.pair("div", counts, areas)?;
    }
    Ok(vec![counts, edges])
}

/// The ends of the range: given, or the least and the greatest element, moved apart by `margin` each if equal.
pub(super) fn ends(
    editor: &mut Editor,
    input: ValueId,
    range: Option<[f64; 2]>,
    margin: f64,
) -> Result<[ValueId; 2], Reason> {
    let scalar_type = editor.spec(input).scalar_type;
    if let Some([start, end]) = range {
        let number = |editor: &mut Editor, number| editor.number(Argument::Float(number), scalar_type);
        return Ok([number(editor, start)?, number(editor, end)?]);
    }
    let least = editor.reduce("amin.default", input, &[0], false, vec![])?;
    let most = editor.reduce("amax.default", input, &[0], false, vec![])?;
    let equal = editor.compare("eq.Tensor", least, Argument::Value(most))?;
    let (below, above, spec) = (editor.plus(least, -margin)?, editor.plus(most, margin)?, editor.spec(least).clone());
    Ok([editor.choose(equal, below, least, spec.clone())?, editor.choose(equal, above, most, spec)?])
}

pub(super) fn inside(editor: &mut Editor, input: ValueId, [start, end]: [ValueId; 2]) -> Made {
    let above = editor.compare("ge.Tensor", input, Argument::Value(start))?;
    let below = editor.compare("le.Tensor", input, Argument::Value(end))?;
    editor.combine("logical_and.default", [above, below])
}

/// Adds hits to bins; places behind the last bin count for the last bin.
pub(super) fn added(editor: &mut Editor, [place, hits]: [ValueId; 2], output: TensorSpec) -> Made {
    let last = output.numel() as i64 - 1;
    let place = editor.map("clamp.default", place, vec![Argument::Int(0), Argument::Int(last)])?;
    let zeros = editor.full(Argument::Int(0), output)?;
    editor.map("scatter_add.default", zeros, vec![Argument::Int(0), Argument::Value(place), Argument::Value(hits)])
}
