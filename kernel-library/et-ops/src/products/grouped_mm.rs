//! `aten::_grouped_mm`: products of groups of rows, of columns or of the summed dimension, as in a mixture of experts.

use et_core::{Input, Tensor as View};

use crate::family::contract::multiply;
use crate::family::matrix::{Matrix, Target};
use crate::family::opmath::Opmath;
use crate::prelude::*;

/// `torch.nn.functional.grouped_mm` with ends of groups. `offs`, int32 `[groups]`, has the end of each group in the dimension that
/// the operand of rank 2 has in place of a dimension of groups: rows of `self` `[rows, inner]` beside `mat2` `[groups, inner, columns]`,
/// columns of `mat2` beside `self` `[groups, rows, inner]`, or the inner dimension of two matrices. Rows and columns behind the
/// last group are 0, which PyTorch leaves undefined.
#[cfg(feature = "catalogue")]
pub const GROUPED_MM: Operator = Operator {
    schema: "aten::_grouped_mm.out(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, \
             ScalarType? out_dtype=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::_grouped_mm",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Int),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "groups of rows, one without rows",
            &[
                Tensor(CaseTensor::float(&[3, 4], &[1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0, 5.0, 6.0, 0.0, 1.0])),
                Tensor(CaseTensor::float(
                    &[3, 4, 4],
                    &[
                        1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0,
                        9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 1.0, -1.0, 0.0, 0.0, 2.0, 1.0,
                        0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0,
                    ],
                )),
                Tensor(CaseTensor::of(ScalarType::Int, &[3], &[1.0, 1.0, 3.0])),
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[3, 4], &[1.0, 2.0, 0.0, 0.0, 11.0, 1.0, 0.0, 0.0, 17.0, 1.0, 0.0, 7.0])],
        ),
        Case::exact(
            "groups of columns",
            &[
                Tensor(CaseTensor::float(&[2, 1, 4], &[1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0])),
                Tensor(CaseTensor::float(
                    &[4, 4],
                    &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                )),
                Tensor(CaseTensor::of(ScalarType::Int, &[2], &[1.0, 4.0])),
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[1, 4], &[11.0, 30.0, 37.0, 44.0])],
        ),
        Case::exact(
            "groups of the summed dimension",
            &[
                Tensor(CaseTensor::of(ScalarType::BFloat16, &[1, 8], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])),
                Tensor(CaseTensor::of(
                    ScalarType::BFloat16,
                    &[8, 8],
                    &[
                        1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0,
                        0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0,
                        0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0,
                        1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0,
                    ],
                )),
                Tensor(CaseTensor::of(ScalarType::Int, &[2], &[2.0, 8.0])),
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::of(
                ScalarType::BFloat16,
                &[2, 1, 8],
                &[3.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 33.0, 33.0, 33.0, 30.0, 26.0, 21.0, 15.0, 8.0],
            )],
        ),
        Case::refused(
            "ends of another number of groups",
            &[
                Tensor(CaseTensor::float(&[2, 4], &[1.0; 8])),
                Tensor(CaseTensor::float(&[2, 4, 4], &[1.0; 32])),
                Tensor(CaseTensor::of(ScalarType::Int, &[1], &[2.0])),
                CaseArgument::None,
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "no ends",
            &[
                Tensor(CaseTensor::float(&[2, 4], &[1.0; 8])),
                Tensor(CaseTensor::float(&[2, 4, 4], &[1.0; 32])),
                CaseArgument::None,
                CaseArgument::None,
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// What the ends of groups divide.
#[derive(Clone, Copy)]
enum Divided {
    Rows,
    Columns,
    Inner,
}

fn divided(args: &Args<'_, '_>) -> Result<(Divided, Shape)> {
    let (left, right) = (args.tensor(0)?, args.tensor(1)?);
    let (ends, shapes) = (args.optional_tensor(2)?.ok_or(Error::InvalidArgument)?, [left.shape(), right.shape()]);
    let (divided, groups, sizes) = match (shapes[0].sizes(), shapes[1].sizes()) {
        ([rows, inner], [groups, own, columns]) if inner == own => {
            (Divided::Rows, Some(*groups), Shape::new(&[*rows, *columns])?)
        }
        ([groups, rows, inner], [own, columns]) if inner == own => {
            (Divided::Columns, Some(*groups), Shape::new(&[*rows, *columns])?)
        }
        ([rows, inner], [own, columns]) if inner == own => {
            (Divided::Inner, None, Shape::new(&[ends.size(0) as i32, *rows, *columns])?)
        }
        _ => return Err(Error::InvalidArgument),
    };
    let fits = ends.rank() == 1 && groups.is_none_or(|groups| groups as usize == ends.size(0));
    let alone = ends.scalar_type() == ScalarType::Int && args.optional_tensor(3)?.is_none();
    if fits && alone && left.scalar_type() == right.scalar_type() {
        Ok((divided, sizes))
    } else {
        Err(Error::InvalidArgument)
    }
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    Ok(Meta { scalar_type: args.tensor(0)?.scalar_type(), shape: divided(args)?.1 })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(5)?;
    let (divided, shape) = divided(args)?;
    out.resize(&shape)?;
    dispatch!(D, out.scalar_type(), floats, T => groups::<T>(args, divided, &out))
}

fn groups<T: Opmath>(args: &Args<'_, '_>, divided: Divided, out: &View<'_>) -> Result<()> {
    let (left, right, ends) =
        (args.tensor(0)?, args.tensor(1)?, args.optional_tensor(2)?.ok_or(Error::InvalidArgument)?);
    let (mut first, ends, step): (usize, Input<'_, i32>, usize) = (0, ends.input()?, ends.strides()[0]);
    let (left, right, target) = (Stack::<T>::of(&left)?, Stack::<T>::of(&right)?, out.output::<T>()?);
    let [(rows, inner), (_, columns)] = [left.sizes, right.sizes];
    let (steps, rank) = (out.strides(), out.rank());
    let whole = match divided {
        Divided::Rows => rows,
        Divided::Columns => columns,
        Divided::Inner => inner,
    };
    (0..target.len()).for_each(|index| target.set(index, T::ZERO));
    for group in 0..args.tensor(2)?.size(0) {
        let end = usize::try_from(ends.get(group * step)).map_err(|_| Error::InvalidArgument)?;
        let count = end.checked_sub(first).filter(|_| end <= whole).ok_or(Error::InvalidArgument)?;
        let (sizes, from, at) = match divided {
            Divided::Rows => ([count, inner, columns], [[first, 0], [0, 0]], first * steps[0]),
            Divided::Columns => ([rows, inner, count], [[0, 0], [0, first]], first * steps[1]),
            Divided::Inner => ([rows, count, columns], [[0, first], [first, 0]], group * steps[0]),
        };
        let target = Target { elements: target, start: at, steps: [steps[rank - 2], steps[rank - 1]] };
        multiply(sizes, left.matrix(group, from[0]), right.matrix(group, from[1]), target, |_, _, sum| sum);
        first = end;
    }
    Ok(())
}

/// The matrices of an operand: all groups have the same matrix, or each group has its own.
struct Stack<'a, T> {
    elements: Input<'a, T>,
    /// The stride between the matrices of groups; 0 for one matrix.
    group: usize,
    steps: [usize; 2],
    sizes: (usize, usize),
}

impl<'a, T: Opmath> Stack<'a, T> {
    fn of(tensor: &View<'a>) -> Result<Self> {
        let (strides, last) = (tensor.strides(), tensor.rank() - 1);
        Ok(Self {
            elements: tensor.input()?,
            group: if last == 2 { strides[0] } else { 0 },
            steps: [strides[last - 1], strides[last]],
            sizes: (tensor.size(last - 1), tensor.size(last)),
        })
    }

    /// The matrix of a group from a row and a column.
    fn matrix(&self, group: usize, [row, column]: [usize; 2]) -> Matrix<'a, T> {
        let start = group * self.group + row * self.steps[0] + column * self.steps[1];
        Matrix { elements: self.elements, start, steps: self.steps }
    }
}
