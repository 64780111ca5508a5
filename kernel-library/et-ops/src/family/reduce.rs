//! Reductions over dimensions.

use et_core::{Args, Error, MAX_RANK, Result, Shape, Tensor};

use super::place::Place;
use super::walk::Walk;

/// Which dimensions are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded(u32);

impl Folded {
    /// All dimensions.
    pub const ALL: Self = Self(u32::MAX);

    /// These dimensions of `shape`, counted from either end, each at most once.
    pub fn of(shape: &Shape, dims: &[i64]) -> Result<Self> {
        let mut folded = Self(0);
        for dim in dims {
            let axis = shape.axis(*dim)?;
            if folded.contains(axis) {
                return Err(Error::InvalidArgument);
            }
            folded.0 |= 1 << axis;
        }
        Ok(folded)
    }

    /// Argument `position` as dimensions of the first argument; an absent or empty list stands for every dimension.
    pub fn argument(args: &Args<'_, '_>, position: usize) -> Result<Self> {
        match args.optional_ints(position)? {
            Some(dims) if !dims.is_empty() => Self::of(&args.tensor(0)?.shape(), &dims),
            _ => Ok(Self::ALL),
        }
    }

    /// Whether `dim` is reduced.
    pub const fn contains(self, dim: usize) -> bool {
        self.0 & (1 << dim) != 0
    }

    /// The reduced shape: reduced dimensions have size 1 if `keep`, otherwise they are removed.
    pub fn shape(self, input: &Shape, keep: bool) -> Result<Shape> {
        let mut shape = Shape::SCALAR;
        for (dim, size) in input.sizes().iter().enumerate() {
            match (self.contains(dim), keep) {
                (true, true) => shape.push(1)?,
                (true, false) => {}
                (false, _) => shape.push(*size)?,
            }
        }
        Ok(shape)
    }

    /// The number of input elements per output element.
    pub fn count(self, input: &Shape) -> Result<usize> {
        self.lane(input).numel()
    }

    /// The box of the input elements that are reduced to an output element.
    fn lane(self, input: &Shape) -> Shape {
        let mut lane = *input;
        for (_, size) in lane.sizes_mut().iter_mut().enumerate().filter(|(dim, _)| !self.contains(*dim)) {
            *size = 1;
        }
        lane
    }

    /// The place in the output of positions of the input, which are 0 in every reduced dimension.
    fn place(self, input: &Shape, out: &Tensor<'_>) -> Place {
        let (strides, keep) = (out.strides(), out.shape().rank() == input.rank());
        let mut spread = [0; MAX_RANK];
        let mut next = 0;
        for (dim, stride) in spread.iter_mut().enumerate().take(input.rank()) {
            if keep || !self.contains(dim) {
                *stride = strides[next];
                next += 1;
            }
        }
        Place { start: 0, strides: spread }
    }

    /// Calls `visit` for each element of the outputs, which have the same shape, with the offsets of the reduced input
    /// elements in logical order, and with the element's offset in each output.
    pub fn for_each<const N: usize>(
        self,
        input: &Tensor<'_>,
        outs: [&Tensor<'_>; N],
        mut visit: impl FnMut(Lane, [usize; N]) -> Result<()>,
    ) -> Result<()> {
        if cfg!(feature = "catalogue") {
            // One copy of the loop for all reductions and dtypes: the catalogue compiles in less time.
            self.for_each_lane(input, outs, &mut visit as &mut dyn FnMut(Lane, [usize; N]) -> Result<()>)
        } else {
            self.for_each_lane(input, outs, visit)
        }
    }

    fn for_each_lane<const N: usize>(
        self,
        input: &Tensor<'_>,
        outs: [&Tensor<'_>; N],
        mut visit: impl FnMut(Lane, [usize; N]) -> Result<()>,
    ) -> Result<()> {
        let (shape, place) = (input.shape(), Place::of(input));
        let (kept, lane) = (self.shape(&shape, true)?, self.lane(&shape));
        let lanes = Walk::over(&kept, [place])?.zip(Walk::over(&kept, outs.map(|out| self.place(&shape, out)))?);
        for ([from], to) in lanes {
            visit(Lane(Walk::over(&lane, [place.at(from)])?), to)?;
        }
        Ok(())
    }
}

/// The offsets of the input elements that are reduced to an output element.
#[derive(Clone)]
pub struct Lane(Walk<1>);

impl Iterator for Lane {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.0.next().map(|[offset]| offset)
    }

    #[inline]
    fn fold<A, F: FnMut(A, usize) -> A>(self, initial: A, mut visit: F) -> A {
        self.0.fold(initial, |result, [offset]| visit(result, offset))
    }
}
