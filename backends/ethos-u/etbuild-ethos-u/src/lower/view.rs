//! Other sizes as RESHAPE.

use etbuild_backend::int8::pattern::{int8_operand, moves};
use etbuild_ir::Node;

use super::build::Order;
use super::{Done, Lowering, Target};

/// Lowers a view.
pub fn lower(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    moves(lowering.links, node)?;
    let operand = int8_operand(lowering.links, node)?;
    let tensor = lowering.row_major(operand)?;
    let (name, sizes) = (lowering.name(target.id), lowering.sizes(target.id));
    let result = lowering.reshaped(tensor, &sizes, name);
    lowering.store(target, result, Order::RowMajor);
    Ok(())
}
