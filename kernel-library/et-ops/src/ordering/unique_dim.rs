//! `aten::unique_dim`: the different slices along a dimension, where each slice is among them, and how often each occurs.

use core::cmp::Ordering;

use et_core::{Number, Tensor as View};

use crate::family::choice;
use crate::family::convert::reading;
use crate::family::place::Place;
use crate::family::transfer;
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.unique` along a dimension: slices in lexicographic order.
#[cfg(feature = "catalogue")]
pub const UNIQUE_DIM: Operator = Operator {
    schema: "aten::unique_dim.out(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool \
             return_counts=False, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), \
             Tensor(c!))",
    functional: "aten::unique_dim",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::bounded(
            "rows with places and counts",
            &[
                Tensor(CaseTensor::float(&[3, 2], &[3.0, 1.0, -1.0, 2.0, 3.0, 1.0])),
                Int(0),
                Bool(true),
                Bool(true),
                Bool(true),
            ],
            &[
                CaseTensor::float(&[2, 2], &[-1.0, 2.0, 3.0, 1.0]),
                CaseTensor::long(&[3], &[1.0, 0.0, 1.0]),
                CaseTensor::long(&[2], &[1.0, 2.0]),
            ],
        ),
        Case::bounded(
            "columns",
            &[
                Tensor(CaseTensor::long(&[2, 3], &[5.0, 4.0, 5.0, 0.0, 7.0, 0.0])),
                Int(-1),
                Bool(true),
                Bool(false),
                Bool(false),
            ],
            &[
                CaseTensor::long(&[2, 2], &[4.0, 5.0, 7.0, 0.0]),
                CaseTensor::long(&[3], &[1.0, 0.0, 1.0]),
                CaseTensor::long(&[2], &[1.0, 2.0]),
            ],
        ),
        Case::refused(
            "a number",
            &[Tensor(CaseTensor::long(&[], &[5.0])), Int(0), Bool(true), Bool(false), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

/// The slices that the caller wants. PyTorch computes places and counts of slices in any case.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// The dimension.
    pub dim: i64,
    /// The position of the first out tensor.
    pub out: usize,
}

impl Wanted {
    /// The dimension, counted from the front; a number has none.
    fn axis(self, input: &View<'_>) -> Result<usize> {
        if input.shape().rank() == 0 { Err(Error::InvalidArgument) } else { input.shape().axis(self.dim) }
    }

    /// Type and shape of output `index`; as many different slices as slices, unless the caller knows better.
    pub(super) fn meta(self, args: &Args<'_, '_>, index: usize) -> Result<Meta> {
        let input = args.tensor(0)?;
        let count = Shape::new(&[input.shape().size(self.axis(&input)?) as i32])?;
        let (scalar_type, shape) = match index {
            0 => (input.scalar_type(), choice::shape(args, self.out, input.shape())?),
            1 => (ScalarType::Long, count),
            _ => (ScalarType::Long, choice::shape(args, self.out + 2, count)?),
        };
        Ok(Meta { scalar_type, shape })
    }
}

fn wanted(args: &Args<'_, '_>) -> Result<Wanted> {
    Ok(Wanted { dim: args.int(1)?, out: 5 })
}

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    wanted(args)?.meta(args, index)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    along::<D>(args, wanted(args)?, true)
}

/// Stores the different slices, in order or as they come.
pub(super) fn along<const D: u32>(args: &Args<'_, '_>, wanted: Wanted, sorts: bool) -> Result<()> {
    if args.tensor(0)?.scalar_type().is_float() {
        of::<f64, D>(args, wanted, sorts)
    } else {
        of::<i64, D>(args, wanted, sorts)
    }
}

fn of<C: Number, const D: u32>(args: &Args<'_, '_>, wanted: Wanted, sorts: bool) -> Result<()> {
    let (input, values) = (args.tensor(0)?, args.tensor(wanted.out)?);
    if values.scalar_type() != input.scalar_type() {
        return Err(Error::InvalidType);
    }
    let (places, counts) = (args.tensor(wanted.out + 1)?, args.tensor(wanted.out + 2)?);
    let dim = wanted.axis(&input)?;
    let mut different = 0;
    reading::<C, D>(&input, &mut |element| {
        let slices = Slices::new(&input, dim, element)?;
        different = 0;
        slices.visit(sorts, &mut |_, _, is_first| {
            different += usize::from(is_first);
            Ok(())
        })
    })?;
    let mut shape = input.shape();
    shape.sizes_mut()[dim] = different as i32;
    values.resize(&shape)?;
    places.resize(&Shape::new(&[input.shape().size(dim) as i32])?)?;
    counts.resize(&Shape::new(&[different as i32])?)?;
    let (to, sums) = (places.output::<i64>()?, counts.output::<i64>()?);
    (0..sums.len()).for_each(|index| sums.set(index, 0));
    reading::<C, D>(&input, &mut |element| {
        let slices = Slices::new(&input, dim, element)?;
        slices.visit(sorts, &mut |place, index, is_first| {
            to.set(index, place as i64);
            sums.set(place, sums.get(place) + 1);
            if !is_first {
                return Ok(());
            }
            let target = slice(&values, dim, place);
            transfer::region::<D>(&slices.shape, (&input, slice(&input, dim, index)), (&values, target))
        })
    })
}

/// The layout of a slice without its dimension.
fn slice(tensor: &View<'_>, dim: usize, index: usize) -> Place {
    let others = (0..tensor.shape().rank()).filter(|other| *other != dim);
    Place::of(tensor).moved(dim, index as i64).with_dims(others)
}

/// The slices along a dimension.
struct Slices<'a, 't, C> {
    input: &'a View<'t>,
    dim: usize,
    element: &'a dyn Fn(usize) -> C,
    /// The shape of a slice.
    shape: Shape,
}

impl<'a, 't, C: Number> Slices<'a, 't, C> {
    fn new(input: &'a View<'t>, dim: usize, element: &'a dyn Fn(usize) -> C) -> Result<Self> {
        let (whole, mut shape) = (input.shape(), Shape::new(&[])?);
        let mut others = whole.sizes().iter().enumerate().filter(|(other, _)| *other != dim);
        others.try_for_each(|(_, size)| shape.push(*size))?;
        Ok(Self { input, dim, element, shape })
    }

    fn count(&self) -> usize {
        self.input.shape().size(self.dim)
    }

    fn compare(&self, left: usize, right: usize) -> Result<Ordering> {
        let places = [left, right].map(|index| slice(self.input, self.dim, index));
        for [left, right] in Walk::over(&self.shape, places)? {
            match (self.element)(left).partial_cmp(&(self.element)(right)) {
                Some(Ordering::Equal) => {}
                Some(order) => return Ok(order),
                None => return Err(Error::NotSupported),
            }
        }
        Ok(Ordering::Equal)
    }

    /// Visits each slice with its place among the different slices, and whether the slice is the first at the place.
    fn visit(&self, sorts: bool, visit: &mut dyn FnMut(usize, usize, bool) -> Result<()>) -> Result<()> {
        if sorts { self.visit_sorted(visit) } else { self.visit_neighbours(visit) }
    }

    /// Needs no memory: the next slice in order is the least of the greater slices.
    fn visit_sorted(&self, visit: &mut dyn FnMut(usize, usize, bool) -> Result<()>) -> Result<()> {
        let (mut place, mut last) = (0, None);
        while let Some(first) = self.least_after(last)? {
            for index in first..self.count() {
                if self.compare(index, first)? == Ordering::Equal {
                    visit(place, index, index == first)?;
                }
            }
            (place, last) = (place + 1, Some(first));
        }
        Ok(())
    }

    /// The first of the least slices that are greater than a slice.
    fn least_after(&self, last: Option<usize>) -> Result<Option<usize>> {
        let mut least = None;
        for index in 0..self.count() {
            let is_after = last.map_or(Ok(true), |last| Ok(self.compare(index, last)? == Ordering::Greater))?;
            let is_less = |least| Ok::<_, Error>(self.compare(index, least)? == Ordering::Less);
            if is_after && least.map_or(Ok(true), is_less)? {
                least = Some(index);
            }
        }
        Ok(least)
    }

    fn visit_neighbours(&self, visit: &mut dyn FnMut(usize, usize, bool) -> Result<()>) -> Result<()> {
        let mut place = 0;
        for index in 0..self.count() {
            let is_first = index == 0 || self.compare(index, index - 1)? != Ordering::Equal;
            place += usize::from(is_first && index > 0);
            visit(place, index, is_first)?;
        }
        Ok(())
    }
}
