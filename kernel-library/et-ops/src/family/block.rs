//! Tensors that are cut into equal blocks.

use et_core::{Error, Result, Shape, Tensor};

use super::place::Place;
use super::walk::Walk;

/// A shape as a grid of blocks.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// The number of blocks along each dimension.
    grid: Shape,
    /// The shape of each block.
    block: Shape,
}

impl Blocks {
    /// Blocks of these sizes, a size per dimension of `shape`; each size must divide the dimension.
    pub fn of(shape: &Shape, sizes: &[i64]) -> Result<Self> {
        let (mut grid, mut block) = (*shape, Shape::SCALAR);
        if sizes.len() != shape.rank() {
            return Err(Error::InvalidArgument);
        }
        for (count, size) in grid.sizes_mut().iter_mut().zip(sizes) {
            let size = i32::try_from(*size).map_err(|_| Error::InvalidArgument)?;
            if size <= 0 || *count % size != 0 {
                return Err(Error::InvalidArgument);
            }
            *count /= size;
            block.push(size)?;
        }
        Ok(Self { grid, block })
    }

    /// A single block that covers the whole shape.
    pub fn whole(shape: &Shape) -> Self {
        Self { grid: Self::ones(shape), block: *shape }
    }

    /// A block for each element.
    pub fn each(shape: &Shape) -> Self {
        Self { grid: *shape, block: Self::ones(shape) }
    }

    /// A block for each position along `axis`.
    pub fn along(shape: &Shape, axis: usize) -> Self {
        let mut blocks = Self::whole(shape);
        blocks.exchange(axis);
        blocks
    }

    /// A block for each position in all dimensions but the last.
    pub fn rows(shape: &Shape) -> Self {
        let mut blocks = Self::whole(shape);
        (0..shape.rank().saturating_sub(1)).for_each(|dim| blocks.exchange(dim));
        blocks
    }

    /// The number of blocks along each dimension.
    pub const fn grid(&self) -> &Shape {
        &self.grid
    }

    /// The shape of each block.
    pub const fn block(&self) -> &Shape {
        &self.block
    }

    /// The blocks of tensors of the shape, in row-major order of the grid.
    pub fn walk<const N: usize>(&self, tensors: [&Tensor<'_>; N]) -> Result<impl Iterator<Item = Block<N>> + use<N>> {
        let (places, block) = (tensors.map(Place::of), self.block);
        let scaled =
            |place: Place| (0..block.rank()).fold(place, |place, dim| place.stepped(dim, block.size(dim) as i64));
        Ok(Walk::over(&self.grid, places.map(scaled))?.map(move |starts| Block { block, places, starts }))
    }

    fn ones(shape: &Shape) -> Shape {
        let mut ones = *shape;
        ones.sizes_mut().fill(1);
        ones
    }

    /// Cuts dimension `dim` into blocks of size 1.
    fn exchange(&mut self, dim: usize) {
        if let (Some(count), Some(size)) = (self.grid.sizes_mut().get_mut(dim), self.block.sizes_mut().get_mut(dim)) {
            core::mem::swap(count, size);
        }
    }
}

/// A block, in each of `N` tensors.
pub struct Block<const N: usize> {
    block: Shape,
    places: [Place; N],
    starts: [usize; N],
}

impl<const N: usize> Block<N> {
    /// The offset of the first element.
    pub const fn start(&self) -> [usize; N] {
        self.starts
    }

    /// Visits the offsets of all elements in logical order.
    pub fn for_each(&self, mut visit: impl FnMut([usize; N])) -> Result<()> {
        let (mut rows, inner) = (self.block, self.block.rank().saturating_sub(1));
        let length = rows.around(inner)[1];
        if let Some(innermost) = rows.sizes_mut().last_mut() {
            *innermost = length.min(1) as i32;
        }
        let mut places = self.places;
        places.iter_mut().zip(self.starts).for_each(|(place, start)| *place = place.at(start));
        let steps = places.map(|place| place.strides[inner]);
        for mut offsets in Walk::over(&rows, places)? {
            for _ in 0..length {
                visit(offsets);
                offsets.iter_mut().zip(steps).for_each(|(offset, step)| *offset = offset.wrapping_add(step));
            }
        }
        Ok(())
    }
}
