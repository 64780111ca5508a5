//! Which dimension of an operand is sliced.

use crate::builder::Builder;
use crate::expr::{Expr, ExprId, IndexOp};
use crate::tensor::TEXEL;

impl Builder<'_> {
    /// The dimension of an operand's coordinates whose neighbours are in one texel.
    pub fn sliced_dim(&self, id: ExprId) -> Option<usize> {
        match self.exprs.get(id) {
            Expr::Load(tensor) => self.tensor(*tensor).layout.as_texels().map(|texels| texels.channel),
            Expr::At(source, coordinates) => {
                let inner = self.sliced_dim(*source)?;
                self.lane_dim(*coordinates.get(inner)?)
            }
            _ => None,
        }
    }

    /// The coordinate that an index follows within a slice.
    fn lane_dim(&self, id: ExprId) -> Option<usize> {
        let is_whole = |id: ExprId| self.is_multiple(id);
        match self.exprs.get(id) {
            Expr::Coordinate(dim) => Some(*dim),
            Expr::Index(IndexOp::Add, left, right) if is_whole(*right) => self.lane_dim(*left),
            Expr::Index(IndexOp::Add, left, right) if is_whole(*left) => self.lane_dim(*right),
            Expr::Index(IndexOp::Rem, left, right) if is_whole(*right) => self.lane_dim(*left),
            _ => None,
        }
    }

    /// Whether an index is a multiple of the channels of a texel.
    fn is_multiple(&self, id: ExprId) -> bool {
        match self.exprs.get(id) {
            Expr::Index(IndexOp::Mul, left, right) => self.is_multiple(*left) || self.is_multiple(*right),
            Expr::Index(IndexOp::Add, left, right) => self.is_multiple(*left) && self.is_multiple(*right),
            _ => self.exprs.known_index(id).is_some_and(|index| index.is_multiple_of(TEXEL)),
        }
    }
}
