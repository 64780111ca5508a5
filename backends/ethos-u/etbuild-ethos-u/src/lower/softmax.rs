//! Softmax along the last dimension, in integers of 32 bits and with two tables.
//!
//! The exponential of `x - max(x)` is a table, and the sum of exponentials, scaled to int16 by the number of columns, has its inverse in a second
//! table. The product of both has one rounding to the result.

use etbuild_backend::RefusalKind;
use etbuild_backend::int8::pattern::{int8_operand, no};
use etbuild_ir::{Argument, Node};

use super::build::{Order, Rescaling};
use super::{Done, Lowering, Target};
use crate::Series;
use crate::tosa::operation::{Mul, ReduceMax, ReduceSum, Scale, Sub, Table};
use crate::tosa::{Kind, TensorId};

/// With more columns, the interpolation of the inverse would cost a step of the result.
const MOST_COLUMNS: usize = 64;

/// The exponential of 0 in the first table.
const ONE: f64 = 32_767.0;

/// The int32 number that a table gives for `number` of its entries.
const ENTRY: f64 = 128.0;

/// Lowers softmax.
pub fn lower(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    if lowering.series != Series::U85 {
        // Each table of int16 is three of 2 KiB there, which are read from flash: thousands of cycles.
        return Err(no(
            RefusalKind::Gain,
            "before Ethos-U85, the tables of softmax take thousands of cycles for any number of columns",
        ));
    }
    let operand = int8_operand(lowering.links, node)?;
    let sizes = lowering.sizes(target.id);
    let rank = sizes.len() as i64;
    let is_last = matches!(node.arguments.get(1), Some(Argument::Int(dim)) if *dim == -1 || *dim == rank - 1);
    let columns = sizes.last().copied().unwrap_or(0);
    if !is_last {
        return Err(no(RefusalKind::Argument, "softmax runs along another dimension than the last"));
    }
    if !(1..=MOST_COLUMNS).contains(&columns) {
        return Err(no(RefusalKind::Shape, "softmax has more than 64 columns"));
    }
    let name = lowering.name(target.id);
    let input = lowering.row_major(operand)?;
    let exponentials = exponentials(lowering, (input, operand.qparams.scale), name)?;
    let mut sum_sizes = sizes.clone();
    sum_sizes[rank as usize - 1] = 1;
    let axis = sizes.len() - 1;
    let sums = lowering.emit(ReduceSum { axis }, &[exponentials], (&format!("{name}.sum"), Kind::Int32, &sum_sizes));
    let most = ONE * ENTRY * columns as f64;
    let index = wide(lowering, sums, (Kind::Int16, 32_767.0 / most), &format!("{name}.index"))?;
    let table = words(lowering, &format!("{name}.inverse"), |index| inverse(index, columns));
    let inverse = lowering.emit(Table, &[index, table], (&format!("{name}.inverses"), Kind::Int32, &sum_sizes));
    // int32 holds the product of numbers of 15 bits each.
    let left = wide(lowering, exponentials, (Kind::Int32, 1.0 / ENTRY), &format!("{name}.left"))?;
    let right = wide(lowering, inverse, (Kind::Int32, 1.0 / ENTRY), &format!("{name}.right"))?;
    let shift = lowering.number(&format!("{name}.no_shift"), Kind::Int8, 0);
    let products = lowering.emit(Mul, &[left, right, shift], (&format!("{name}.product"), Kind::Int32, &sizes));
    let scale = Scale::of(1.0 / (ONE * ONE) / target.qparams.scale);
    let scale = scale.ok_or_else(|| no(RefusalKind::Quantization, "the scale of the result is too small"))?;
    let result = lowering.finish(products, vec![scale], target);
    lowering.store(target, result, Order::RowMajor);
    Ok(())
}

/// The exponentials of the distances from the greatest number.
fn exponentials(
    lowering: &mut Lowering<'_>,
    (input, scale): (TensorId, f64),
    name: &str,
) -> Result<TensorId, etbuild_backend::Refusal> {
    let sizes = lowering.sizes_of(input);
    let axis = sizes.len() - 1;
    let mut most_sizes = sizes.clone();
    most_sizes[axis] = 1;
    let most = lowering.emit(ReduceMax { axis }, &[input], (&format!("{name}.most"), Kind::Int8, &most_sizes));
    let input = wide(lowering, input, (Kind::Int32, 1.0), &format!("{name}.input"))?;
    let most = wide(lowering, most, (Kind::Int32, 1.0), &format!("{name}.greatest"))?;
    let distances = lowering.emit(Sub, &[input, most], (&format!("{name}.distance"), Kind::Int32, &sizes));
    // A distance of 1 is an entry of the table: from -255 to 0.
    let index = wide(lowering, distances, (Kind::Int16, ENTRY), &format!("{name}.entry"))?;
    let table = words(lowering, &format!("{name}.exponential"), |index| ((index - 256.0) * scale).exp() * ONE);
    Ok(lowering.emit(Table, &[index, table], (&format!("{name}.exponentials"), Kind::Int32, &sizes)))
}

/// The inverse of a sum: the entry 256 is 0, the entry 512 the number of columns.
fn inverse(index: f64, columns: usize) -> f64 {
    let sum = (index - 256.0) / 256.0 * columns as f64;
    if sum < 1.0 { ONE } else { ONE / sum }
}

/// Integers times a factor, without zero points.
fn wide(
    lowering: &mut Lowering<'_>,
    tensor: TensorId,
    (to, factor): (Kind, f64),
    name: &str,
) -> Result<TensorId, etbuild_backend::Refusal> {
    let scale = Scale::of(factor).ok_or_else(|| no(RefusalKind::Shape, "softmax has too many columns"))?;
    Ok(lowering.rescaled(tensor, &Rescaling { zero: 0, scales: vec![scale], to, to_zero: 0 }, name))
}

/// A table of int16: the function of each entry from 0 to 512.
fn words(lowering: &mut Lowering<'_>, name: &str, function: impl Fn(f64) -> f64) -> TensorId {
    let entry = |index: i32| (function(f64::from(index)).round().clamp(-32_768.0, 32_767.0) as i16).to_le_bytes();
    let bytes = (0..513).flat_map(entry).collect();
    lowering.words(name, bytes)
}
