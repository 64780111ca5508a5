//! NumPy's advanced indexing: index tensors for some dimensions, broadcast to a common shape.

use et_core::{Args, Error, MAX_RANK, Result, ScalarType, Shape, Tensor};

use crate::family::index;
use crate::family::place::Place;
use crate::family::walk::Walk;

/// Which positions a boolean mask selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Every position of the mask, as an upper bound: shape rules see no elements.
    Shapes,
    /// The positions at which the mask is true.
    Elements,
}

/// Indices of dimensions: argument 1 of a call, a list of tensors that may lack some.
pub struct Indexing {
    /// The shape that all tensors of indices broadcast to.
    indices: Shape,
    /// The dimensions without indices.
    sliced: Shape,
    sliced_dims: [usize; MAX_RANK],
    /// The position of the index dimensions in the result.
    position: usize,
}

impl Indexing {
    /// The indices of `indexed`.
    pub fn new(args: &Args<'_, '_>, indexed: &Tensor<'_>, bound: Bound) -> Result<Self> {
        let shape = indexed.shape();
        let mut new = Self { indices: Shape::SCALAR, sliced: Shape::SCALAR, sliced_dims: [0; MAX_RANK], position: 0 };
        let (mut dim, mut groups, mut in_group, mut masked) = (0, 0, false, None);
        for item in 0..args.tensors_len(1)? {
            let Some(tensor) = args.optional_tensor_of(1, item)? else {
                new.slice(&shape, dim)?;
                (dim, in_group) = (dim + 1, false);
                continue;
            };
            if !in_group {
                (groups, in_group) = (groups + 1, true);
                new.position = new.sliced.rank();
            }
            if is_mask(&tensor) {
                let count = count(&tensor, bound)?;
                check_mask(&tensor, &shape, dim)?;
                masked = Some(masked.map_or(Ok(count), |known| common(known, count, bound))?);
                dim += tensor.rank();
            } else {
                new.indices = new.indices.broadcast(&tensor.shape())?;
                dim += 1;
            }
        }
        new.rest(&shape, dim)?;
        if groups > 1 {
            new.position = 0;
        }
        masked.map_or(Ok(()), |count| new.broadcast_mask(count, bound))?;
        Ok(new)
    }

    fn slice(&mut self, shape: &Shape, dim: usize) -> Result<()> {
        let size = shape.sizes().get(dim).ok_or(Error::InvalidArgument)?;
        self.sliced_dims[self.sliced.rank()] = dim;
        self.sliced.push(*size)
    }

    /// The dimensions from `dim` on have no indices.
    fn rest(&mut self, shape: &Shape, dim: usize) -> Result<()> {
        if dim > shape.rank() {
            return Err(Error::InvalidArgument);
        }
        (dim..shape.rank()).try_for_each(|dim| self.slice(shape, dim))
    }

    /// A mask acts as a vector of `count` indices; if `count` is only an upper bound, the size of the remaining index
    /// tensors wins.
    fn broadcast_mask(&mut self, count: i32, bound: Bound) -> Result<()> {
        let known = self.indices.sizes().last().copied().filter(|size| *size != 1);
        let count = if bound == Bound::Shapes { known.unwrap_or(count) } else { count };
        self.indices = self.indices.broadcast(&Shape::new(&[count])?)?;
        Ok(())
    }

    /// The shape of the indexed elements: the broadcast index dimensions replace the indexed dimensions, or come first
    /// if the indexed dimensions are not adjacent.
    pub fn shape(&self) -> Result<Shape> {
        let (before, after) = self.sliced.sizes().split_at(self.position);
        let mut shape = Shape::new(before)?;
        self.indices.sizes().iter().chain(after).try_for_each(|size| shape.push(*size))?;
        Ok(shape)
    }

    /// Calls `visit` for each indexed element with its offset in `indexed` and its offset in the tensor that `result`
    /// places.
    pub fn for_each(
        &self,
        args: &Args<'_, '_>,
        indexed: &Tensor<'_>,
        result: Place,
        mut visit: impl FnMut(usize, usize),
    ) -> Result<()> {
        let mut sources = Sources::new(args, indexed, &self.indices)?;
        let (rank, position) = (self.indices.rank(), self.position);
        let of_indices = result.with_dims(position..position + rank);
        let of_sliced = result.with_dims((0..position).chain(position + rank..MAX_RANK));
        let own = Place::of(indexed).with_dims(self.sliced_dims.into_iter().take(self.sliced.rank()));
        for [result_at] in Walk::over(&self.indices, [of_indices])? {
            let start = sources.next(indexed)?;
            Walk::over(&self.sliced, [own.at(start), of_sliced.at(result_at)])?.for_each(|[own, at]| visit(own, at));
        }
        Ok(())
    }
}

/// The tensors of indices, read in step.
struct Sources<'p> {
    items: [Option<Source<'p>>; MAX_RANK],
}

struct Source<'p> {
    tensor: Tensor<'p>,
    /// The first dimension that the tensor indexes.
    dim: usize,
    /// Walks over the indices; for a mask, over the ordinals of its true elements.
    walk: Walk<1>,
    cursor: Cursor,
}

/// The state of the search for the true elements of a mask.
struct Cursor {
    /// Walks over the elements of the mask and the offsets in the indexed tensor that the elements select.
    walk: Walk<2>,
    /// The number of true elements already passed.
    passed: usize,
    /// The offset that the last passed true element selects.
    offset: usize,
}

impl<'p> Sources<'p> {
    fn new(args: &Args<'p, '_>, indexed: &Tensor<'_>, shape: &Shape) -> Result<Self> {
        let mut sources = Self { items: [const { None }; MAX_RANK] };
        let (mut dim, count) = (0, args.tensors_len(1)?);
        let slots = sources.items.get_mut(..count).ok_or(Error::InvalidArgument)?;
        for (item, slot) in slots.iter_mut().enumerate() {
            let tensor = args.optional_tensor_of(1, item)?;
            *slot = tensor.map(|tensor| Source::new(tensor, dim, indexed, shape)).transpose()?;
            dim += tensor.filter(is_mask).map_or(1, |mask| mask.rank());
        }
        Ok(sources)
    }

    /// The offset in `indexed` that the next indices name together.
    fn next(&mut self, indexed: &Tensor<'_>) -> Result<usize> {
        let mut offset = 0;
        for source in self.items.iter_mut().flatten() {
            offset += source.next(indexed)?;
        }
        Ok(offset)
    }
}

impl<'p> Source<'p> {
    fn new(tensor: Tensor<'p>, dim: usize, indexed: &Tensor<'_>, shape: &Shape) -> Result<Self> {
        let place = match is_mask(&tensor) {
            false => Place::broadcast(&tensor, shape)?,
            true => ordinals(shape, count(&tensor, Bound::Elements)?),
        };
        Ok(Self { tensor, dim, walk: Walk::over(shape, [place])?, cursor: Cursor::new(&tensor, dim, indexed)? })
    }

    fn next(&mut self, indexed: &Tensor<'_>) -> Result<usize> {
        let [at] = self.walk.next().ok_or(Error::Internal)?;
        if !is_mask(&self.tensor) {
            let size = indexed.size(self.dim);
            return Ok(index::load_from_either_end(&self.tensor, at, size)? * indexed.strides()[self.dim]);
        }
        if at + 1 < self.cursor.passed {
            self.cursor = Cursor::new(&self.tensor, self.dim, indexed)?;
        }
        self.cursor.find(&self.tensor, at)
    }
}

impl Cursor {
    fn new(mask: &Tensor<'_>, dim: usize, indexed: &Tensor<'_>) -> Result<Self> {
        let stands_for = Place::of(indexed).with_dims(dim..dim + mask.rank());
        Ok(Self { walk: Walk::over(&mask.shape(), [Place::of(mask), stands_for])?, passed: 0, offset: 0 })
    }

    /// The offset that true element `ordinal` selects; `ordinal` must not precede the last element found.
    fn find(&mut self, mask: &Tensor<'_>, ordinal: usize) -> Result<usize> {
        let elements = mask.input::<bool>()?;
        while self.passed <= ordinal {
            let [_, offset] = self.walk.find(|[at, _]| elements.get(*at)).ok_or(Error::Internal)?;
            (self.passed, self.offset) = (self.passed + 1, offset);
        }
        Ok(self.offset)
    }
}

/// The index of a mask's true element at each position of the indices.
fn ordinals(shape: &Shape, count: i32) -> Place {
    let mut strides = [0; MAX_RANK];
    if let (Some(innermost), true) = (shape.rank().checked_sub(1), count != 1) {
        strides[innermost] = 1;
    }
    Place { start: 0, strides }
}

fn is_mask(tensor: &Tensor<'_>) -> bool {
    tensor.scalar_type() == ScalarType::Bool
}

/// The number of positions that a mask selects.
fn count(mask: &Tensor<'_>, bound: Bound) -> Result<i32> {
    Ok(match bound {
        Bound::Shapes => mask.numel(),
        Bound::Elements => mask.input::<bool>()?.iter().filter(|element| *element).count(),
    } as i32)
}

/// The number of indices of two masks together.
fn common(one: i32, other: i32, bound: Bound) -> Result<i32> {
    match (one, other, bound) {
        (_, _, Bound::Shapes) => Ok(one.min(other).max(1)),
        (1, count, _) | (count, 1, _) => Ok(count),
        _ if one == other => Ok(one),
        _ => Err(Error::InvalidArgument),
    }
}

/// Checks that a mask has the sizes of the dimensions that the mask indexes.
fn check_mask(mask: &Tensor<'_>, shape: &Shape, dim: usize) -> Result<()> {
    let sizes = shape.sizes().get(dim..dim + mask.rank());
    if mask.rank() > 0 && sizes == Some(mask.shape().sizes()) { Ok(()) } else { Err(Error::InvalidArgument) }
}
