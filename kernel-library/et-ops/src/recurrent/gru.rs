//! `aten::gru`, single layer: gated recurrent units (Cho et al. 2014) over a sequence.

use crate::family::opmath::Opmath;
use crate::math::Math;
use crate::prelude::*;
use crate::recurrent::steps::{self, sigmoid, total};

/// `torch.nn.GRU`, a layer per call. The gates are reset, update and candidate.
#[cfg(feature = "catalogue")]
pub const GRU: Operator = Operator {
    schema: "aten::gru.input_out(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, \
             float dropout, bool train, bool bidirectional, bool batch_first, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
    functional: "aten::gru.input",
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
                    CaseTensor::float(
                        &[6, 2],
                        &[-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75, -0.5, -0.25, 0.0, 0.25],
                    ),
                    CaseTensor::float(
                        &[6, 2],
                        &[0.0, 0.25, -0.5, -0.25, 0.75, -0.75, 0.25, 0.5, -0.25, 0.0, -0.75, -0.5],
                    ),
                    CaseTensor::float(&[6], &[-0.75, -0.5, -0.25, 0.0, 0.25, 0.5]),
                    CaseTensor::float(&[6], &[0.5, 0.25, 0.0, -0.25, -0.5, -0.75]),
                ]),
                Bool(true),
                Int(1),
                Double(0.0),
                Bool(false),
                Bool(false),
                Bool(false),
            ],
            &[
                CaseTensor::float(&[2, 1, 2], &[0.24100727, -0.09527567, 0.17712441, 0.47508621]),
                CaseTensor::float(&[1, 1, 2], &[0.17712441, 0.47508621]),
            ],
        ),
        Case::near(
            "both directions of a batch without biases",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 2, 2], &[1.0, 0.5, -1.0, 2.0])),
                Tensor(CaseTensor::float(&[2, 1, 1], &[0.5, -0.5])),
                Tensors(&[
                    CaseTensor::float(&[3, 2], &[-0.75, -0.5, -0.25, 0.0, 0.25, 0.5]),
                    CaseTensor::float(&[3, 1], &[-0.75, -0.5, -0.25]),
                    CaseTensor::float(&[3, 2], &[0.25, 0.5, -0.25, 0.0, -0.75, -0.5]),
                    CaseTensor::float(&[3, 1], &[-0.25, -0.5, -0.75]),
                ]),
                Bool(false),
                Int(1),
                Double(0.0),
                Bool(false),
                Bool(true),
                Bool(true),
            ],
            &[
                CaseTensor::float(&[1, 2, 2], &[0.46392724, -0.50861132, 0.53628218, -0.30569178]),
                CaseTensor::float(&[2, 1, 1], &[0.53628218, -0.50861132]),
            ],
        ),
        Case::refused(
            "weights for other inputs",
            &[
                Tensor(CaseTensor::float(&[2, 1, 2], &[1.0, 0.5, -1.0, 2.0])),
                Tensor(CaseTensor::float(&[1, 1, 2], &[0.5, -0.5])),
                Tensors(&[
                    CaseTensor::float(
                        &[6, 3],
                        &[
                            -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75,
                            -0.5, -0.25, 0.0,
                        ],
                    ),
                    CaseTensor::float(
                        &[6, 2],
                        &[-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75, -0.5, -0.25, 0.0, 0.25],
                    ),
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
    steps::meta(args, index, [3, 1])
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => run::<T>(args))
}

fn run<T: Opmath>(args: &Args<'_, '_>) -> Result<()>
where
    T::Math: Math,
{
    steps::run::<T, 3, 1>(args, |[reset, update, [input, hidden]], [before, cell]| {
        let [reset, update] = [reset, update].map(|sums| sigmoid(total(sums)));
        let candidate = (input + reset * hidden).tanh();
        [candidate + (before - candidate) * update, cell]
    })
}
