//! Dequantization of rows of packed integers, several integers per byte.

use et_core::{Args, Element, Error, Float, Result, ScalarType, Shape, Tensor};

use crate::Meta;
use crate::family::index;
use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::operator::dispatch;

/// The argument positions of the embedding operators.
const WEIGHT: usize = 0;
const SCALES: usize = 1;
const ZERO_POINTS: usize = 2;
const RANGE: [usize; 2] = [3, 4];
const INDICES: usize = 5;
const DTYPE: usize = 6;

/// The packing of integers in the bytes of the weight.
pub trait Packing {
    /// The number of integers in a byte.
    const COUNT: usize;
    /// The range of the integers, if the packing fixes the range.
    const RANGE: Option<[i64; 2]>;

    /// Integer `position` of an element of the weight.
    fn unpack(element: i64, position: usize) -> i64;
}

/// The shape rule: a row of real numbers for each index. If `has_dtype`, the argument behind the indices names the
/// dtype; otherwise, and if that argument is absent, the output has the dtype of the scales.
pub fn infer<P: Packing>(args: &Args<'_, '_>, has_dtype: bool) -> Result<Meta> {
    let (weight, scales) = (args.tensor(WEIGHT)?, args.tensor(SCALES)?);
    let chosen = if has_dtype { args.optional_scalar_type(DTYPE)? } else { None };
    let scalar_type = chosen.unwrap_or(scales.scalar_type());
    let mut shape = args.tensor(INDICES)?.shape();
    shape.push(i32::try_from(width::<P>(&weight)?).map_err(|_| Error::InvalidArgument)?)?;
    check::<P>(args, &weight, &scales)?;
    if scalar_type.is_float() { Ok(Meta { scalar_type, shape }) } else { Err(Error::InvalidType) }
}

/// The integers in a row.
fn width<P: Packing>(weight: &Tensor<'_>) -> Result<usize> {
    if weight.rank() == 2 { Ok(weight.size(1) * P::COUNT) } else { Err(Error::InvalidArgument) }
}

fn check<P: Packing>(args: &Args<'_, '_>, weight: &Tensor<'_>, scales: &Tensor<'_>) -> Result<()> {
    let byte = weight.scalar_type() == ScalarType::Byte;
    let zero_points = args.optional_tensor(ZERO_POINTS)?;
    let same_type = zero_points.is_none_or(|tensor| tensor.scalar_type() == scales.scalar_type());
    if !scales.scalar_type().is_float() || !same_type || !(byte || P::COUNT == 1) {
        return Err(Error::InvalidType);
    }
    let range = [args.int(RANGE[0])?, args.int(RANGE[1])?];
    let groups = groups(scales)?;
    let fits = (1..=2).contains(&scales.rank())
        && scales.size(0) == weight.size(0)
        && groups > 0
        && width::<P>(weight)? % groups == 0
        && zero_points.is_none_or(|tensor| tensor.size(0) == weight.size(0) && tensor.numel() == scales.numel());
    if fits && P::RANGE.is_none_or(|only| only == range) { Ok(()) } else { Err(Error::InvalidArgument) }
}

/// The parts of a row that have a scale of their own.
fn groups(scales: &Tensor<'_>) -> Result<usize> {
    if scales.rank() == 2 { Ok(scales.size(1)) } else { Ok(1) }
}

/// The kernel, with the output in position `out`, for the types in `D`.
pub fn rows<P: Packing, const D: u32>(args: &Args<'_, '_>, out: usize) -> Result<()> {
    let (weight, scales, out_tensor) = (args.tensor(WEIGHT)?, args.tensor(SCALES)?, args.tensor(out)?);
    out_tensor.settle(|| Ok(infer::<P>(args, out > DTYPE)?.shape))?;
    if weight.scalar_type() == ScalarType::Char {
        let bytes = weight.input::<i8>()?;
        return rows_of::<P, D>(args, &scales, &out_tensor, &|offset| bytes.get(offset).to_i64());
    }
    let bytes = weight.input::<u8>()?;
    rows_of::<P, D>(args, &scales, &out_tensor, &|offset| bytes.get(offset).to_i64())
}

fn rows_of<P: Packing, const D: u32>(
    args: &Args<'_, '_>,
    scales: &Tensor<'_>,
    out: &Tensor<'_>,
    load: &dyn Fn(usize) -> i64,
) -> Result<()> {
    dispatch!(D, scales.scalar_type(), floats, S => {
        dispatch!(D, out.scalar_type(), floats, T => {
            let to = out.output::<T>()?;
            each::<P, S>(args, scales, out, load, &|at, number: S| to.set(at, number.cast()))
        })
    })
}

/// Stores every number of the output. Products are rounded to the type of the scales, as PyTorch's are.
fn each<P: Packing, S: Float>(
    args: &Args<'_, '_>,
    scales: &Tensor<'_>,
    out: &Tensor<'_>,
    load: &dyn Fn(usize) -> i64,
    store: &dyn Fn(usize, S),
) -> Result<()> {
    let (weight, indices) = (args.tensor(WEIGHT)?, args.tensor(INDICES)?);
    let (scale, zero_points) = (scales.input::<S>()?, args.optional_tensor(ZERO_POINTS)?);
    let zeros = zero_points.map(|tensor| tensor.input::<S>()).transpose()?;
    let (strides, scale_strides, group) = (weight.strides(), pair(scales), width::<P>(&weight)? / groups(scales)?);
    let zero_strides = zero_points.map_or([0; 2], |tensor| pair(&tensor));
    let (inner, shape): (usize, Shape) = (indices.rank(), indices.shape());
    for [index_at, start] in Walk::over(&shape, [Place::of(&indices), Place::of(out)])? {
        let row = index::load(&indices, index_at, weight.size(0))?;
        for column in 0..out.size(inner) {
            let element = load(row * strides[0] + column / P::COUNT * strides[1]);
            let at = |strides: [usize; 2]| row * strides[0] + column / group * strides[1];
            let zero = zeros.map_or(S::ZERO, |zeros| zeros.get(at(zero_strides)));
            let difference = S::from_i64(P::unpack(element, column % P::COUNT)).minus(zero);
            store(start + column * out.strides()[inner], difference.times(scale.get(at(scale_strides))));
        }
    }
    Ok(())
}

/// The strides of rows and groups.
fn pair(tensor: &Tensor<'_>) -> [usize; 2] {
    let strides = tensor.strides();
    [strides[0], strides[1]]
}
