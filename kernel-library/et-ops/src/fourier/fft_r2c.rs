//! `aten::_fft_r2c`: the Fourier transform of real numbers over some dimensions.
//!
//! The last of the dimensions is transformed first, from the input to the output; the remaining dimensions follow in
//! place, and their lengths must have no prime factor above 61. An even length is transformed as half the number of
//! complex numbers.

use et_core::{Complex, Input, Part};

use crate::family::lane::Lanes;
use crate::family::reduce::Folded;
use crate::fourier::transform::{Direction, Elements, Sequence, is_supported, scale, transform, turn};
use crate::math::Math;
use crate::prelude::*;

/// `torch.fft.rfft`, and `torch.fft.fft` of real numbers.
#[cfg(feature = "catalogue")]
pub const FFT_R2C: Operator = Operator {
    schema: "aten::_fft_r2c.out(Tensor self, int[] dim, int normalization, bool onesided, *, Tensor(a!) out) \
             -> Tensor(a!)",
    functional: "aten::_fft_r2c",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "half of the bins of an even length",
            1e-6,
            &[Tensor(CaseTensor::float(&[1, 4], &[1.0, 2.0, 3.0, 5.0])), Ints(&[1]), Int(0), Bool(true)],
            &[CaseTensor::of(ScalarType::ComplexFloat, &[1, 3], &[11.0, 0.0, -2.0, 3.0, -3.0, 0.0])],
        ),
        Case::near(
            "all bins of an odd length, normalized, in double precision",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[3, 1], &[3.0, 6.0, 0.0])), Ints(&[0]), Int(2), Bool(false)],
            &[CaseTensor::of(
                ScalarType::ComplexDouble,
                &[3, 1],
                &[3.0, 0.0, 0.0, -1.732_050_807_568_877_2, 0.0, 1.732_050_807_568_877_2],
            )],
        ),
        Case::near(
            "two dimensions",
            1e-6,
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 5.0])), Ints(&[0, 1]), Int(1), Bool(true)],
            &[CaseTensor::of(ScalarType::ComplexFloat, &[2, 2], &[5.5, 0.0, -1.5, 0.0, -2.5, 0.0, 0.5, 0.0])],
        ),
        Case::refused(
            "no such dimension",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Ints(&[1]), Int(0), Bool(true)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, dims) = (args.tensor(0)?, args.ints(1)?);
    let mut shape = input.shape();
    let folded = Folded::of(&shape, &dims)?;
    let last = shape.axis(*dims.last().ok_or(Error::InvalidArgument)?)?;
    let count = folded.count(&shape)?;
    if let (Some(size), true) = (shape.sizes_mut().get_mut(last), args.bool(3)?) {
        *size = *size / 2 + 1;
    }
    match input.scalar_type() {
        _ if count == 0 => Err(Error::InvalidArgument),
        ScalarType::Float => Ok(Meta { scalar_type: ScalarType::ComplexFloat, shape }),
        ScalarType::Double => Ok(Meta { scalar_type: ScalarType::ComplexDouble, shape }),
        _ => Err(Error::InvalidType),
    }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(4)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    match input.scalar_type() {
        ScalarType::Float if const { Dtypes(D).contains(ScalarType::Float) } => transform_all::<f32>(args),
        ScalarType::Double if const { Dtypes(D).contains(ScalarType::Double) } => transform_all::<f64>(args),
        _ => Err(Error::InvalidType),
    }
}

fn transform_all<P: Part + Math>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, dims) = (args.tensor(0)?, args.tensor(4)?, args.ints(1)?);
    let (Some((last, others)), shape) = (dims.split_last(), input.shape()) else { return Err(Error::InvalidArgument) };
    let (axis, factor) = (shape.axis(*last)?, scale::<P>(args.int(2)?, Folded::of(&shape, &dims)?.count(&shape)?)?);
    let (from, elements) = (input.input::<P>()?, out.output::<Complex<P>>()?);
    let lanes = Lanes::new(&shape, axis, [&input, &out])?;
    let [from_step, step] = lanes.steps;
    for [from_start, start] in lanes {
        let lane = Lane { from, start: from_start, step: from_step, length: shape.size(axis).max(1) };
        lane.transform(&Elements { elements, start, step }, args.bool(3)?, factor)?;
    }
    for dim in others.iter().rev() {
        let axis = shape.axis(*dim)?;
        let lanes = Lanes::new(&out.shape(), axis, [&out])?;
        let [step] = lanes.steps;
        for [start] in lanes {
            transform(&Elements { elements, start, step }, shape.size(axis), Direction::Forward)?;
        }
    }
    Ok(())
}

/// Real numbers at equal distances.
struct Lane<'a, P> {
    from: Input<'a, P>,
    start: usize,
    step: usize,
    length: usize,
}

impl<P: Part + Math> Lane<'_, P> {
    fn get(&self, index: usize) -> P {
        self.from.get(self.start + index * self.step)
    }

    fn transform(&self, to: &Elements<'_, P>, onesided: bool, factor: P) -> Result<()> {
        let (length, bins) = (self.length, if onesided { self.length / 2 + 1 } else { self.length });
        if length.is_multiple_of(2) && is_supported(length / 2) {
            let pair = |index: usize| Complex::new(self.get(2 * index), self.get(2 * index + 1));
            (0..length / 2).for_each(|index| to.set(index, pair(index).scaled(factor)));
            transform(to, length / 2, Direction::Forward)?;
            unravel(to, length);
        } else {
            (0..length / 2 + 1).for_each(|bin| to.set(bin, self.bin(bin).scaled(factor)));
        }
        (length / 2 + 1..bins).for_each(|bin| to.set(bin, to.get(length - bin).conjugate()));
        Ok(())
    }

    /// A bin of the transform, by the definition (a direct sum).
    fn bin(&self, bin: usize) -> Complex<P> {
        (0..self.length).fold(Complex::new(P::ZERO, P::ZERO), |sum, index| {
            sum.plus(turn(Direction::Forward, index * bin % self.length, self.length).scaled(self.get(index)))
        })
    }
}

/// Makes the first half of the transform of `length` real numbers of the transform of their pairs.
fn unravel<P: Part + Math>(to: &Elements<'_, P>, length: usize) {
    let (half, first) = (length / 2, to.get(0));
    to.set(0, Complex::new(first.real.plus(first.imaginary), P::ZERO));
    to.set(half, Complex::new(first.real.minus(first.imaginary), P::ZERO));
    for bin in 1..half / 2 + 1 {
        let (left, right) = (to.get(bin), to.get(half - bin).conjugate());
        let even = left.plus(right).scaled(P::from_f64(0.5));
        let odd = left.minus(right).scaled(P::from_f64(0.5));
        // Divided by the imaginary unit, then turned.
        let odd = Complex::new(odd.imaginary, odd.real.negated()).times(turn(Direction::Forward, bin, length));
        to.set(bin, even.plus(odd));
        to.set(half - bin, even.minus(odd).conjugate());
    }
}
