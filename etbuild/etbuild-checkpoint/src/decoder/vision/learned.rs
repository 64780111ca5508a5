//! Learned position embeddings of patches: a square table, which pictures of other sizes interpolate.

use et_core::ScalarType;
use etbuild_ir::ValueId;

use crate::TOWER;
use crate::constant::{Part, spec};
use crate::decoder::parts::Parts;

/// The rows of the table around a place between four.
const CORNERS: usize = 4;

/// The inputs about the places of patches in the table.
pub struct Learned {
    /// `corners`, `int64 [4, p n]`: the rows of the table around each patch.
    corners: ValueId,
    /// `shares`, `float32 [4, p n, 1]`: the share of each in the position embedding of the patch.
    shares: ValueId,
}

impl Learned {
    /// The inputs for up to `most` patches, a multiple of `each`.
    pub fn inputs(parts: &mut Parts<'_, '_>, most: usize, each: usize) -> Self {
        let corners = parts.sketch.several("corners", spec(ScalarType::Long, &[CORNERS, most]), 1, each);
        let shares = parts.sketch.several("shares", spec(ScalarType::Float, &[CORNERS, most, 1]), 1, each);
        Self { corners, shares }
    }

    /// Adds the position embeddings, from a table with so many rows and columns, to the embeddings of patches, `[1, p n, columns]`.
    pub fn add(&self, parts: &mut Parts<'_, '_>, [rows, columns]: [usize; 2], patches: ValueId) -> ValueId {
        let (module, Parts { sketch, weights }) = (format!("{TOWER}.pos_embed"), parts);
        sketch.enter(module.as_str());
        let table = weights.stored_matrix(&format!("{module}.weight"), Part::all(rows), columns);
        let table = sketch.floats(&table);
        (0..CORNERS).fold(patches, |sum, corner| {
            let [own, share] = [self.corners, self.shares].map(|all| sketch.slice(all, 0, corner, corner + 1));
            let embedded = sketch.embedding(table, own);
            let part = sketch.multiply(embedded, share);
            sketch.add(sum, part)
        })
    }
}
