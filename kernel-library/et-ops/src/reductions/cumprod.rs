//! `aten::cumprod`: cumulative products along a dimension. Integers and booleans are multiplied as `int64`.

use crate::prelude::*;
use crate::reductions::scan;

/// `torch.cumprod`.
#[cfg(feature = "catalogue")]
pub const CUMPROD: Operator = Operator {
    schema: "aten::cumprod.out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::cumprod",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: crate::reductions::cumsum::infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "columns",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 4.0])), Int(0), CaseArgument::None],
            &[CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 8.0])],
        ),
        Case::exact(
            "integers wrap",
            &[Tensor(CaseTensor::long(&[3], &[4_294_967_296.0, 4_294_967_297.0, 3.0])), Int(-1), CaseArgument::None],
            &[CaseTensor::long(&[3], &[4_294_967_296.0, 4_294_967_296.0, 12_884_901_888.0])],
        ),
        Case::exact(
            "booleans as another type",
            &[Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])), Int(0), CaseArgument::Type(ScalarType::Float)],
            &[CaseTensor::float(&[2], &[1.0, 0.0])],
        ),
        Case::refused(
            "beyond the end",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Int(1), CaseArgument::None],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, out] = [args.tensor(0)?, args.tensor(3)?];
    if out.scalar_type().is_float() {
        scan::run::<f64, D>([&input, &out], args.int(1)?, &|last, element| last.map_or(element, |last| last * element))
    } else {
        scan::run::<i64, D>([&input, &out], args.int(1)?, &|last, element| {
            last.map_or(element, |last| last.wrapping_mul(element))
        })
    }
}
