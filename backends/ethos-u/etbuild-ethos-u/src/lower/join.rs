//! Tensors behind each other as CONCAT.

use etbuild_backend::int8::pattern::{Operand, no};
use etbuild_backend::int8::{Concatenation, NHWC};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::Node;

use super::build::{Order, Rescaling};
use super::{Done, Lowering, Target};
use crate::tosa::operation::{Concat, Scale};
use crate::tosa::{Kind, TensorId};

/// Lowers a concatenation.
pub fn lower(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let Concatenation { operands, dimension } = Concatenation::of(lowering.links, node)?;
    let mut is_nhwc = lowering.sizes(target.id).len() == 4;
    for operand in &operands {
        is_nhwc &= lowering.stored(operand.id)?.order == Order::Nhwc;
    }
    let (order, axis) = if is_nhwc { (Order::Nhwc, NHWC[dimension]) } else { (Order::RowMajor, dimension) };
    let mut tensors = Vec::new();
    for operand in operands {
        let tensor = lowering.ordered(operand.id, order)?;
        tensors.push(alike(lowering, (tensor, operand), target)?);
    }
    let mut sizes = lowering.sizes_of(tensors[0]);
    sizes[axis] = tensors.iter().map(|tensor| lowering.sizes_of(*tensor)[axis]).sum();
    let result = lowering.emit(Concat { axis }, &tensors, (lowering.name(target.id), Kind::Int8, &sizes));
    let result = lowering.limited(result, target);
    lowering.store(target, result, order);
    Ok(())
}

/// The operand with the qparams of the result.
fn alike(
    lowering: &mut Lowering<'_>,
    (tensor, operand): (TensorId, Operand),
    target: &Target,
) -> Result<TensorId, Refusal> {
    if operand.qparams == target.qparams {
        return Ok(tensor);
    }
    let scale = Scale::of(operand.qparams.scale / target.qparams.scale);
    let scale =
        scale.ok_or_else(|| no(RefusalKind::Quantization, "the scales of operand and result differ too much"))?;
    let (zero, to_zero) = (operand.qparams.zero, target.qparams.zero);
    let rescaling = Rescaling { zero, scales: vec![scale], to: Kind::Int8, to_zero };
    let name = lowering.name(operand.id);
    Ok(lowering.rescaled(tensor, &rescaling, &format!("{name}.alike")))
}
