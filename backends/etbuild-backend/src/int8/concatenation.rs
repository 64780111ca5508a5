//! Tensors behind each other.

use etbuild_ir::{Links, Node};

use super::pattern::{Operand, no, operand};
use crate::{Call, Refusal, RefusalKind, dim};

/// The axis of each dimension of `[batch, channels, height, width]` in NHWC.
pub const NHWC: [usize; 4] = [0, 3, 1, 2];

/// A concatenation of quantized tensors.
#[derive(Clone, Debug)]
pub struct Concatenation {
    /// The tensors, one at least, all with the rank of the result.
    pub operands: Vec<Operand>,
    /// The dimension whose size is the sum of those of the tensors.
    pub dimension: usize,
}

impl Concatenation {
    /// What `aten.cat` states.
    ///
    /// # Errors
    /// Tensors that are not quantized, or have another rank than the result.
    pub fn of(links: &Links<'_>, node: &Node) -> Result<Self, Refusal> {
        let call = Call::new(links, node);
        let operands: Option<Vec<Operand>> = call.values(0)?.into_iter().map(|id| operand(links, id)).collect();
        let operands = operands.filter(|operands| !operands.is_empty());
        let operands = operands.ok_or_else(|| no(RefusalKind::Quantization, "an operand is not quantized"))?;
        let rank = node.outputs.first().map_or(0, |id| links.graph.spec(*id).rank());
        if operands.iter().any(|operand| links.graph.spec(operand.id).rank() != rank) {
            return Err(no(RefusalKind::Shape, "an operand has another rank"));
        }
        Ok(Self { operands, dimension: dim(call.int(1)?.unwrap_or(0), rank)? })
    }
}
