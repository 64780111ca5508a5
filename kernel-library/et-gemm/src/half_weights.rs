//! fp16 and bf16 weights, which are exact in `f32`: half the bytes of a GEMM that is bound by the bandwidth of its weights.
//!
//! A panel has an `f32` bias row, then a row of 16-bit weights for each element of K. Values are little-endian.

use et_core::{Error, Result};
use et_simd::Isa;

use crate::block::pack::panel_width;
use crate::kernels::halves::Halves;
use crate::panels::Panels;
use crate::shape::Shape;

/// 16-bit weights of a GEMM: sizes and packing. All ISAs of an architecture read the same packed weights.
#[derive(Clone, Copy)]
pub struct HalfWeights {
    inner: usize,
    columns: usize,
    pub(crate) kind: Halves,
    /// The packed panels, in bytes.
    pub(crate) panels: Panels,
}

impl HalfWeights {
    /// Weights of K = `inner`, N = `columns`.
    pub fn new([inner, columns]: [usize; 2], kind: Halves, isa: Isa) -> Result<Self> {
        Shape::product(1, inner, columns).check()?;
        let panels = Panels::new(columns, [panel_width(isa.architecture()), 1], 4 + 2 * inner);
        Ok(Self { inner, columns, kind, panels })
    }

    /// Size of the packed weights in bytes.
    pub const fn packed_size(&self) -> usize {
        self.panels.size(1)
    }

    /// Packs weights `[columns, inner]` and an optional bias (may be empty). Fails if a length differs from the sizes, or for a weight that
    /// is not exact in the type.
    #[inline]
    pub fn pack(&self, weights: &[f32], bias: &[f32], packed: &mut [u8]) -> Result<()> {
        let has_bias = bias.is_empty() || bias.len() == self.columns;
        if weights.len() != self.inner * self.columns || !has_bias || packed.len() != self.packed_size() {
            return Err(Error::InvalidArgument);
        }
        for panel in (0..self.panels.per_group).map(|index| self.panels.get(index)) {
            let bytes = &mut packed[panel.start..panel.next];
            bytes.fill(0);
            for lane in 0..panel.columns {
                let column = panel.column + lane;
                let bias = bias.get(column).copied().unwrap_or(0.0);
                bytes[4 * lane..][..4].copy_from_slice(&bias.to_le_bytes());
                let rows = bytes[4 * panel.step..].chunks_exact_mut(2 * panel.step);
                for (row, weight) in rows.zip(&weights[column * self.inner..][..self.inner]) {
                    let bits = self.kind.bits(*weight).ok_or(Error::InvalidArgument)?;
                    row[2 * lane..][..2].copy_from_slice(&bits.to_le_bytes());
                }
            }
        }
        Ok(())
    }

    /// A column of the packed weights: a row of the embedding table whose transpose is packed (tied weights). Fails if the column does not
    /// exist or a length differs from the sizes.
    #[inline]
    pub fn column(&self, packed: &[u8], column: usize, elements: &mut [f32]) -> Result<()> {
        if column >= self.columns || elements.len() != self.inner || packed.len() != self.packed_size() {
            return Err(Error::InvalidArgument);
        }
        let panel = self.panels.get(column / self.panels.width);
        let rows = packed[panel.start + 4 * panel.step..panel.next].chunks_exact(2 * panel.step);
        for (element, row) in elements.iter_mut().zip(rows) {
            let bits =
                row[2 * (column - panel.column)..].first_chunk::<2>().map_or(0, |bytes| u16::from_le_bytes(*bytes));
            *element = self.kind.number(bits);
        }
        Ok(())
    }
}
