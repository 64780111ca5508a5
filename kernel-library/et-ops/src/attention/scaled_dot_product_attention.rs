//! `aten::scaled_dot_product_attention`: values weighted by the softmax of the scaled products of queries and keys.

use crate::family::attention::{Attention, Heads, InOrder};
use crate::family::convert::reading;
use crate::family::matrix::matrix_steps;
use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::transfer;
use crate::math::Math;
use crate::prelude::*;

/// `torch.nn.functional.scaled_dot_product_attention` outside training; `query` is `[.., l, e]`, `key` `[.., s, e]`, `value`
/// `[.., s, v]`, and `attn_mask` broadcasts to `[.., l, s]`.
#[cfg(feature = "catalogue")]
pub const SCALED_DOT_PRODUCT_ATTENTION: Operator = Operator {
    schema: "aten::scaled_dot_product_attention.out(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, \
             float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False, \
             Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::scaled_dot_product_attention",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Bool),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "values of another width",
            1e-6,
            &[
                Tensor(QUERY),
                Tensor(KEY),
                Tensor(VALUE),
                CaseArgument::None,
                Double(0.0),
                Bool(false),
                CaseArgument::None,
                Bool(false),
            ],
            &[CaseTensor::float(&[1, 2, 3], &[1.57192779, 2.57192755, 3.57192755, 1.80778456, 2.80778456, 3.80778456])],
        ),
        Case::near(
            "keys up to the query's own with a scale",
            1e-6,
            &[
                Tensor(QUERY),
                Tensor(KEY),
                Tensor(VALUE),
                CaseArgument::None,
                Double(0.0),
                Bool(true),
                Double(0.5),
                Bool(false),
            ],
            &[CaseTensor::float(&[1, 2, 3], &[1.0, 2.0, 3.0, 2.5, 3.5, 4.5])],
        ),
        Case::near(
            "a boolean mask, of which a row hides every key",
            1e-6,
            &[
                Tensor(QUERY),
                Tensor(KEY),
                Tensor(VALUE),
                Tensor(CaseTensor::bool(&[2, 3], &[1.0, 0.0, 1.0, 0.0, 0.0, 0.0])),
                Double(0.0),
                Bool(false),
                CaseArgument::None,
                Bool(false),
            ],
            &[CaseTensor::float(&[1, 2, 3], &[0.60885942, 1.60885942, 2.6088593, 0.0, 0.0, 0.0])],
        ),
        Case::near(
            "two heads of queries for one of keys, and a mask that is added, in double precision",
            1e-14,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[4, 2, 1], &[1.0, 2.0, 0.0, -1.0, 0.5, 1.0, 3.0, 0.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 2, 1], &[1.0, 0.0, -1.0, 2.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 2, 1], &[1.0, 2.0, 3.0, -4.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 2], &[0.0, 1.0, -1.0, 0.0])),
                Double(0.0),
                Bool(false),
                CaseArgument::None,
                Bool(true),
            ],
            &[CaseTensor::of(
                ScalarType::Double,
                &[4, 2, 1],
                &[
                    1.5,
                    1.2689414213699952,
                    1.731058578630005,
                    1.8807970779778822,
                    -3.4689927398512954,
                    -3.874096530265359,
                    -3.9996822149190834,
                    -2.1174100504100344,
                ],
            )],
        ),
        Case::refused(
            "keys of another width",
            &[
                Tensor(QUERY),
                Tensor(CaseTensor::float(&[1, 3, 1], &[1.0; 3])),
                Tensor(VALUE),
                CaseArgument::None,
                Double(0.0),
                Bool(false),
                CaseArgument::None,
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

const QUERY: CaseTensor = CaseTensor::float(&[1, 2, 2], &[1.0, 0.0, 0.0, 2.0]);
const KEY: CaseTensor = CaseTensor::float(&[1, 3, 2], &[1.0, 1.0, 0.0, 1.0, -1.0, 0.5]);
const VALUE: CaseTensor = CaseTensor::float(&[1, 3, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -1.0, 0.0, 1.0]);

/// The dimensions before the last two. `heads` query heads may share fewer heads of keys and values (grouped-query
/// attention).
fn outer(tensor: &et_core::Tensor<'_>, heads: Option<usize>) -> Result<Shape> {
    let (shape, rank) = (tensor.shape(), tensor.rank().checked_sub(2).ok_or(Error::InvalidArgument)?);
    let mut outer = Shape::new(&shape.sizes()[..rank])?;
    if let (Some(heads), Some(own)) = (heads, outer.sizes_mut().last_mut()) {
        if *own as usize != heads && (*own == 0 || !heads.is_multiple_of(*own as usize)) {
            return Err(Error::InvalidArgument);
        }
        *own = heads as i32;
    }
    Ok(outer)
}

/// All dimensions of the result but the last two.
fn outer_of_all(args: &Args<'_, '_>) -> Result<Shape> {
    let [query, key, value] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    let heads = match (args.bool(7)?, query.rank().checked_sub(3)) {
        (true, Some(dim)) => Some(query.size(dim)),
        (true, None) => return Err(Error::InvalidArgument),
        (false, _) => None,
    };
    outer(&query, None)?.broadcast(&outer(&key, heads)?)?.broadcast(&outer(&value, heads)?)
}

/// The shape with two more dimensions.
fn with(mut outer: Shape, sizes: [usize; 2]) -> Result<Shape> {
    sizes.into_iter().try_for_each(|size| outer.push(size as i32))?;
    Ok(outer)
}

/// Rows, keys, depth, columns.
fn sizes(args: &Args<'_, '_>) -> Result<[usize; 4]> {
    let last_two = |position| {
        let tensor = args.tensor(position)?;
        let first = tensor.rank().checked_sub(2).ok_or(Error::InvalidArgument)?;
        Ok([tensor.size(first), tensor.size(first + 1)])
    };
    let [[rows, depth], [keys, key_depth], [values, columns]] = [last_two(0)?, last_two(1)?, last_two(2)?];
    if depth == key_depth && keys == values { Ok([rows, keys, depth, columns]) } else { Err(Error::InvalidArgument) }
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let ([rows, keys, _, columns], outer) = (sizes(args)?, outer_of_all(args)?);
    if args.double(4)? > 0.0 {
        return Err(Error::NotSupported);
    }
    if let Some(mask) = args.optional_tensor(3)? {
        Place::broadcast(&mask, &with(outer, [rows, keys])?)?;
        if args.bool(5)? {
            return Err(Error::InvalidArgument);
        }
    }
    transfer::reshaped(args, with(outer, [rows, columns])?)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(8)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => attend::<T, D>(args))
}

fn attend<T: Opmath, const D: u32>(args: &Args<'_, '_>) -> Result<()>
where
    T::Math: Math,
{
    let [query, key, value, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?, args.tensor(8)?];
    let (outer, sizes) = (outer_of_all(args)?, sizes(args)?);
    let attention = Attention::<T, T, InOrder> {
        queries: query.input()?,
        keys: key.input()?,
        values: value.input()?,
        out: out.output()?,
        steps: [&query, &key, &value, &out].map(last_steps),
        sizes,
        scale: scale(args, sizes[2])?,
        seen: InOrder { causal: args.bool(5)? },
    };
    let mask = args.optional_tensor(3)?;
    let scores = with(outer, [sizes[0], sizes[1]])?;
    let place = mask.map(|mask| Place::broadcast(&mask, &scores)).transpose()?.unwrap_or(Place::FIRST);
    let heads = Heads::new(&outer, [&query, &key, &value, &out], place)?;
    let Some(mask) = mask else {
        heads.for_each(|starts, _| attention.head(starts, None, None));
        return Ok(());
    };
    let [row_step, key_step] = [place.strides[outer.rank()], place.strides[outer.rank() + 1]];
    reading::<T::Math, D>(&mask, &mut |load| {
        heads.for_each(|starts, first| {
            let added = |row, key| added(load(first + row * row_step + key * key_step), mask.scalar_type());
            attention.head(starts, Some(&added), None);
        });
        Ok(())
    })
}

/// The term that a mask element adds to a score: a boolean mask hides the keys at which it is false.
fn added<M: Math>(element: M, scalar_type: ScalarType) -> M {
    match scalar_type {
        ScalarType::Bool if element == M::ZERO => M::LOWEST,
        ScalarType::Bool => M::ZERO,
        _ => element,
    }
}

/// The strides of rows and of columns.
fn last_steps(tensor: &et_core::Tensor<'_>) -> [usize; 2] {
    matrix_steps(tensor, tensor.rank().saturating_sub(2))
}

/// The factor of the query-key products; by default `1 / sqrt(depth)`.
fn scale<M: Math>(args: &Args<'_, '_>, depth: usize) -> Result<M> {
    let given = args.optional_scalar(6)?.map(|scale| M::from_f64(scale.to_f64()));
    Ok(given.unwrap_or_else(|| M::ONE / M::from_i64(depth as i64).sqrt()))
}
