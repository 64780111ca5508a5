//! `aten::_fft_c2c`: the Fourier transform of complex numbers over some dimensions, whose lengths must have no prime factor above
//! 61.

use et_core::{Complex, Part};

use crate::family::lane::Lanes;
use crate::family::reduce::Folded;
use crate::family::{transfer, unary};
use crate::fourier::transform::{Direction, Elements, is_supported, scale, transform};
use crate::math::Math;
use crate::prelude::*;

/// `torch.fft.fft` and `torch.fft.ifft` of complex numbers.
#[cfg(feature = "catalogue")]
pub const FFT_C2C: Operator = Operator {
    schema: "aten::_fft_c2c.out(Tensor self, SymInt[] dim, int normalization, bool forward, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::_fft_c2c",
    path: kernel_path!(out),
    dtypes: Dtypes::COMPLEX,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "forward",
            1e-6,
            &[
                Tensor(CaseTensor::of(ScalarType::ComplexFloat, &[4], &[1.0, 1.0, 2.0, 0.0, 3.0, -1.0, 4.0, 0.0])),
                Ints(&[0]),
                Int(0),
                Bool(true),
            ],
            &[CaseTensor::of(ScalarType::ComplexFloat, &[4], &[10.0, 0.0, -2.0, 4.0, -2.0, 0.0, -2.0, 0.0])],
        ),
        Case::near(
            "two dimensions backward, divided by the number of elements",
            1e-12,
            &[
                Tensor(CaseTensor::of(ScalarType::ComplexDouble, &[2, 2], &[1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 8.0])),
                Ints(&[0, 1]),
                Int(2),
                Bool(false),
            ],
            &[CaseTensor::of(ScalarType::ComplexDouble, &[2, 2], &[2.5, 2.0, -0.5, -2.0, -1.0, -2.0, 0.0, 2.0])],
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let (meta, dims) = (unary::like_first(args, index)?, args.ints(1)?);
    let shape = meta.shape;
    Folded::of(&shape, &dims)?;
    let fits = dims.iter().all(|dim| shape.axis(*dim).is_ok_and(|axis| is_supported(shape.around(axis)[1])));
    if fits { Ok(meta) } else { Err(Error::NotSupported) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(4)?);
    infer(args, 0)?;
    transfer::whole::<D>(&input, &out)?;
    dispatch!(D, out.scalar_type(), complex, P => transform_all::<P>(args, &out))
}

fn transform_all<P: Part + Math>(args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()> {
    let (dims, shape, elements) = (args.ints(1)?, out.shape(), out.output::<Complex<P>>()?);
    let factor = scale::<P>(args.int(2)?, Folded::of(&shape, &dims)?.count(&shape)?)?;
    let direction = if args.bool(3)? { Direction::Forward } else { Direction::Backward };
    for dim in dims.iter() {
        let axis = shape.axis(*dim)?;
        let lanes = Lanes::new(&shape, axis, [out])?;
        let [step] = lanes.steps;
        for [start] in lanes {
            transform(&Elements { elements, start, step }, shape.around(axis)[1], direction)?;
        }
    }
    (0..elements.len()).for_each(|index| elements.set(index, elements.get(index).scaled(factor)));
    Ok(())
}
