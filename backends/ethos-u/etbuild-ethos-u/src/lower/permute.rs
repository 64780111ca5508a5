//! Dimensions in another order as TRANSPOSE.

use etbuild_backend::int8::pattern::{int8_operand, moves};
use etbuild_backend::{Call, Refusal, dim};
use etbuild_ir::Node;

use super::build::Order;
use super::{Done, Lowering, Target};

/// Lowers a permutation.
pub fn permute(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let rank = lowering.sizes(target.id).len();
    let dims = Call::new(lowering.links, node).ints(1)?;
    let order =
        dims.iter().map(|number| dim(*number, rank)).collect::<Result<Vec<usize>, _>>().map_err(Refusal::from)?;
    ordered(lowering, node, &order, target)
}

/// Lowers the exchange of two dimensions, the first two without others.
pub fn transpose(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let (call, rank) = (Call::new(lowering.links, node), lowering.sizes(target.id).len());
    let mut order: Vec<usize> = (0..rank).collect();
    let [from, to] = match node.operator.name() {
        "t_copy" if rank < 2 => [0, 0],
        "t_copy" => [0, 1],
        _ => [call.dim(1, rank)?, call.dim(2, rank)?],
    };
    if from != to {
        order.swap(from, to);
    }
    ordered(lowering, node, &order, target)
}

fn ordered(lowering: &mut Lowering<'_>, node: &Node, order: &[usize], target: &Target) -> Done {
    moves(lowering.links, node)?;
    let operand = int8_operand(lowering.links, node)?;
    let tensor = lowering.row_major(operand)?;
    let result = lowering.permuted(tensor, order, lowering.name(target.id));
    lowering.store(target, result, Order::RowMajor);
    Ok(())
}
