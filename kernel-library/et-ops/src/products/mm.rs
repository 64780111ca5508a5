//! `aten::mm`: GEMM, `[n, k] @ [k, m]`.

use crate::family::contract;
use crate::prelude::*;

/// `torch.mm`.
#[cfg(feature = "catalogue")]
pub const MM: Operator = Operator {
    schema: "aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::mm",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rectangular",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::float(&[3, 2], &[1.0, 0.5, -1.0, 2.0, 0.0, 1.0])),
            ],
            &[CaseTensor::float(&[2, 2], &[-1.0, 7.5, -1.0, 18.0])],
        ),
        Case::exact(
            "bytes wrap around",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[1, 2], &[16.0, 3.0])),
                Tensor(CaseTensor::of(ScalarType::Byte, &[2, 1], &[17.0, 1.0])),
            ],
            &[CaseTensor::of(ScalarType::Byte, &[1, 1], &[19.0])],
        ),
        Case::exact(
            "halves sum up in single precision",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[1, 3], &[2048.0, 1.0, 1.0])),
                Tensor(CaseTensor::of(ScalarType::Half, &[3, 1], &[1.0; 3])),
            ],
            &[CaseTensor::of(ScalarType::Half, &[1, 1], &[2050.0])],
        ),
        Case::exact(
            "nothing to sum",
            &[Tensor(CaseTensor::float(&[1, 0], &[])), Tensor(CaseTensor::float(&[0, 2], &[]))],
            &[CaseTensor::float(&[1, 2], &[0.0, 0.0])],
        ),
        Case::refused(
            "inner sizes that differ",
            &[Tensor(CaseTensor::float(&[1, 2], &[1.0; 2])), Tensor(CaseTensor::float(&[3, 1], &[1.0; 3]))],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (left, right) = (args.tensor(0)?, args.tensor(1)?);
    Ok(Meta { scalar_type: left.scalar_type(), shape: contract::product_shape(&left.shape(), &right.shape())? })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    contract::matrix_product::<D>(&args.tensor(0)?, &args.tensor(1)?, &args.tensor(2)?)
}
