//! `aten::linear`: `input @ weight.T + bias`; `input` is `[.., k]`, `weight` `[m, k]` or `[k]`, `bias` `[m]`.

use crate::family::contract::multiply;
use crate::family::matrix::{Matrix, Target};
use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.nn.functional.linear`.
#[cfg(feature = "catalogue")]
pub const LINEAR: Operator = Operator {
    schema: "aten::linear.out(Tensor input, Tensor weight, Tensor? bias=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::linear",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows of a batch",
            &[
                Tensor(CaseTensor::float(&[2, 1, 2], &[1.0, 2.0, 3.0, 4.0])),
                Tensor(CaseTensor::float(&[3, 2], &[1.0, 0.5, -1.0, 2.0, 0.0, 1.0])),
                Tensor(CaseTensor::float(&[3], &[10.0, 20.0, 30.0])),
            ],
            &[CaseTensor::float(&[2, 1, 3], &[12.0, 23.0, 32.0, 15.0, 25.0, 34.0])],
        ),
        Case::exact(
            "one row without a bias",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2], &[1.0, 2.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 2], &[3.0, 0.25])),
                CaseArgument::None,
            ],
            &[CaseTensor::of(ScalarType::Double, &[1], &[3.5])],
        ),
        Case::refused(
            "weights of another width",
            &[
                Tensor(CaseTensor::float(&[1, 2], &[1.0; 2])),
                Tensor(CaseTensor::float(&[1, 3], &[1.0; 3])),
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, weight) = (args.tensor(0)?, args.tensor(1)?);
    let (shape, weight_shape) = (input.shape(), weight.shape());
    let (rows, outputs) = match (shape.sizes(), weight_shape.sizes()) {
        ([rows @ .., inner], [outputs @ .., width]) if inner == width && outputs.len() <= 1 => (rows, outputs),
        _ => return Err(Error::InvalidArgument),
    };
    let mut result = Shape::new(rows)?;
    outputs.iter().try_for_each(|size| result.push(*size))?;
    check_bias(args, &weight_shape)?;
    Ok(Meta { scalar_type: input.scalar_type(), shape: result })
}

/// The sizes of all dimensions but the innermost.
fn outer(shape: &Shape) -> Option<&[i32]> {
    shape.sizes().split_last().map(|(_, outer)| outer)
}

fn check_bias(args: &Args<'_, '_>, weight: &Shape) -> Result<()> {
    let fits = args.optional_tensor(2)?.is_none_or(|bias| Some(bias.shape().sizes()) == outer(weight));
    if fits { Ok(()) } else { Err(Error::InvalidArgument) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    resize(args)?;
    let (input, weight, bias, out) = (args.tensor(0)?, args.tensor(1)?, args.optional_tensor(2)?, args.tensor(3)?);
    dispatch!(D, out.scalar_type(), numbers, T => project::<T>(&input, &weight, bias.as_ref(), &out))
}

/// Gives the output its shape. A function of its own, whose stack is free again before the product.
#[inline(never)]
fn resize(args: &Args<'_, '_>) -> Result<()> {
    args.tensor(3)?.settle(|| Ok(infer(args, 0)?.shape))
}

/// The stride of a dimension; 0 beyond the rank.
fn stride(tensor: &et_core::Tensor<'_>, dim: usize) -> usize {
    tensor.strides().get(dim).copied().unwrap_or_default()
}

fn project<T: Opmath>(
    input: &et_core::Tensor<'_>,
    weight: &et_core::Tensor<'_>,
    bias: Option<&et_core::Tensor<'_>>,
    out: &et_core::Tensor<'_>,
) -> Result<()> {
    let (from, weights, to) = (input.input::<T>()?, weight.input::<T>()?, out.output::<T>()?);
    let biases = bias.map(et_core::Tensor::input::<T>).transpose()?;
    let (shape, weight_shape) = (input.shape(), weight.shape());
    let inner_dim = shape.rank() - 1;
    let [_, inner, _] = shape.around(inner_dim);
    let [outputs, _, _] = weight_shape.around(weight_shape.rank() - 1);
    let steps = [stride(input, inner_dim), stride(out, inner_dim)];
    let weight_steps = [stride(weight, 0), stride(weight, weight_shape.rank() - 1)];
    let right = Matrix { elements: weights, start: 0, steps: weight_steps }.transposed();
    let finish = |_, output, sum: T::Math| biases.map_or(sum, |biases| sum.plus(biases.get(output).raise()));
    // Contiguous rows form a single matrix, and so a single GEMM.
    let is_matrix = input.is_contiguous() && out.is_contiguous();
    let rows = if is_matrix { shape.around(inner_dim)[0] } else { 1 };
    let product = |start, out_start| {
        let left = Matrix { elements: from, start, steps: [inner, steps[0]] };
        let target = Target { elements: to, start: out_start, steps: [outputs, steps[1]] };
        multiply([rows, inner, outputs], left, right, target, finish);
    };
    if is_matrix {
        product(0, 0);
        return Ok(());
    }
    for_each_row(input, out, product)
}

/// Visits the offsets of each row of the input, and of the row of the output that belongs to it. The function is separate, so that
/// the path of matrices needs less stack.
#[inline(never)]
fn for_each_row(
    input: &et_core::Tensor<'_>,
    out: &et_core::Tensor<'_>,
    mut visit: impl FnMut(usize, usize),
) -> Result<()> {
    let starts = Shape::new(outer(&input.shape()).unwrap_or_default())?;
    Walk::over(&starts, [Place::of(input), Place::of(out)])?.for_each(|[start, out_start]| visit(start, out_start));
    Ok(())
}
