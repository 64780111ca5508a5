//! `aten::_unique2` and `aten::unique_consecutive`: the different elements, where each element is among them, and how often
//! each occurs.

use et_core::Number;

use crate::family::choice;
use crate::family::convert::{reading, updating};
use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::ordering::heap::Heap;
use crate::ordering::unique_dim;
use crate::prelude::*;

/// `torch.unique` of all elements, in ascending order. Elements that are NaN are refused.
#[cfg(feature = "catalogue")]
pub const UNIQUE2: Operator = Operator {
    schema: "aten::_unique2.out(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False, *, \
             Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    functional: "aten::_unique2",
    path: kernel_path!(unique2_out),
    dtypes: Dtypes::ALL,
    infer: infer_sorted,
    kernel: unique2_out::<ALL>,
    cases: &[
        Case::bounded(
            "with places and counts",
            &[Tensor(CaseTensor::float(&[2, 3], &[3.0, 1.0, 3.0, 2.0, 1.0, 3.0])), Bool(true), Bool(true), Bool(true)],
            &[
                CaseTensor::float(&[3], &[1.0, 2.0, 3.0]),
                CaseTensor::long(&[2, 3], &[2.0, 0.0, 2.0, 1.0, 0.0, 2.0]),
                CaseTensor::long(&[3], &[2.0, 1.0, 3.0]),
            ],
        ),
        Case::bounded(
            "the elements alone",
            &[Tensor(CaseTensor::bool(&[3], &[1.0, 0.0, 1.0])), Bool(true), Bool(false), Bool(false)],
            &[CaseTensor::bool(&[2], &[0.0, 1.0]), CaseTensor::long(&[0], &[]), CaseTensor::long(&[0], &[])],
        ),
    ],
};

/// `torch.unique_consecutive` of all elements: only neighbours are compared. NaN differs from NaN.
#[cfg(feature = "catalogue")]
pub const UNIQUE_CONSECUTIVE: Operator = Operator {
    schema: "aten::unique_consecutive.out(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None, \
             *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    functional: "aten::unique_consecutive",
    path: kernel_path!(consecutive_out),
    dtypes: Dtypes::ALL,
    infer: infer_consecutive,
    kernel: consecutive_out::<ALL>,
    cases: &[
        Case::bounded(
            "with places and counts",
            &[
                Tensor(CaseTensor::long(&[6], &[3.0, 3.0, 1.0, 2.0, 2.0, 3.0])),
                Bool(true),
                Bool(true),
                CaseArgument::None,
            ],
            &[
                CaseTensor::long(&[4], &[3.0, 1.0, 2.0, 3.0]),
                CaseTensor::long(&[6], &[0.0, 0.0, 1.0, 2.0, 2.0, 3.0]),
                CaseTensor::long(&[4], &[2.0, 1.0, 2.0, 1.0]),
            ],
        ),
        Case::bounded(
            "the elements alone",
            &[
                Tensor(CaseTensor::float(&[2, 2], &[1.0, 1.0, 1.0, f64::NAN])),
                Bool(false),
                Bool(false),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[2], &[1.0, f64::NAN]), CaseTensor::long(&[0], &[]), CaseTensor::long(&[0], &[])],
        ),
        Case::bounded(
            "rows",
            &[Tensor(CaseTensor::long(&[3, 2], &[1.0, 2.0, 1.0, 2.0, 0.0, 3.0])), Bool(true), Bool(true), Int(0)],
            &[
                CaseTensor::long(&[2, 2], &[1.0, 2.0, 0.0, 3.0]),
                CaseTensor::long(&[3], &[0.0, 0.0, 1.0]),
                CaseTensor::long(&[2], &[2.0, 1.0]),
            ],
        ),
    ],
};

/// Whether places and counts are wanted, and the position of the first out tensor.
#[derive(Clone, Copy)]
struct Wanted {
    places: bool,
    counts: bool,
    out: usize,
}

fn of_sorted(args: &Args<'_, '_>) -> Result<Wanted> {
    Ok(Wanted { places: args.bool(2)?, counts: args.bool(3)?, out: 4 })
}

fn of_consecutive(args: &Args<'_, '_>) -> Result<Wanted> {
    Ok(Wanted { places: args.bool(1)?, counts: args.bool(2)?, out: 4 })
}

/// The slices along a dimension, if the caller wants slices.
fn of_slices(args: &Args<'_, '_>) -> Result<Option<unique_dim::Wanted>> {
    Ok(args.optional_int(3)?.map(|dim| unique_dim::Wanted { dim, out: 4 }))
}

impl Wanted {
    fn meta(self, args: &Args<'_, '_>, index: usize) -> Result<Meta> {
        let input = args.tensor(0)?;
        let most = Shape::new(&[input.numel() as i32])?;
        let none = Shape::new(&[0])?;
        let (scalar_type, shape) = match index {
            0 => (input.scalar_type(), choice::shape(args, self.out, most)?),
            1 => (ScalarType::Long, if self.places { input.shape() } else { none }),
            _ => (ScalarType::Long, if self.counts { choice::shape(args, self.out + 2, most)? } else { none }),
        };
        Ok(Meta { scalar_type, shape })
    }
}

fn infer_sorted(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    of_sorted(args)?.meta(args, index)
}

fn infer_consecutive(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    match of_slices(args)? {
        Some(slices) => slices.meta(args, index),
        None => of_consecutive(args)?.meta(args, index),
    }
}

/// The portable kernel of `_unique2` for the types in `D`.
pub fn unique2_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let wanted = of_sorted(args)?;
    if args.tensor(0)?.scalar_type().is_float() {
        sorted::<f64, D>(args, wanted)
    } else {
        sorted::<i64, D>(args, wanted)
    }
}

fn sorted<C: Number, const D: u32>(args: &Args<'_, '_>, wanted: Wanted) -> Result<()> {
    let (input, values) = (args.tensor(0)?, args.tensor(wanted.out)?);
    if values.scalar_type() != input.scalar_type() {
        return Err(Error::InvalidType);
    }
    let count = input.numel();
    values.resize(&Shape::new(&[count as i32])?)?;
    let mut different = 0;
    reading::<C, D>(&input, &mut |element| {
        updating::<C, D>(&values, &mut |load, store| {
            for (index, [at]) in Walk::over(&input.shape(), [Place::of(&input)])?.enumerate() {
                if element(at).is_nan() {
                    return Err(Error::NotSupported);
                }
                store(index, element(at));
            }
            Heap { load, store }.sort(count);
            different = 0;
            for index in 0..count {
                if index == 0 || load(index) != load(different - 1) {
                    store(different, load(index));
                    different += 1;
                }
            }
            record(args, wanted, different, &mut |at| position(load, different, element(at)))
        })
    })?;
    values.resize(&Shape::new(&[different as i32])?)
}

/// The index of an element among the first `count` sorted elements.
fn position<C: Number>(load: &dyn Fn(usize) -> C, count: usize, element: C) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = (low + high) / 2;
        if load(middle) < element { low = middle + 1 } else { high = middle }
    }
    low
}

/// The portable kernel of `unique_consecutive` for the types in `D`.
pub fn consecutive_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    if let Some(slices) = of_slices(args)? {
        return unique_dim::along::<D>(args, slices, false);
    }
    let wanted = of_consecutive(args)?;
    if args.tensor(0)?.scalar_type().is_float() {
        consecutive::<f64, D>(args, wanted)
    } else {
        consecutive::<i64, D>(args, wanted)
    }
}

fn consecutive<C: Number, const D: u32>(args: &Args<'_, '_>, wanted: Wanted) -> Result<()> {
    let (input, values) = (args.tensor(0)?, args.tensor(wanted.out)?);
    if values.scalar_type() != input.scalar_type() {
        return Err(Error::InvalidType);
    }
    reading::<C, D>(&input, &mut |element| {
        let starts = || {
            let mut before: Option<C> = None;
            let walk = Walk::over(&input.shape(), [Place::of(&input)])?;
            Ok::<_, Error>(walk.filter_map(move |[at]| {
                let is_new = before.is_none_or(|before| before != element(at));
                before = Some(element(at));
                is_new.then_some(at)
            }))
        };
        let count = starts()?.count();
        values.resize(&Shape::new(&[count as i32])?)?;
        updating::<C, D>(&values, &mut |_, store| {
            starts()?.enumerate().for_each(|(index, at)| store(index, element(at)));
            Ok(())
        })?;
        let mut last: Option<(usize, C)> = None;
        record(args, wanted, count, &mut |at| {
            let place = match last {
                Some((place, before)) if before == element(at) => place,
                Some((place, _)) => place + 1,
                None => 0,
            };
            last = Some((place, element(at)));
            place
        })
    })
}

/// Stores the place of each element, and the counts of places; `place` gets the offsets of elements in order.
fn record(args: &Args<'_, '_>, wanted: Wanted, different: usize, place: &mut dyn FnMut(usize) -> usize) -> Result<()> {
    let (input, places, counts) = (args.tensor(0)?, args.tensor(wanted.out + 1)?, args.tensor(wanted.out + 2)?);
    let none = Shape::new(&[0])?;
    places.resize(&if wanted.places { input.shape() } else { none })?;
    counts.resize(&if wanted.counts { Shape::new(&[different as i32])? } else { none })?;
    let (to, sums) = (places.output::<i64>()?, counts.output::<i64>()?);
    (0..sums.len()).for_each(|index| sums.set(index, 0));
    let own = if wanted.places { Place::of(&places) } else { Place::FIRST };
    for [at, place_at] in Walk::over(&input.shape(), [Place::of(&input), own])? {
        let found = place(at);
        if wanted.places {
            to.set(place_at, found as i64);
        }
        if wanted.counts {
            sums.set(found, sums.get(found) + 1);
        }
    }
    Ok(())
}
