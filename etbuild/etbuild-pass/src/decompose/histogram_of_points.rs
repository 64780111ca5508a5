//! Histograms of points in several dimensions.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::histogram::{added, ends, inside};
use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

type Made = Result<ValueId, Reason>;

/// `histogramdd(self, bins, range, weight, density)`: the counts, and the edges along each dimension.
pub fn counts(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let sizes = editor.static_sizes(call.value(0)?)?;
    let (width, rows) = sizes.split_last().ok_or(Reason::Arguments)?;
    let points = editor.view(call.value(0)?, &[rows.iter().product(), *width])?;
    let edges = edges(editor, call, points)?;
    let (mut place, mut hits) = (None, None);
    for (dim, edges) in edges.iter().enumerate() {
        let column = column(editor, points, dim)?;
        let last = i64::from(*editor.static_sizes(*edges)?.first().ok_or(Reason::Arguments)?) - 1;
        let both = [editor.slice(*edges, 0, 0, 1)?, editor.slice(*edges, 0, last, last + 1)?];
        let inside = inside(editor, column, both)?;
        hits = Some(hits.map_or(Ok(inside), |hits| editor.combine("logical_and.default", [hits, inside]))?);
        let own = bin(editor, column, *edges, last)?;
        place = Some(match place {
            None => own,
            Some(before) => {
                let before = editor.map("mul.Scalar", before, vec![Argument::Int(last)])?;
                editor.pair("add", before, own)?
            }
        });
    }
    let (place, hits) = (place.ok_or(Reason::Arguments)?, hits.ok_or(Reason::Arguments)?);
    let mut hits = editor.convert(hits, output.scalar_type)?;
    if let Some(weight) = call.optional_value(3)? {
        let weight = editor.flattened(weight)?;
        hits = editor.pair("mul", hits, weight)?;
    }
    let flat = TensorSpec::contiguous(output.scalar_type, [output.numel() as i32]);
    let counted = added(editor, [place, hits], flat)?;
    let mut counts = editor.view(counted, &output.sizes)?;
    if call.flag(4)? {
        counts = per_volume(editor, counts, &edges)?;
    }
    Ok(std::iter::once(counts).chain(edges).collect())
}

/// The edges along each dimension: given, or at equal distances between the ends.
fn edges(editor: &mut Editor, call: &Call, points: ValueId) -> Result<Vec<ValueId>, Reason> {
    if let Argument::Values(_) = call.argument(1)? {
        return call.values(1);
    }
    let ranges = match call.argument(2)? {
        Argument::None => Vec::new(),
        Argument::Floats(ranges) => ranges.clone(),
        _ => return Err(Reason::Arguments),
    };
    let mut made = Vec::new();
    for (dim, edges) in call.outputs.iter().skip(1).enumerate() {
        let column = column(editor, points, dim)?;
        let range = ranges.get(2 * dim..2 * dim + 2).and_then(|range| <[f64; 2]>::try_from(range).ok());
        let [start, end] = ends(editor, column, range, 0.5)?;
        let steps = Argument::Int(edges.numel() as i64);
        let arguments = vec![Argument::Value(start), Argument::Value(end), steps];
        made.push(editor.call("linspace.Tensor_Tensor", arguments, edges.clone())?);
    }
    Ok(made)
}

fn column(editor: &mut Editor, points: ValueId, dim: usize) -> Made {
    let column = editor.slice(points, 1, dim as i64, dim as i64 + 1)?;
    editor.squeezed(column, 1)
}

/// The bin of each element among `count` bins; the last bin contains its upper edge.
fn bin(editor: &mut Editor, of: ValueId, edges: ValueId, count: i64) -> Made {
    let places = TensorSpec { scalar_type: ScalarType::Long, ..editor.spec(of).clone() };
    let arguments = vec![Argument::Value(of), Argument::Value(edges), Argument::Bool(false), Argument::Bool(true)];
    let behind = editor.call("bucketize.Tensor", arguments, places)?;
    let place = editor.map("sub.Scalar", behind, vec![Argument::Int(1), Argument::Int(1)])?;
    editor.map("clamp.default", place, vec![Argument::Int(0), Argument::Int(count - 1)])
}

/// The counts divided by their sum and by the volumes of the bins.
fn per_volume(editor: &mut Editor, counts: ValueId, edges: &[ValueId]) -> Made {
    let rank = edges.len();
    let dims: Vec<usize> = (0..rank).collect();
    let total = editor.sum(counts, &dims, false)?;
    let mut counts = editor.pair("div", counts, total)?;
    for (dim, edges) in edges.iter().enumerate() {
        let last = i64::from(*editor.static_sizes(*edges)?.first().ok_or(Reason::Arguments)?) - 1;
        let (below, above) = (editor.slice(*edges, 0, 0, last)?, editor.slice(*edges, 0, 1, last + 1)?);
        let widths = editor.pair("sub", above, below)?;
        let widths = editor.along(widths, dim, rank)?;
        counts = editor.pair("div", counts, widths)?;
    }
    Ok(counts)
}
