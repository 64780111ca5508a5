//! `aten::rnn_tanh`, single layer: a recurrent layer with tanh activation over a sequence (Elman 1990).

use crate::family::opmath::Opmath;
use crate::math::Math;
use crate::prelude::*;
use crate::recurrent::steps;

/// `torch.nn.RNN`, a layer at a time.
#[cfg(feature = "catalogue")]
pub const RNN_TANH: Operator = Operator {
    schema: "aten::rnn_tanh.input_out(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, \
             float dropout, bool train, bool bidirectional, bool batch_first, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
    functional: "aten::rnn_tanh.input",
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
                    CaseTensor::float(&[2, 2], &[-0.75, -0.5, -0.25, 0.0]),
                    CaseTensor::float(&[2, 2], &[-0.25, 0.0, -0.75, -0.5]),
                    CaseTensor::float(&[2], &[-0.75, -0.5]),
                    CaseTensor::float(&[2], &[-0.5, -0.75]),
                ]),
                Bool(true),
                Int(1),
                Double(0.0),
                Bool(false),
                Bool(false),
                Bool(false),
            ],
            &[
                CaseTensor::float(&[2, 1, 2], &[-0.98284501, -0.9253462, -0.84948188, 0.19718964]),
                CaseTensor::float(&[1, 1, 2], &[-0.84948188, 0.19718964]),
            ],
        ),
        Case::near(
            "both directions of a batch without biases",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 2, 2], &[1.0, 0.5, -1.0, 2.0])),
                Tensor(CaseTensor::float(&[2, 1, 1], &[0.5, -0.5])),
                Tensors(&[
                    CaseTensor::float(&[1, 2], &[-0.75, -0.5]),
                    CaseTensor::float(&[1, 1], &[-0.75]),
                    CaseTensor::float(&[1, 2], &[-0.75, -0.5]),
                    CaseTensor::float(&[1, 1], &[-0.75]),
                ]),
                Bool(false),
                Int(1),
                Double(0.0),
                Bool(false),
                Bool(true),
                Bool(true),
            ],
            &[
                CaseTensor::float(&[1, 2, 2], &[-0.87982672, -0.79806662, 0.38836232, 0.124353]),
                CaseTensor::float(&[2, 1, 1], &[0.38836232, -0.79806662]),
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
    steps::run::<T, 1, 1>(args, |[[input, hidden]], [_, cell]| [(input + hidden).tanh(), cell])
}
