//! `aten::_fft_c2r`: real numbers from the half of their Fourier transform that determines the rest.
//!
//! A transform over a single dimension of even length, half of which has no prime factor above 61, is an FFT; otherwise
//! each element is computed by the definition (a direct sum).

use et_core::{Complex, Input, Part};

use crate::family::lane::Lanes;
use crate::family::place::Place;
use crate::family::reduce::Folded;
use crate::family::walk::Walk;
use crate::fourier::transform::{Direction, Pairs, Sequence, is_supported, scale, transform, turn};
use crate::math::Math;
use crate::prelude::*;

/// `torch.fft.irfft`.
#[cfg(feature = "catalogue")]
pub const FFT_C2R: Operator = Operator {
    schema: "aten::_fft_c2r.out(Tensor self, int[] dim, int normalization, SymInt last_dim_size, *, Tensor(a!) out) \
             -> Tensor(a!)",
    functional: "aten::_fft_c2r",
    path: kernel_path!(out),
    dtypes: Dtypes::COMPLEX,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "an even length",
            1e-6,
            &[
                Tensor(CaseTensor::of(ScalarType::ComplexFloat, &[1, 3], &[11.0, 0.0, -2.0, 3.0, -3.0, 0.0])),
                Ints(&[1]),
                Int(2),
                Int(4),
            ],
            &[CaseTensor::float(&[1, 4], &[1.0, 2.0, 3.0, 5.0])],
        ),
        Case::near(
            "an odd length in double precision",
            1e-14,
            &[
                Tensor(CaseTensor::of(ScalarType::ComplexDouble, &[2, 1], &[9.0, 0.0, 0.0, -5.196_152_422_706_632])),
                Ints(&[0]),
                Int(2),
                Int(3),
            ],
            &[CaseTensor::of(ScalarType::Double, &[3, 1], &[3.0, 6.0, 0.0])],
        ),
        Case::near(
            "two dimensions",
            1e-6,
            &[
                Tensor(CaseTensor::of(ScalarType::ComplexFloat, &[2, 2], &[5.5, 0.0, -1.5, 0.0, -2.5, 0.0, 0.5, 0.0])),
                Ints(&[0, 1]),
                Int(1),
                Int(2),
            ],
            &[CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 5.0])],
        ),
        Case::refused(
            "too few bins",
            &[
                Tensor(CaseTensor::of(ScalarType::ComplexFloat, &[2], &[1.0, 0.0, 2.0, 0.0])),
                Ints(&[0]),
                Int(0),
                Int(4),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, dims) = (args.tensor(0)?, args.ints(1)?);
    let (mut shape, length) = (input.shape(), i32::try_from(args.int(3)?).map_err(|_| Error::InvalidArgument)?);
    Folded::of(&shape, &dims)?;
    let last = shape.axis(*dims.last().ok_or(Error::InvalidArgument)?)?;
    match shape.sizes_mut().get_mut(last) {
        Some(size) if length >= 1 && *size == length / 2 + 1 => *size = length,
        _ => return Err(Error::InvalidArgument),
    }
    match input.scalar_type() {
        ScalarType::ComplexFloat => Ok(Meta { scalar_type: ScalarType::Float, shape }),
        ScalarType::ComplexDouble => Ok(Meta { scalar_type: ScalarType::Double, shape }),
        _ => Err(Error::InvalidType),
    }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(4)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, input.scalar_type(), complex, P => transform_all::<P>(args))
}

fn transform_all<P: Part + Math>(args: &Args<'_, '_>) -> Result<()> {
    let (out, dims) = (args.tensor(4)?, args.ints(1)?);
    let folded = Folded::of(&out.shape(), &dims)?;
    let factor = scale::<P>(args.int(2)?, folded.count(&out.shape())?)?;
    let length = args.int(3)? as usize;
    match *dims {
        [dim] if length.is_multiple_of(2) && is_supported(length / 2) => fast(args, out.shape().axis(dim)?, factor),
        _ => by_definition(args, folded, factor),
    }
}

fn fast<P: Part + Math>(args: &Args<'_, '_>, axis: usize, factor: P) -> Result<()> {
    let (input, out, length) = (args.tensor(0)?, args.tensor(4)?, args.int(3)? as usize);
    let (from, elements) = (input.input::<Complex<P>>()?, out.output::<P>()?);
    let lanes = Lanes::new(&out.shape(), axis, [&input, &out])?;
    let [from_step, step] = lanes.steps;
    for [from_start, start] in lanes {
        let bin = |index: usize| from.get(from_start + index * from_step).scaled(factor);
        let to = Pairs { elements, start, step };
        ravel(bin, &to, length);
        transform(&to, length / 2, Direction::Backward)?;
    }
    Ok(())
}

/// Makes the transform of the pairs of `length` real numbers of the first half of the transform of these.
fn ravel<P: Part + Math>(bin: impl Fn(usize) -> Complex<P>, to: &Pairs<'_, P>, length: usize) {
    let half = length / 2;
    for index in 0..half {
        let (mut left, mut right) = (bin(index), bin(half - index).conjugate());
        if index == 0 {
            // The transform of real numbers is real there.
            (left.imaginary, right.imaginary) = (P::ZERO, P::ZERO);
        }
        let odd = left.minus(right).times(turn(Direction::Backward, index, length));
        to.set(index, left.plus(right).plus(Complex::new(odd.imaginary.negated(), odd.real)));
    }
}

fn by_definition<P: Part + Math>(args: &Args<'_, '_>, folded: Folded, factor: P) -> Result<()> {
    let (input, out, dims) = (args.tensor(0)?, args.tensor(4)?, args.ints(1)?);
    let (from, to) = (input.input::<Complex<P>>()?, out.output::<P>()?);
    let spectrum = Spectrum { from, lane: lane(&input.shape(), folded), place: Place::of(&input) };
    let last = out.shape().axis(dims.last().copied().ok_or(Error::InvalidArgument)?)?;
    let mut position = [0; et_core::MAX_RANK];
    for [at] in Walk::over(&out.shape(), [Place::of(&out)])? {
        to.set(at, spectrum.sum(&position, &out.shape(), last, folded)?.times(factor));
        step(&mut position, &out.shape());
    }
    Ok(())
}

/// All bins.
struct Spectrum<'a, P> {
    from: Input<'a, Complex<P>>,
    /// The box of the bins of a transform.
    lane: Shape,
    place: Place,
}

impl<P: Part + Math> Spectrum<'_, P> {
    /// The output at `position`: the sum of the bins times their twiddle factors. A bin that is not stored is the
    /// conjugate of a stored bin.
    fn sum(&self, position: &[usize], out: &Shape, last: usize, folded: Folded) -> Result<P> {
        let kept = (0..out.rank()).filter(|dim| !folded.contains(*dim));
        let start = kept.fold(self.place, |place, dim| place.moved(dim, position[dim] as i64));
        let (mut bin, mut sum) = ([0; et_core::MAX_RANK], P::ZERO);
        for [at] in Walk::over(&self.lane, [start])? {
            let dims = (0..out.rank()).filter(|dim| folded.contains(*dim));
            let turned = dims.fold(self.from.get(at), |element, dim| {
                let length = out.size(dim);
                element.times(turn(Direction::Backward, position[dim] * bin[dim] % length, length))
            });
            let is_alone = bin[last] == 0 || 2 * bin[last] == out.size(last);
            sum = sum.plus(if is_alone { turned.real } else { turned.real.plus(turned.real) });
            step(&mut bin, &self.lane);
        }
        Ok(sum)
    }
}

fn lane(shape: &Shape, folded: Folded) -> Shape {
    let mut lane = *shape;
    lane.sizes_mut().iter_mut().enumerate().filter(|(dim, _)| !folded.contains(*dim)).for_each(|(_, size)| *size = 1);
    lane
}

/// Moves to the next position of a box, innermost dimension fastest.
fn step(position: &mut [usize], shape: &Shape) {
    for (dim, at) in position.iter_mut().enumerate().take(shape.rank()).rev() {
        *at += 1;
        if *at < shape.size(dim) {
            return;
        }
        *at = 0;
    }
}
