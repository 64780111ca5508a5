//! `aten::segment_reduce`: reductions of consecutive parts of a dimension.

use crate::family::convert::{reading, writing};
use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.segment_reduce` along the first dimension, by lengths or by offsets of the same rank. Parts may be empty.
#[cfg(feature = "catalogue")]
pub const SEGMENT_REDUCE: Operator = Operator {
    schema: "aten::segment_reduce.out(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, \
             Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::segment_reduce",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "means by lengths",
            &[
                Tensor(CaseTensor::float(&[5], &[1.0, 2.0, 3.0, 4.0, 6.0])),
                Text("mean"),
                Tensor(CaseTensor::long(&[3], &[2.0, 0.0, 3.0])),
                CaseArgument::None,
                CaseArgument::None,
                Int(0),
                Bool(false),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[3], &[1.5, f64::NAN, 4.333_333_5])],
        ),
        Case::exact(
            "the greatest rows by offsets",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[3, 2], &[1.0, 8.0, 3.0, 4.0, 5.0, 6.0])),
                Text("max"),
                CaseArgument::None,
                CaseArgument::None,
                Tensor(CaseTensor::long(&[3], &[0.0, 2.0, 3.0])),
                Int(0),
                Bool(false),
                Int(4),
            ],
            &[CaseTensor::of(ScalarType::Double, &[2, 2], &[4.0, 8.0, 5.0, 6.0])],
        ),
        Case::refused(
            "parts longer than the data",
            &[
                Tensor(CaseTensor::float(&[2], &[1.0, 2.0])),
                Text("sum"),
                Tensor(CaseTensor::long(&[1], &[3.0])),
                CaseArgument::None,
                CaseArgument::None,
                Int(0),
                Bool(false),
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let data = args.tensor(0)?;
    let count = match (args.optional_tensor(2)?, args.optional_tensor(4)?) {
        (Some(lengths), None) if lengths.rank() == 1 => lengths.size(0),
        (None, Some(offsets)) if offsets.rank() == 1 => offsets.size(0).checked_sub(1).ok_or(Error::InvalidArgument)?,
        _ => return Err(Error::NotSupported),
    };
    let mut shape = data.shape();
    if args.int(5)? != 0 || args.optional_tensor(3)?.is_some() {
        return Err(Error::NotSupported);
    }
    *shape.sizes_mut().first_mut().ok_or(Error::InvalidArgument)? = count as i32;
    Ok(Meta { scalar_type: data.scalar_type(), shape })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (data, out) = (args.tensor(0)?, args.tensor(8)?);
    let reduction = args.optional_string(1)?.and_then(Reduction::named).ok_or(Error::InvalidArgument)?;
    let initial = args.optional_scalar(7)?.map_or(reduction.initial, et_core::Scalar::to_f64);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    let mut row = out.shape();
    row.sizes_mut().first_mut().into_iter().for_each(|size| *size = 1);
    let (from_step, to_step) = (data.strides()[0], out.strides()[0]);
    reading::<f64, D>(&data, &mut |load| {
        writing::<f64, D>(&out, &mut |store| {
            let mut start = 0;
            for part in 0..out.size(0) {
                let [first, length] = bounds(args, part, start)?;
                start = first + length;
                if start > data.size(0) {
                    return Err(Error::InvalidArgument);
                }
                let places = [Place::of(&data).at(first * from_step), Place::of(&out).at(part * to_step)];
                Walk::over(&row, places)?.for_each(|[from, to]| {
                    let elements = (0..length).map(|index| load(from + index * from_step));
                    store(to, reduction.finish(elements.fold(initial, reduction.combine), length, initial));
                });
            }
            Ok(())
        })
    })
}

/// The start and the length of a part; the part before ends at `start`.
fn bounds(args: &Args<'_, '_>, part: usize, start: usize) -> Result<[usize; 2]> {
    let number = |tensor: &et_core::Tensor<'_>, index: usize| {
        let number = tensor.input::<i64>()?.get(index * tensor.strides()[0]);
        usize::try_from(number).map_err(|_| Error::InvalidArgument)
    };
    match (args.optional_tensor(2)?, args.optional_tensor(4)?) {
        (Some(lengths), _) => Ok([start, number(&lengths, part)?]),
        (_, Some(offsets)) => {
            let first = number(&offsets, part)?;
            let length = number(&offsets, part + 1)?.checked_sub(first).ok_or(Error::InvalidArgument)?;
            Ok([first, length])
        }
        _ => Err(Error::InvalidArgument),
    }
}

struct Reduction {
    initial: f64,
    combine: fn(f64, f64) -> f64,
    is_mean: bool,
}

impl Reduction {
    fn named(name: &str) -> Option<Self> {
        let new = |initial, combine| Self { initial, combine, is_mean: name == "mean" };
        Some(match name {
            "sum" | "mean" => new(0.0, |sum, element| sum + element),
            "prod" => new(1.0, |product, element| product * element),
            "max" => {
                new(f64::NEG_INFINITY, |held, element| if element > held || element.is_nan() { element } else { held })
            }
            "min" => {
                new(f64::INFINITY, |held, element| if element < held || element.is_nan() { element } else { held })
            }
            _ => return None,
        })
    }

    /// A mean is divided by the length; without elements the mean is NaN, unless there is an initial value.
    fn finish(&self, folded: f64, length: usize, initial: f64) -> f64 {
        match (self.is_mean, length) {
            (true, 0) => {
                if initial == 0.0 {
                    f64::NAN
                } else {
                    folded
                }
            }
            (true, length) => folded / length as f64,
            _ => folded,
        }
    }
}
