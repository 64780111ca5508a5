//! `aten::scatter_reduce`: reductions at positions whose index along a dimension is given.

use et_core::Number;

use crate::family::convert::{reading, updating};
use crate::family::place::Place;
use crate::family::{transfer, unary};
use crate::indexing::scattering::Scattering;
use crate::prelude::*;

/// `torch.scatter_reduce`, but for means. Without `include_self`, elements of `self` count only where no index points.
#[cfg(feature = "catalogue")]
pub const SCATTER_REDUCE_TWO: Operator = Operator {
    schema: "aten::scatter_reduce.two_out(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, \
             bool include_self=True, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::scatter_reduce.two",
    path: kernel_path!(two_out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: two_out::<ALL>,
    cases: &[
        Case::exact(
            "sums along rows",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Int(1),
                Tensor(CaseTensor::long(&[2, 3], &[0.0, 0.0, 2.0, 1.0, 1.0, 1.0])),
                Tensor(CaseTensor::float(&[2, 3], &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0])),
                Text("sum"),
                Bool(true),
            ],
            &[CaseTensor::float(&[2, 3], &[31.0, 2.0, 33.0, 4.0, 155.0, 6.0])],
        ),
        Case::exact(
            "the greatest, without the elements before",
            &[
                Tensor(CaseTensor::float(&[4], &[9.0, 2.0, 9.0, 4.0])),
                Int(0),
                Tensor(CaseTensor::long(&[4], &[0.0, 0.0, 2.0, 3.0])),
                Tensor(CaseTensor::float(&[4], &[1.0, 3.0, f64::NAN, -2.0])),
                Text("amax"),
                Bool(false),
            ],
            &[CaseTensor::float(&[4], &[3.0, 2.0, f64::NAN, -2.0])],
        ),
        Case::exact(
            "the least, and products, of integers",
            &[
                Tensor(CaseTensor::long(&[2], &[9.0, 2.0])),
                Int(0),
                Tensor(CaseTensor::long(&[3], &[0.0, 1.0, 1.0])),
                Tensor(CaseTensor::long(&[3], &[3.0, 5.0, 1.0])),
                Text("amin"),
                Bool(true),
            ],
            &[CaseTensor::long(&[2], &[3.0, 1.0])],
        ),
        Case::exact(
            "the greatest bytes, without the elements before",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[2], &[9.0, 2.0])),
                Int(0),
                Tensor(CaseTensor::long(&[2], &[0.0, 0.0])),
                Tensor(CaseTensor::of(ScalarType::Char, &[2], &[-3.0, -5.0])),
                Text("amax"),
                Bool(false),
            ],
            &[CaseTensor::of(ScalarType::Char, &[2], &[-3.0, 2.0])],
        ),
        Case::exact(
            "the greatest booleans, without the elements before",
            &[
                Tensor(CaseTensor::bool(&[2], &[1.0, 1.0])),
                Int(0),
                Tensor(CaseTensor::long(&[2], &[0.0, 0.0])),
                Tensor(CaseTensor::bool(&[2], &[0.0, 0.0])),
                Text("amax"),
                Bool(false),
            ],
            &[CaseTensor::bool(&[2], &[0.0, 1.0])],
        ),
        Case::exact(
            "products of halves",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[2], &[9.0, 2.0])),
                Int(0),
                Tensor(CaseTensor::long(&[3], &[0.0, 1.0, 1.0])),
                Tensor(CaseTensor::of(ScalarType::Half, &[3], &[3.0, 5.0, 1.0])),
                Text("prod"),
                Bool(true),
            ],
            &[CaseTensor::of(ScalarType::Half, &[2], &[27.0, 10.0])],
        ),
        Case::refused(
            "an unknown reduction",
            &[
                Tensor(CaseTensor::float(&[1], &[1.0])),
                Int(0),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Tensor(CaseTensor::float(&[1], &[1.0])),
                Text("median"),
                Bool(true),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn two_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    if args.tensor(0)?.scalar_type().is_float() { reduce::<f64, D>(args) } else { reduce::<i64, D>(args) }
}

fn reduce<C: Number, const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, source, out] = [args.tensor(0)?, args.tensor(3)?, args.tensor(6)?];
    let reduction = args.optional_string(4)?.and_then(Reduction::<C>::named).ok_or(Error::InvalidArgument)?;
    let scattering = Scattering::new(args, &out, Some(&source))?;
    transfer::whole::<D>(&input, &out)?;
    reading::<C, D>(&source, &mut |element| {
        updating::<C, D>(&out, &mut |load, store| {
            if !args.bool(5)? {
                scattering.for_each(Place::of(&source), |own, at| {
                    store(own, reduction.neutral.unwrap_or_else(|| element(at)));
                })?;
            }
            scattering.for_each(Place::of(&source), |own, at| store(own, (reduction.combine)(load(own), element(at))))
        })
    })
}

/// A reduction of two numbers, and the number that leaves the other as it is; for extrema, any of the reduced numbers.
struct Reduction<C> {
    neutral: Option<C>,
    combine: fn(C, C) -> C,
}

impl<C: Number> Reduction<C> {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "sum" => Self { neutral: Some(C::ZERO), combine: C::plus },
            "prod" => Self { neutral: Some(C::ONE), combine: C::times },
            "amax" => Self {
                neutral: None,
                combine: |held, element| if element > held || element.is_nan() { element } else { held },
            },
            "amin" => Self {
                neutral: None,
                combine: |held, element| if element < held || element.is_nan() { element } else { held },
            },
            _ => return None,
        })
    }
}
