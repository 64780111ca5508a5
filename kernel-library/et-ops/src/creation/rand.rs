//! `aten::rand`: numbers from 0 up to and without 1, all equally likely. The caller chooses the type.

use crate::family::fill;
use crate::family::random::{Random, uniform};
use crate::prelude::*;

/// `torch.rand` in programs for ExecuTorch's runtime. Every call gives the same numbers: programs for our runtime draw with `etbuild::uniform`.
#[cfg(feature = "catalogue")]
pub const RAND: Operator = Operator {
    schema: "aten::rand.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::rand",
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
    dispatch!(D, out.scalar_type(), floats, T => uniform(out.output::<T>()?, Random::new(0, 0, 0)))
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::call::{Argument, call_kernel_for};

    #[test]
    fn numbers_are_below_1_in_every_type() {
        for scalar_type in Dtypes::FLOATS.iter() {
            let meta = Meta { scalar_type, shape: Shape::new(&[500]).unwrap() };
            let outputs = call_kernel_for(&RAND, out::<ALL>, &[Argument::Ints(std::vec![500])], &[meta]).unwrap();
            let one = [0x3c00_u64, 0x3f80_0000, 0x3ff0_0000_0000_0000, 0x3f80];
            let size = scalar_type.size();
            let words = outputs[0].bytes.chunks(size).map(|word| {
                let mut bits = [0; 8];
                bits[..size].copy_from_slice(word);
                u64::from_le_bytes(bits)
            });
            // Positive floating-point numbers are in the order of their bits.
            let limit = one[Dtypes::FLOATS.iter().position(|known| known == scalar_type).unwrap()];
            assert!(
                words.clone().all(|bits| bits < limit) && words.collect::<std::collections::BTreeSet<_>>().len() > 90
            );
        }
    }
}
