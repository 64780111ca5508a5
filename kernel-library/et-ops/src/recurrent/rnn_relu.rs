//! `aten::rnn_relu`, single layer: a recurrent layer with ReLU activation over a sequence.

use crate::family::opmath::Opmath;
use crate::math::Math;
use crate::prelude::*;
use crate::recurrent::steps;

/// `torch.nn.RNN` with `nonlinearity="relu"`, a layer at a time.
#[cfg(feature = "catalogue")]
pub const RNN_RELU: Operator = Operator {
    schema: "aten::rnn_relu.input_out(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, \
             float dropout, bool train, bool bidirectional, bool batch_first, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
    functional: "aten::rnn_relu.input",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "a sequence of two",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[2, 1, 2], &[1.0, 0.5, -1.0, 2.0])),
                Tensor(CaseTensor::float(&[1, 1, 2], &[0.5, -0.5])),
                Tensors(&[
                    CaseTensor::float(&[2, 2], &[0.75, 0.5, 0.25, -0.0]),
                    CaseTensor::float(&[2, 2], &[0.25, -0.0, 0.75, 0.5]),
                    CaseTensor::float(&[2], &[0.75, 0.5]),
                    CaseTensor::float(&[2], &[0.5, 0.75]),
                ]),
                Bool(true),
                Int(1),
                Double(0.0),
                Bool(false),
                Bool(false),
                Bool(false),
            ],
            &[
                CaseTensor::float(&[2, 1, 2], &[2.375, 1.625, 2.09375, 3.59375]),
                CaseTensor::float(&[1, 1, 2], &[2.09375, 3.59375]),
            ],
        ),
        Case::near(
            "both directions of a batch without biases",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 2, 2], &[1.0, 0.5, -1.0, 2.0])),
                Tensor(CaseTensor::float(&[2, 1, 1], &[0.5, -0.5])),
                Tensors(&[
                    CaseTensor::float(&[1, 2], &[0.75, 0.5]),
                    CaseTensor::float(&[1, 1], &[0.75]),
                    CaseTensor::float(&[1, 2], &[0.75, 0.5]),
                    CaseTensor::float(&[1, 1], &[0.75]),
                ]),
                Bool(false),
                Int(1),
                Double(0.0),
                Bool(false),
                Bool(true),
                Bool(true),
            ],
            &[
                CaseTensor::float(&[1, 2, 2], &[1.375, 1.0, 1.28125, 0.0]),
                CaseTensor::float(&[2, 1, 1], &[1.28125, 1.0]),
            ],
        ),
        Case::refused(
            "weights for other inputs",
            &[
                Tensor(CaseTensor::float(&[2, 1, 2], &[1.0, 0.5, -1.0, 2.0])),
                Tensor(CaseTensor::float(&[1, 1, 2], &[0.5, -0.5])),
                Tensors(&[
                    CaseTensor::float(&[2, 3], &[-0.75, -0.5, -0.25, 0.0, 0.25, 0.5]),
                    CaseTensor::float(&[2, 2], &[-0.75, -0.5, -0.25, 0.0]),
                ]),
                Bool(false),
                Int(1),
                Double(0.0),
                Bool(false),
                Bool(false),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    steps::meta(args, index, [1, 1])
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => run::<T>(args))
}

fn run<T: Opmath>(args: &Args<'_, '_>) -> Result<()>
where
    T::Math: Math,
{
    steps::run::<T, 1, 1>(args, |[[input, hidden]], [_, cell]| {
        let sum = input + hidden;
        [if sum < T::Math::ZERO { T::Math::ZERO } else { sum }, cell]
    })
}
