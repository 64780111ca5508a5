//! `f32` GEMM and convolution with packed weights: direct, or by the Winograd algorithm where that is faster.

use et_core::{Error, Result};
use et_simd::Isa;

use super::direct::{Direct, FloatOperands};
use super::pack::Weights;
use super::winograd::Winograd;
use crate::output::Output;
use crate::shape::{Block, Grid, Shape};

/// An `f32` GEMM or convolution of a fixed shape with the kernels of a fixed ISA.
pub struct FloatProduct {
    shape: Shape,
    algorithm: Algorithm,
}

/// The algorithm of a shape.
enum Algorithm {
    Direct(Direct),
    Winograd(Winograd),
}

/// The value of an expression for the algorithm.
macro_rules! by_algorithm {
    ($product:expr, |$algorithm:ident| $value:expr) => {
        match &$product.algorithm {
            Algorithm::Direct($algorithm) => $value,
            Algorithm::Winograd($algorithm) => $value,
        }
    };
}

impl FloatProduct {
    /// Fails if the shape is inconsistent. Packing for any ISA works on every host.
    pub fn new(shape: Shape, isa: Isa) -> Result<Self> {
        let direct = Direct::new(shape, isa)?;
        let algorithm = Winograd::new(&shape, isa).map_or(Algorithm::Direct(direct), Algorithm::Winograd);
        Ok(Self { shape, algorithm })
    }

    /// As [`Self::new`], by the algorithm whose packed weights have `size` bytes: a convolution of another image size may have
    /// packed the weights. Fails for another size.
    pub fn of_packed(shape: Shape, isa: Isa, size: usize) -> Result<Self> {
        let direct = Self { shape, algorithm: Algorithm::Direct(Direct::new(shape, isa)?) };
        let winograd =
            || Winograd::of(&shape, isa).map(|winograd| Self { shape, algorithm: Algorithm::Winograd(winograd) });
        let product = if direct.packed_size() == size { Some(direct) } else { winograd() };
        product.filter(|product| product.packed_size() == size).ok_or(Error::InvalidArgument)
    }

    /// Size of the packed weights in bytes.
    pub const fn packed_size(&self) -> usize {
        by_algorithm!(self, |algorithm| algorithm.packed_size())
    }

    /// Packs weights and an optional bias (may be empty). Fails if a length differs from the shape.
    #[inline]
    pub fn pack(&self, weights: &Weights<'_, f32>, bias: &[f32], packed: &mut [u8]) -> Result<()> {
        weights.check(&self.shape)?;
        let biased = bias.is_empty() || bias.len() == self.shape.all_columns();
        if !biased || packed.len() != self.packed_size() {
            return Err(Error::InvalidArgument);
        }
        by_algorithm!(self, |algorithm| algorithm.pack(weights, bias, packed));
        Ok(())
    }

    /// Folds per-channel input scales (squeeze-and-excite) into a copy of the packed weights. Fails unless the
    /// convolution is pointwise with a single group and the lengths match the shape.
    #[inline]
    pub fn scale(&self, packed: &[u8], factors: &[f32], scaled: &mut [u8]) -> Result<()> {
        match &self.algorithm {
            Algorithm::Direct(direct) => direct.scale(packed, factors, scaled),
            Algorithm::Winograd(_) => Err(Error::InvalidArgument),
        }
    }

    /// The grid of tiles and panels.
    pub const fn grid(&self) -> Grid {
        by_algorithm!(self, |algorithm| algorithm.grid())
    }

    /// Scratch bytes per call.
    pub fn scratch_size(&self) -> usize {
        by_algorithm!(self, |algorithm| algorithm.scratch_size())
    }

    /// Computes a block of the output. Fails if an operand, the output or the scratch is too short, or if this CPU
    /// lacks the ISA.
    #[inline]
    pub fn compute(
        &self,
        operands: &FloatOperands<'_>,
        output: &mut Output<'_, f32>,
        block: Block,
        scratch: &mut [u8],
    ) -> Result<()> {
        if block.is_empty() {
            return Ok(());
        }
        by_algorithm!(self, |algorithm| algorithm.compute(operands, output, block, scratch))
    }
}
