//! `aten::randn`: numbers of the standard normal distribution. The caller chooses the type.

use crate::family::fill;
use crate::family::random::{Random, normal};
use crate::prelude::*;

/// `torch.randn` in programs for ExecuTorch's runtime. Every call gives the same numbers: programs for our runtime draw with `etbuild::normal`.
#[cfg(feature = "catalogue")]
pub const RANDN: Operator = Operator {
    schema: "aten::randn.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::randn",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer: fill::of_sizes::<1>,
    kernel: out::<ALL>,
    cases: &[
        Case::exact("no elements", &[Ints(&[0, 3])], &[CaseTensor::float(&[0, 3], &[])]),
        Case::converting(
            "no elements of another type",
            &[Ints(&[2, 0])],
            &[CaseTensor::of(ScalarType::Double, &[2, 0], &[])],
        ),
        Case::refused("a negative size", &[Ints(&[2, -1])], Error::InvalidArgument),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(1)?;
    out.resize(&fill::sizes(args, 0)?)?;
    dispatch!(D, out.scalar_type(), floats, T => normal(out.output::<T>()?, Random::new(0, 0, 0)))
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::call::{Argument, call_kernel_for};

    #[test]
    fn mean_and_variance_are_those_of_the_standard_normal_distribution() {
        let meta = Meta { scalar_type: ScalarType::Double, shape: Shape::new(&[10_000]).unwrap() };
        let outputs = call_kernel_for(&RANDN, out::<ALL>, &[Argument::Ints(std::vec![10_000])], &[meta]).unwrap();
        let numbers: std::vec::Vec<f64> =
            outputs[0].bytes.as_chunks().0.iter().copied().map(f64::from_le_bytes).collect();
        let mean = numbers.iter().sum::<f64>() / 1e4;
        let variance = numbers.iter().map(|number| number * number).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
