//! Parts of tensors as SLICE, and padding as PAD. Both keep the order of an image.

use etbuild_backend::int8::pattern::{int8_operand, moves, no};
use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::{Argument, Node};

use super::build::Order;
use super::{Done, Lowering, Target};
use crate::tosa::Kind;
use crate::tosa::operation::Pad;

/// Lowers a slice of step 1.
pub fn slice(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let call = Call::new(lowering.links, node);
    if call.int(4)?.unwrap_or(1) != 1 {
        return Err(no(RefusalKind::Argument, "the slice has a step"));
    }
    let operand = int8_operand(lowering.links, node)?;
    let rank = lowering.sizes(operand.id).len();
    let dim = call.int(1)?.map_or(Ok(0), |_| call.dim(1, rank))?;
    cut_out(lowering, node, (dim, call.int(2)?.unwrap_or(0)), target)
}

/// Lowers the selection of an index.
pub fn select(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let call = Call::new(lowering.links, node);
    let operand = int8_operand(lowering.links, node)?;
    let dim = call.dim(1, lowering.sizes(operand.id).len())?;
    cut_out(lowering, node, (dim, call.int(2)?.unwrap_or(0)), target)
}

/// The part from `start` along a dimension, in the sizes of the result.
fn cut_out(lowering: &mut Lowering<'_>, node: &Node, (dim, start): (usize, i64), target: &Target) -> Done {
    moves(lowering.links, node)?;
    let operand = int8_operand(lowering.links, node)?;
    let tensor = lowering.row_major(operand)?;
    let (from, results) = (lowering.sizes_of(tensor), lowering.sizes(target.id));
    let size = from.get(dim).copied().unwrap_or(0);
    let start = if start < 0 { start.saturating_add(size as i64).max(0) } else { start.min(size as i64) } as usize;
    let mut sizes = from.clone();
    sizes[dim] = if results.len() == from.len() { results[dim] } else { 1 };
    let mut starts = vec![0; from.len()];
    starts[dim] = start;
    if start + sizes[dim] > size {
        return Err(no(RefusalKind::Argument, "the slice ends behind the tensor"));
    }
    let name = lowering.name(target.id);
    let part = lowering.sliced(tensor, [&starts, &sizes], name);
    let part = lowering.reshaped(part, &results, &format!("{name}.view"));
    lowering.store(target, part, Order::RowMajor);
    Ok(())
}

/// Lowers padding with a constant.
pub fn pad(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    moves(lowering.links, node)?;
    let (call, operand) = (Call::new(lowering.links, node), int8_operand(lowering.links, node)?);
    let constant = match node.arguments.get(2) {
        None | Some(Argument::None) => 0.0,
        _ => call.number(2)?.unwrap_or(0.0),
    };
    let tensor = lowering.row_major(operand)?;
    let sizes = lowering.sizes_of(tensor);
    let counts = counts(call.ints(1)?, sizes.len())?;
    let integer = (constant / operand.qparams.scale).round_ties_even() + f64::from(operand.qparams.zero);
    let name = lowering.name(target.id);
    let inputs = [
        tensor,
        lowering.shape(&format!("{name}.padding"), &counts),
        lowering.number(&format!("{name}.constant"), Kind::Int8, integer.clamp(-128.0, 127.0) as i32),
    ];
    let result = lowering.emit(Pad, &inputs, (name, Kind::Int8, &lowering.sizes(target.id)));
    lowering.store(target, result, Order::RowMajor);
    Ok(())
}

/// The counts before and behind each dimension, from those of the last dimension on.
fn counts(pairs: &[i64], rank: usize) -> Result<Vec<usize>, Refusal> {
    let mut counts = vec![0; 2 * rank];
    for (index, pair) in pairs.as_chunks::<2>().0.iter().enumerate() {
        let dim =
            rank.checked_sub(index + 1).ok_or_else(|| no(RefusalKind::Argument, "the padding has another rank"))?;
        for (side, count) in pair.iter().enumerate() {
            let count = usize::try_from(*count).map_err(|_| no(RefusalKind::Argument, "the padding is negative"))?;
            counts[2 * dim + side] = count;
        }
    }
    Ok(counts)
}
