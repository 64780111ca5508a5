//! `aten::_embedding_bag`: the sum, mean or maximum of the rows of `weight` that each bag of indices selects.

use et_core::{Element, Float, MAX_RANK, Tensor as AnyTensor};

use crate::family::index;
use crate::prelude::*;

/// The operator behind `torch.nn.functional.embedding_bag`. Besides the results, it returns the bag of each index, the
/// size of each bag and, for maxima, the index of the row that each maximum comes from. As in PyTorch, the bag size is
/// 0 for sums. Indices equal to `padding_idx` are skipped.
#[cfg(feature = "catalogue")]
pub const EMBEDDING_BAG: Operator = Operator {
    schema: "aten::_embedding_bag.out(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, \
             int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, \
             int padding_idx=-1, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2, Tensor(d!) out3) -> \
             (Tensor(a!), Tensor(b!), Tensor(c!), Tensor(d!))",
    functional: "aten::_embedding_bag",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "the greatest of each column, an empty bag, and an index that counts for nothing",
            &[
                Tensor(CaseTensor::float(&[3, 2], &[1.0, 6.0, 3.0, 4.0, 5.0, 2.0])),
                Tensor(CaseTensor::long(&[4], &[2.0, 0.0, 1.0, 2.0])),
                Tensor(CaseTensor::long(&[3], &[0.0, 3.0, 3.0])),
                Bool(false),
                Int(2),
                Bool(false),
                CaseArgument::None,
                Bool(false),
                Int(0),
            ],
            &[
                CaseTensor::float(&[3, 2], &[5.0, 4.0, 0.0, 0.0, 5.0, 2.0]),
                CaseTensor::long(&[4], &[0.0, 0.0, 0.0, 2.0]),
                CaseTensor::long(&[3], &[2.0, 0.0, 1.0]),
                CaseTensor::long(&[3, 2], &[2.0, 1.0, 0.0, 0.0, 2.0, 2.0]),
            ],
        ),
        Case::refused(
            "an index out of range",
            &[
                Tensor(CaseTensor::float(&[2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::long(&[1], &[2.0])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Bool(false),
                Int(0),
                Bool(false),
                CaseArgument::None,
                Bool(false),
                Int(-1),
            ],
            Error::InvalidArgument,
        ),
    ],
};

const MEAN: i64 = 1;
const MAX: i64 = 2;

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let weight = args.tensor(0)?;
    let [indices, offsets] = [args.tensor(1)?.numel() as i32, args.tensor(2)?.numel() as i32];
    let bags = if args.bool(7)? { offsets.saturating_sub(1) } else { offsets };
    let weight_shape = weight.shape();
    let [_, width] = weight_shape.sizes() else { return Err(Error::InvalidArgument) };
    let shape = match index {
        0 => Shape::new(&[bags, *width])?,
        1 => Shape::new(&[indices])?,
        2 => Shape::new(&[bags])?,
        _ if args.int(4)? == MAX => Shape::new(&[bags, *width])?,
        _ => Shape::new(&[0])?,
    };
    Ok(Meta { scalar_type: if index == 0 { weight.scalar_type() } else { ScalarType::Long }, shape })
}

/// The portable kernel for weights of the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    args.tensor(9)?.settle(|| Ok(infer(args, 0)?.shape))?;
    for index in 1..4 {
        // Implementations differ in which of these outputs are filled in. A program that gives an output no memory does
        // not read it.
        let _ = args.tensor(9 + index)?.settle(|| Ok(infer(args, index)?.shape));
    }
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => bags::<T>(args))
}

fn bags<T: Float + Element>(args: &Args<'_, '_>) -> Result<()> {
    let [places, sizes] = [args.tensor(10)?, args.tensor(11)?];
    let (count, offsets) = (args.tensor(1)?.numel(), args.tensor(2)?);
    for bag in 0..args.tensor(9)?.size(0) {
        let begin = index::load(&offsets, bag, count + 1)?;
        let end = if bag + 1 < offsets.numel() { index::load(&offsets, bag + 1, count + 1)? } else { count };
        for position in begin..end {
            note(&places, position, bag as i64)?;
        }
        let size = reduce::<T>(args, bag, begin..end)?;
        note(&sizes, bag, if args.int(4)? == 0 { 0 } else { size })?;
    }
    Ok(())
}

/// Sets an element, if the tensor has an element at `at`.
fn note(tensor: &AnyTensor<'_>, at: usize, number: i64) -> Result<()> {
    if at < tensor.numel() {
        tensor.output::<i64>()?.set(at, number);
    }
    Ok(())
}

/// Reduces the rows of a bag. Returns the number of rows, without padding.
fn reduce<T: Float + Element>(args: &Args<'_, '_>, bag: usize, positions: core::ops::Range<usize>) -> Result<i64> {
    let [weight, indices, results] = [args.tensor(0)?, args.tensor(1)?, args.tensor(9)?];
    let (rows, width, mode) = (weight.size(0), weight.size(1), args.int(4)?);
    let at = |strides: [usize; MAX_RANK], row: usize, column: usize| row * strides[0] + column * strides[1];
    let (weight_strides, result_strides) = (weight.strides(), results.strides());
    let (from, to, greatest) = (weight.input::<T>()?, results.output::<T>()?, args.tensor(12)?);
    let factors = args.optional_tensor(6)?;
    let mut size = 0;
    (0..width).for_each(|column| to.set(at(result_strides, bag, column), T::from_f64(0.0)));
    for column in 0..if mode == MAX { width } else { 0 } {
        note(&greatest, at(greatest.strides(), bag, column), 0)?;
    }
    for position in positions {
        let row = index::load(&indices, position, rows)?;
        if row as i64 == args.int(8)? {
            continue;
        }
        let factor = match &factors {
            Some(factors) => factors.input::<T>()?.get(position).to_f64(),
            _ => 1.0,
        };
        for column in 0..width {
            let (place, element) =
                (at(result_strides, bag, column), from.get(at(weight_strides, row, column)).to_f64());
            let last = to.get(place).to_f64();
            match mode {
                MAX if size > 0 && element <= last => {}
                MAX => {
                    to.set(place, T::from_f64(element));
                    note(&greatest, at(greatest.strides(), bag, column), row as i64)?;
                }
                _ => to.set(place, T::from_f64(last + element * factor)),
            }
        }
        size += 1;
    }
    if mode == MEAN && size > 0 {
        (0..width).for_each(|column| {
            let place = at(result_strides, bag, column);
            to.set(place, T::from_f64(to.get(place).to_f64() / size as f64));
        });
    }
    Ok(size)
}
