//! Products whose inner dimension is split: parts of a small result keep more of a GPU busy than the result would.

use etbuild_backend::Refusal;

use super::Builder;
use crate::expr::{ExprId, Fold, IndexOp};
use crate::product::{Product, Tiling};
use crate::tensor::{Layout, TEXEL};

impl Builder<'_> {
    /// The elements of a product, in parts where the product has fewer tiles than the GPU has compute units.
    pub fn product_in_parts(&mut self, product: Product) -> Result<ExprId, Refusal> {
        let parts = self.parts(&product);
        let count = parts.count();
        if count == 1 {
            return Ok(self.product(product));
        }
        let sizes = product.sizes.clone();
        let (rank, column) = (sizes.len(), product.column);
        let part = parts.of(self, product);
        let expr = self.product(part);
        let sizes = [&[count], &sizes[..]].concat();
        let layout = Layout::texels(&sizes, column + 1, self.profile.texels);
        let stored = self.store_in(expr, sizes, layout)?;
        let mut at = vec![self.exprs.coordinate(rank)];
        at.extend(self.exprs.coordinates(rank));
        let body = self.exprs.at(stored, &at);
        Ok(self.exprs.fold(Fold::Sum, rank, &[count], body))
    }

    /// The parts of a product.
    fn parts(&self, product: &Product) -> Parts {
        let tiling = Tiling::of(product, &self.profile).filter(|_| !product.has_few_rows());
        let most = tiling.map_or(1, |tiling| tiling.parts);
        let positions: usize = product.positions.iter().product();
        // The kernel positions are split into single positions, or not at all.
        let by_position = if positions <= most { positions } else { 1 };
        let slices = product.inner.div_ceil(TEXEL);
        let fits = |inner: &usize| slices.is_multiple_of(*inner) && by_position * inner <= most;
        let inner = (1..=slices).rev().find(fits).unwrap_or(1);
        Parts { positions: by_position, inner }
    }
}

/// How a product is split.
#[derive(Clone, Copy)]
struct Parts {
    /// The parts of the kernel positions: one for each position, or 1.
    positions: usize,
    /// The parts of the inner dimension.
    inner: usize,
}

impl Parts {
    const fn count(self) -> usize {
        self.positions * self.inner
    }

    /// The product of a part: the number of the part is a batch dimension before the others.
    fn of(self, builder: &mut Builder<'_>, product: Product) -> Product {
        let rank = product.sizes.len();
        let depth = product.inner / self.inner;
        // Operands are expressions of result, kernel positions and inner dimension.
        let mut at = builder.exprs.coordinates_of(1..=rank);
        let part = builder.exprs.coordinate(0);
        let count = builder.exprs.int(self.inner);
        let is_by_position = self.positions > 1;
        if is_by_position {
            let mut position = builder.exprs.index(IndexOp::Div, part, count);
            let mut own = Vec::new();
            for size in product.positions.iter().rev() {
                let size = builder.exprs.int(*size);
                own.insert(0, builder.exprs.index(IndexOp::Rem, position, size));
                position = builder.exprs.index(IndexOp::Div, position, size);
            }
            at.extend(own);
        } else {
            at.extend(builder.exprs.coordinates_of(rank + 1..rank + 1 + product.positions.len()));
        }
        let positions = if is_by_position { Vec::new() } else { product.positions.clone() };
        let within = builder.exprs.coordinate(rank + 1 + positions.len());
        let share = builder.exprs.index(IndexOp::Rem, part, count);
        at.push(builder.exprs.linear(&[share, within], &[depth, 1], 0));
        let further = |dims: &[usize]| dims.iter().map(|dim| dim + 1).collect::<Vec<_>>();
        Product {
            sizes: [&[self.count()], &product.sizes[..]].concat(),
            rows: further(&product.rows),
            batch: [&[0], &further(&product.batch)[..]].concat(),
            column: product.column + 1,
            positions,
            inner: depth,
            left: builder.exprs.at(product.left, &at),
            is_inside: product.is_inside.map(|inside| builder.exprs.at(inside, &at)),
            right: builder.exprs.at(product.right, &at),
            ..product
        }
    }
}
