//! Scans: each output element is a function of the input elements up to its position along a dimension. Floating-point
//! elements are computed in `f64`, integers and booleans in `i64`, so that two copies of a loop serve all types.

use et_core::{Args, Element, Number, Result, ScalarType, Tensor};

use crate::Meta;
use crate::family::convert::{reading, writing};
use crate::family::lane::Lanes;
use crate::family::unary;

/// The rule of scans with values like the first argument and `int64` indices.
pub fn values_and_indices(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let values = unary::like_first(args, 0)?;
    values.shape.axis(args.int(1)?)?;
    Ok(if index == 0 { values } else { Meta { scalar_type: ScalarType::Long, ..values } })
}

/// Stores the running result along dimension `dim`: `step` gives the next result from the last result, of which there is
/// none at first, and the next element.
pub fn run<C: Element, const D: u32>(
    [input, out]: [&Tensor<'_>; 2],
    dim: i64,
    step: &dyn Fn(Option<C>, C) -> C,
) -> Result<()> {
    let shape = input.shape();
    let axis = shape.axis(dim)?;
    out.resize(&shape)?;
    let [_, length, _] = shape.around(axis);
    reading::<C, D>(input, &mut |load| {
        writing::<C, D>(out, &mut |store| {
            let lanes = Lanes::new(&shape, axis, [input, out])?;
            let [from_step, to_step] = lanes.steps;
            for [from, to] in lanes {
                let mut last = None;
                for index in 0..length {
                    let result = step(last, load(from + index * from_step));
                    store(to + index * to_step, result);
                    last = Some(result);
                }
            }
            Ok(())
        })
    })
}

/// Stores the extreme element so far and its index, the last of equal ones: arguments `self, dim, values, indices`.
/// `beats` says whether an element replaces the last extreme element.
pub fn extrema<const D: u32>(
    args: &Args<'_, '_>,
    floats: fn(f64, f64) -> bool,
    integers: fn(i64, i64) -> bool,
) -> Result<()> {
    if args.tensor(0)?.scalar_type().is_float() {
        // NaN stays.
        extrema_of::<f64, D>(args, &|element, held| element.is_nan() || floats(element, held))
    } else {
        extrema_of::<i64, D>(args, &integers)
    }
}

fn extrema_of<C: Number, const D: u32>(args: &Args<'_, '_>, beats: &dyn Fn(C, C) -> bool) -> Result<()> {
    let [input, values, indices] = [args.tensor(0)?, args.tensor(2)?, args.tensor(3)?];
    let shape = input.shape();
    let axis = shape.axis(args.int(1)?)?;
    values.resize(&shape)?;
    indices.resize(&shape)?;
    let places = indices.output::<i64>()?;
    reading::<C, D>(&input, &mut |load| {
        writing::<C, D>(&values, &mut |store| {
            let lanes = Lanes::new(&shape, axis, [&input, &values, &indices])?;
            let [from_step, to_step, place_step] = lanes.steps;
            for [from, to, place] in lanes {
                let mut best = 0;
                for index in 0..shape.around(axis)[1] {
                    let (element, held) = (load(from + index * from_step), load(from + best * from_step));
                    if beats(element, held) {
                        best = index;
                    }
                    store(to + index * to_step, load(from + best * from_step));
                    places.set(place + index * place_step, best as i64);
                }
            }
            Ok(())
        })
    })
}
