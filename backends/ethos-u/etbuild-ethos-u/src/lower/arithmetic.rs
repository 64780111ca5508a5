//! Sums, differences and products of two int8 tensors.
//!
//! The operands of a sum become int32 at a common scale: twice the greater scale, with 20 fractional bits.

use etbuild_backend::int8::pattern::{self, Operand, no, operand};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Argument, Node};

use super::build::{Order, Rescaling};
use super::{Done, Lowering, Target};
use crate::tosa::operation::{Add, Mul, Scale, Sub};
use crate::tosa::{Kind, TensorId};

/// The fractional bits of a sum.
const FRACTION: i32 = 20;

/// Both operands as tensors of one rank and order.
struct Sides {
    operands: [Operand; 2],
    tensors: [TensorId; 2],
    order: Order,
    /// The sizes of the result.
    sizes: Vec<usize>,
}

/// Lowers a sum.
pub fn sum(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let (sides, tensors, scale) = addends(lowering, node, target)?;
    let name = format!("{}.sum", lowering.name(target.id));
    let sums = lowering.emit(Add, &tensors, (&name, Kind::Int32, &sides.sizes));
    finish(lowering, &sides, (sums, scale), target)
}

/// Lowers a difference.
pub fn difference(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let (sides, tensors, scale) = addends(lowering, node, target)?;
    let name = format!("{}.sum", lowering.name(target.id));
    let sums = lowering.emit(Sub, &tensors, (&name, Kind::Int32, &sides.sizes));
    finish(lowering, &sides, (sums, scale), target)
}

/// Lowers a product.
pub fn product(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let sides = sides(lowering, node)?;
    let [left, right] = sides.operands.map(|operand| operand.qparams.scale);
    let scale = factor(left * right / target.qparams.scale)?;
    let one = factor(1.0)?;
    let name = lowering.name(target.id);
    let [left, right] = widened(lowering, &sides, [one, one], name);
    let shift = lowering.number(&format!("{name}.no_shift"), Kind::Int8, 0);
    let products = lowering.emit(Mul, &[left, right, shift], (&format!("{name}.product"), Kind::Int32, &sides.sizes));
    finish(lowering, &sides, (products, scale), target)
}

/// The operands of a sum at their common scale, and the factor of the sum.
fn addends(
    lowering: &mut Lowering<'_>,
    node: &Node,
    target: &Target,
) -> Result<(Sides, [TensorId; 2], Scale), Refusal> {
    let sides = sides(lowering, node)?;
    let [left, right] = sides.operands.map(|operand| operand.qparams.scale);
    let twice = 2.0 * left.max(right);
    let unit = f64::from(1 << FRACTION);
    let factors = [factor(left / twice * unit)?, factor(right / twice * unit)?];
    let scale = factor(twice / unit / target.qparams.scale)?;
    let tensors = widened(lowering, &sides, factors, lowering.name(target.id));
    Ok((sides, tensors, scale))
}

fn factor(number: f64) -> Result<Scale, Refusal> {
    let reason = "the scales of operands and result differ too much";
    Scale::of(number).ok_or_else(|| no(RefusalKind::Quantization, reason))
}

fn widened(lowering: &mut Lowering<'_>, sides: &Sides, factors: [Scale; 2], name: &str) -> [TensorId; 2] {
    let mut wide = sides.tensors;
    let each = wide.iter_mut().zip(&sides.operands).zip(factors).zip(["left", "right"]);
    for (((tensor, operand), scale), side) in each {
        let rescaling = Rescaling { zero: operand.qparams.zero, scales: vec![scale], to: Kind::Int32, to_zero: 0 };
        *tensor = lowering.rescaled(*tensor, &rescaling, &format!("{name}.{side}"));
    }
    wide
}

fn finish(lowering: &mut Lowering<'_>, sides: &Sides, (sums, scale): (TensorId, Scale), target: &Target) -> Done {
    let result = lowering.finish(sums, vec![scale], target);
    lowering.store(target, result, sides.order);
    Ok(())
}

fn sides(lowering: &mut Lowering<'_>, node: &Node) -> Result<Sides, Refusal> {
    let has_factor = match node.arguments.get(2) {
        None | Some(Argument::None | Argument::Int(1)) => false,
        Some(Argument::Float(factor)) => *factor != 1.0,
        _ => true,
    };
    let (Some(left), Some(right), false) = (pattern::first(node), pattern::tensor(node, 1), has_factor) else {
        return Err(no(RefusalKind::Argument, "an operand is a scalar or has a factor"));
    };
    let [Some(left), Some(right)] = [left, right].map(|id| operand(lowering.links, id)) else {
        return Err(no(RefusalKind::Quantization, "an operand is not quantized to int8: use the scheme `w8a8`"));
    };
    let operands = [left, right];
    let sizes = lowering.sizes(pattern::output(node)?);
    let ranks = operands.map(|operand| lowering.sizes(operand.id).len());
    let mut orders = [Order::RowMajor; 2];
    for (order, operand) in orders.iter_mut().zip(operands) {
        *order = lowering.stored(operand.id)?.order;
    }
    let is_image = (3..=4).contains(&sizes.len()) && ranks == [sizes.len(); 2];
    let order = if is_image && orders.contains(&Order::Nhwc) { Order::Nhwc } else { Order::RowMajor };
    let mut tensors = [TensorId(0); 2];
    for (tensor, operand) in tensors.iter_mut().zip(operands) {
        let found = lowering.ordered(operand.id, order)?;
        *tensor = of_rank(lowering, found, operand, sizes.len(), order);
    }
    let sizes = if order == Order::Nhwc { nhwc(&sizes)? } else { sizes };
    Ok(Sides { operands, tensors, order, sizes })
}

/// A row-major tensor with dimensions of size 1 in front.
fn of_rank(lowering: &mut Lowering<'_>, tensor: TensorId, operand: Operand, rank: usize, order: Order) -> TensorId {
    let sizes = lowering.sizes_of(tensor);
    if order == Order::Nhwc || sizes.len() >= rank {
        return tensor;
    }
    let padded: Vec<usize> = std::iter::repeat_n(1, rank - sizes.len()).chain(sizes).collect();
    let name = lowering.name(operand.id);
    lowering.reshaped(tensor, &padded, &format!("{name}.view"))
}

fn nhwc(sizes: &[usize]) -> Result<Vec<usize>, Refusal> {
    let [batch, channels, height, width] = etbuild_backend::image_sizes(sizes)?;
    Ok(vec![batch, height, width, channels])
}
