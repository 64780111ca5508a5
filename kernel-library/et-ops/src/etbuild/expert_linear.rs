//! `etbuild::expert_linear`: linear layers of which each row chooses some, as in a mixture of experts.

use et_core::{Element, Input};

use crate::family::contract::multiply;
use crate::family::divide::Divide;
use crate::family::matrix::{Matrix, Target};
use crate::family::opmath::Opmath;
use crate::math::Math;
use crate::prelude::*;

/// The layers that each row chooses (Shazeer et al. 2017). `input` is `[rows, 1 or chosen, columns]`: one vector for all chosen layers of
/// a row, or a vector for each. `experts`, int64 `[rows, chosen]`, has the chosen layers by number, `weights` a matrix
/// `[outputs, columns]` for each layer, and `biases` the biases of all layers, `[layers, outputs]`. `offsets`, `[layers, blocks, outputs]`,
/// are factors of the means of the input's blocks, for weights whose blocks have an offset each: it times the elements of a block. The
/// output is `[rows, chosen, outputs]`. Only chosen matrices are read.
#[cfg(feature = "catalogue")]
pub const EXPERT_LINEAR: Operator = Operator {
    schema: "etbuild::expert_linear.out(Tensor input, Tensor experts, Tensor[] weights, Tensor? biases=None, \
             Tensor? offsets=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "etbuild::expert_linear",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "one vector for two of three layers",
            &[
                Tensor(CaseTensor::float(&[2, 1, 2], &[1.0, 2.0, 3.0, 4.0])),
                Tensor(CaseTensor::long(&[2, 2], &[0.0, 2.0, 1.0, 0.0])),
                Tensors(&[
                    CaseTensor::float(&[1, 2], &[1.0, 1.0]),
                    CaseTensor::float(&[1, 2], &[1.0, -1.0]),
                    CaseTensor::float(&[1, 2], &[0.5, 2.0]),
                ]),
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[2, 2, 1], &[3.0, 4.5, -1.0, 7.0])],
        ),
        Case::exact(
            "a vector for each layer, and biases",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 2, 1], &[2.0, 3.0])),
                Tensor(CaseTensor::long(&[1, 2], &[1.0, 0.0])),
                Tensors(&[
                    CaseTensor::of(ScalarType::Double, &[2, 1], &[1.0, 2.0]),
                    CaseTensor::of(ScalarType::Double, &[2, 1], &[3.0, 4.0]),
                ]),
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 2], &[0.5, 1.5, 10.0, 20.0])),
                CaseArgument::None,
            ],
            &[CaseTensor::of(ScalarType::Double, &[1, 2, 2], &[16.0, 28.0, 3.5, 7.5])],
        ),
        Case::exact(
            "two blocks with an offset each",
            &[
                Tensor(CaseTensor::float(&[1, 1, 4], &[1.0, 3.0, -2.0, 6.0])),
                Tensor(CaseTensor::long(&[1, 2], &[1.0, 0.0])),
                Tensors(&[
                    CaseTensor::float(&[2, 4], &[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]),
                    CaseTensor::float(&[2, 4], &[0.0; 8]),
                ]),
                Tensor(CaseTensor::float(&[2, 2], &[0.0, 0.0, 0.0, 100.0])),
                Tensor(CaseTensor::float(&[2, 2, 2], &[1.0, 2.0, 0.0, -1.0, 5.0, 6.0, 7.0, 8.0])),
            ],
            &[CaseTensor::float(&[1, 2, 2], &[24.0, 128.0, 10.0, 0.0])],
        ),
        Case::refused(
            "blocks that do not divide the columns",
            &[
                Tensor(CaseTensor::float(&[1, 1, 3], &[1.0; 3])),
                Tensor(CaseTensor::long(&[1, 1], &[0.0])),
                Tensors(&[CaseTensor::float(&[1, 3], &[1.0; 3])]),
                CaseArgument::None,
                Tensor(CaseTensor::float(&[1, 2, 1], &[1.0; 2])),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "offsets of another number of layers",
            &[
                Tensor(CaseTensor::float(&[1, 1, 2], &[1.0; 2])),
                Tensor(CaseTensor::long(&[1, 1], &[0.0])),
                Tensors(&[CaseTensor::float(&[1, 2], &[1.0; 2])]),
                CaseArgument::None,
                Tensor(CaseTensor::float(&[2, 1, 1], &[1.0; 2])),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a layer that does not exist",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1], &[1.0])),
                Tensor(CaseTensor::long(&[1, 1], &[1.0])),
                Tensors(&[CaseTensor::float(&[1, 1], &[1.0])]),
                CaseArgument::None,
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "layers of two shapes",
            &[
                Tensor(CaseTensor::float(&[1, 1, 1], &[1.0])),
                Tensor(CaseTensor::long(&[1, 1], &[0.0])),
                Tensors(&[CaseTensor::float(&[1, 1], &[1.0]), CaseTensor::float(&[2, 1], &[1.0; 2])]),
                CaseArgument::None,
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, experts, layers) = (args.tensor(0)?, args.tensor(1)?, args.tensors_len(2)?);
    let first = args.tensor_of(2, 0)?;
    let (shape, chosen, matrix) = (input.shape(), experts.shape(), first.shape());
    let ([rows, vectors, columns], [own_rows, count], [outputs, depth]) =
        (shape.sizes(), chosen.sizes(), matrix.sizes())
    else {
        return Err(Error::InvalidArgument);
    };
    let fits = rows == own_rows && (*vectors == 1 || vectors == count) && columns == depth;
    let biases = args.optional_tensor(3)?;
    let biased = biases.is_none_or(|biases| {
        biases.shape().sizes() == [layers as i32, *outputs] && biases.scalar_type() == input.scalar_type()
    });
    let has_blocks = match args.optional_tensor(4)? {
        Some(offsets) => {
            let shape = offsets.shape();
            let [own, blocks, numbers] = shape.sizes() else { return Err(Error::InvalidArgument) };
            let divides = *blocks > 0 && columns % blocks == 0;
            let fits = [*own, *numbers] == [layers as i32, *outputs] && offsets.scalar_type() == input.scalar_type();
            divides && fits
        }
        None => true,
    };
    for layer in 0..layers {
        let weights = args.tensor_of(2, layer)?;
        if weights.shape() != matrix || weights.scalar_type() != input.scalar_type() {
            return Err(Error::InvalidArgument);
        }
    }
    if experts.scalar_type() != ScalarType::Long || !(fits && biased && has_blocks) {
        return Err(Error::InvalidArgument);
    }
    Ok(Meta { scalar_type: input.scalar_type(), shape: Shape::new(&[*rows, *count, *outputs])? })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(5)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => choose::<T>(args, &out))
}

fn choose<T: Opmath>(args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()>
where
    T::Math: Math,
{
    let (input, experts) = (args.tensor(0)?, args.tensor(1)?);
    let (from, chosen, to): (Input<'_, T>, Input<'_, i64>, _) = (input.input()?, experts.input()?, out.output::<T>()?);
    let biases = args.optional_tensor(3)?;
    let biases = biases.as_ref().map(|biases| Ok((biases.input::<T>()?, biases.strides()))).transpose()?;
    let offsets = args.optional_tensor(4)?;
    let offsets = offsets.as_ref().map(|offsets| Ok((offsets.input::<T>()?, offsets))).transpose()?;
    let (steps, chosen_steps, out_steps) = (input.strides(), experts.strides(), out.strides());
    let [columns, outputs] = [input.size(2), out.size(2)];
    for row in 0..out.size(0) {
        for slot in 0..out.size(1) {
            let number = chosen.get(row * chosen_steps[0] + slot * chosen_steps[1]);
            let layer = usize::try_from(number).map_err(|_| Error::InvalidArgument)?;
            let weights = args.tensor_of(2, layer)?;
            let vector = if input.size(1) == 1 { 0 } else { slot };
            let left = Matrix { elements: from, start: row * steps[0] + vector * steps[1], steps: [0, steps[2]] };
            let right =
                Matrix { elements: weights.input()?, start: 0, steps: [weights.strides()[0], weights.strides()[1]] };
            let start = row * out_steps[0] + slot * out_steps[1];
            let target = Target { elements: to, start, steps: [0, out_steps[2]] };
            let finish = |_, output: usize, sum: T::Math| match &biases {
                Some((biases, steps)) => sum.plus(biases.get(layer * steps[0] + output * steps[1]).raise()),
                None => sum,
            };
            multiply([1, columns, outputs], left, right.transposed(), target, finish);
            if let Some((elements, offsets)) = &offsets {
                let steps = [offsets.strides()[1], offsets.strides()[2]];
                let blocks = Matrix { elements: *elements, start: layer * offsets.strides()[0], steps };
                add_blocks([columns, outputs, offsets.size(1)], left, blocks, target);
            }
        }
    }
    Ok(())
}

/// The blocks whose means are computed at a time, so that each output is read and written once for all of them.
const SPAN: usize = 32;

/// Adds the products of the means of `blocks` blocks of a vector with the offsets `[blocks, outputs]` of a layer.
fn add_blocks<T: Opmath>(
    [columns, outputs, blocks]: [usize; 3],
    vector: Matrix<'_, T>,
    offsets: Matrix<'_, T>,
    target: Target<'_, T>,
) where
    T::Math: Math,
{
    let size = columns / blocks.max(1);
    let element = |column: usize| vector.elements.get(vector.start + column * vector.steps[1]).raise();
    let mean = |block: usize| {
        let sum = (block * size..(block + 1) * size).map(element).fold(T::Math::ZERO, T::Math::plus);
        sum.divided(T::Math::from_f64(size as f64))
    };
    for first in (0..blocks).step_by(SPAN) {
        let count = SPAN.min(blocks - first);
        let mut means = [T::Math::ZERO; SPAN];
        (first..).zip(&mut means[..count]).for_each(|(block, place)| *place = mean(block));
        for output in 0..outputs {
            let start = offsets.start + first * offsets.steps[0] + output * offsets.steps[1];
            let offset = |block: usize| offsets.elements.get(start + block * offsets.steps[0]).raise();
            let products = means.iter().take(count).enumerate().map(|(block, mean)| mean.times(offset(block)));
            let sum = products.fold(target.get(0, output).raise(), T::Math::plus);
            target.set(0, output, T::lower(sum));
        }
    }
}
