//! `aten::lstm`, single layer: long short-term memory (Hochreiter and Schmidhuber 1997) over a sequence.

use crate::family::opmath::Opmath;
use crate::math::Math;
use crate::prelude::*;
use crate::recurrent::steps::{self, sigmoid, total};

/// `torch.nn.LSTM`, a layer per call. The gates are input, forget, candidate and output.
#[cfg(feature = "catalogue")]
pub const LSTM: Operator = Operator {
    schema: "aten::lstm.input_out(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, \
             float dropout, bool train, bool bidirectional, bool batch_first, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))",
    functional: "aten::lstm.input",
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
                Tensors(&[CaseTensor::float(&[1, 1, 2], &[0.5, -0.5]), CaseTensor::float(&[1, 1, 2], &[1.0, -1.0])]),
                Tensors(&[
                    CaseTensor::float(
                        &[8, 2],
                        &[
                            -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75,
                            -0.5,
                        ],
                    ),
                    CaseTensor::float(
                        &[8, 2],
                        &[
                            -0.75, -0.5, 0.5, 0.75, 0.0, 0.25, -0.5, -0.25, 0.75, -0.75, 0.25, 0.5, -0.25, 0.0, -0.75,
                            -0.5,
                        ],
                    ),
                    CaseTensor::float(&[8], &[-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75]),
                    CaseTensor::float(&[8], &[-0.75, 0.75, 0.5, 0.25, 0.0, -0.25, -0.5, -0.75]),
                ]),
                Bool(true),
                Int(1),
                Double(0.0),
                Bool(false),
                Bool(false),
                Bool(false),
            ],
            &[
                CaseTensor::float(&[2, 1, 2], &[0.43031999, -0.0316191, 0.38139209, 0.04377118]),
                CaseTensor::float(&[1, 1, 2], &[0.38139209, 0.04377118]),
                CaseTensor::float(&[1, 1, 2], &[0.55341285, 0.40726277]),
            ],
        ),
        Case::near(
            "both directions of a batch without biases",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 2, 2], &[1.0, 0.5, -1.0, 2.0])),
                Tensors(&[CaseTensor::float(&[2, 1, 1], &[0.5, -0.5]), CaseTensor::float(&[2, 1, 1], &[1.0, -1.0])]),
                Tensors(&[
                    CaseTensor::float(&[4, 2], &[-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75]),
                    CaseTensor::float(&[4, 1], &[-0.75, -0.5, -0.25, 0.0]),
                    CaseTensor::float(&[4, 2], &[0.75, -0.75, 0.25, 0.5, -0.25, 0.0, -0.75, -0.5]),
                    CaseTensor::float(&[4, 1], &[0.0, -0.25, -0.5, -0.75]),
                ]),
                Bool(false),
                Int(1),
                Double(0.0),
                Bool(false),
                Bool(true),
                Bool(true),
            ],
            &[
                CaseTensor::float(&[1, 2, 2], &[0.24997817, -0.14144216, 0.04200943, -0.30784035]),
                CaseTensor::float(&[2, 1, 1], &[0.04200943, -0.14144216]),
                CaseTensor::float(&[2, 1, 1], &[0.47295511, -0.48051432]),
            ],
        ),
        Case::refused(
            "weights for other inputs",
            &[
                Tensor(CaseTensor::float(&[2, 1, 2], &[1.0, 0.5, -1.0, 2.0])),
                Tensors(&[CaseTensor::float(&[1, 1, 2], &[0.5, -0.5]), CaseTensor::float(&[1, 1, 2], &[1.0, -1.0])]),
                Tensors(&[
                    CaseTensor::float(
                        &[8, 3],
                        &[
                            -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75,
                            -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75, -0.5, -0.25,
                        ],
                    ),
                    CaseTensor::float(
                        &[8, 2],
                        &[
                            -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, -0.75,
                            -0.5,
                        ],
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
    steps::meta(args, index, [4, 2])
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => run::<T>(args))
}

fn run<T: Opmath>(args: &Args<'_, '_>) -> Result<()>
where
    T::Math: Math,
{
    steps::run::<T, 4, 2>(args, |[input, forget, candidate, output], [_, cell]| {
        let [input, forget, output] = [input, forget, output].map(|sums| sigmoid(total(sums)));
        let cell = forget * cell + input * total(candidate).tanh();
        [output * cell.tanh(), cell]
    })
}
