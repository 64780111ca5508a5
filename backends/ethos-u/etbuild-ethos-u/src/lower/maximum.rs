//! Maximum pools as MAX_POOL2D.

use etbuild_backend::int8::pattern::{int8_operand, moves, no};
use etbuild_backend::{Call, RefusalKind, image_sizes};
use etbuild_ir::Node;

use super::build::Order;
use super::image::{Fit, pair};
use super::{Done, Lowering, Target};
use crate::tosa::Kind;
use crate::tosa::operation::{MaxPool2d, PoolWindow};

/// Lowers a maximum pool whose second result, the places of the greatest elements, nobody reads.
pub fn lower(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    if node.outputs.get(1).is_some_and(|indices| lowering.links.read_count(*indices) > 0) {
        return Err(no(RefusalKind::Argument, "the places of the greatest elements are read"));
    }
    moves(lowering.links, node)?;
    let (call, operand) = (Call::new(lowering.links, node), int8_operand(lowering.links, node)?);
    let geometry = call.pool()?;
    if geometry.dilation != [1, 1] {
        return Err(no(RefusalKind::Argument, "a maximum pool has a dilation"));
    }
    let ([_, _, image @ ..], [batch, channels, results @ ..]) =
        (image_sizes(&lowering.sizes(operand.id))?, image_sizes(&call.output_sizes()?)?);
    let fit = Fit::of(&geometry, image, results)?;
    let name = lowering.name(target.id);
    let image = lowering.ordered(operand.id, Order::Nhwc)?;
    let image = lowering.read(image, fit.read, name);
    let window = PoolWindow { kernel: pair(geometry.kernel), stride: pair(geometry.stride), pad: fit.pad };
    let sizes = [batch, results[0], results[1], channels];
    let result = lowering.emit(MaxPool2d(window), &[image], (name, Kind::Int8, &sizes));
    lowering.store(target, result, Order::Nhwc);
    Ok(())
}
