//! Affine quantization: a real number is `(quantized - zero_point) * scale`; each block has a scale and a zero point.

use et_core::{Args, Element, Error, Result, ScalarType, Shape, Tensor};

use super::block::Blocks;
use super::convert::{reading, writing};
use super::place::Place;
use super::walk::Walk;
use crate::Meta;
use crate::math::Math;
use crate::operator::dispatch;

/// The range of the quantized integers.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The least integer.
    pub lowest: i64,
    /// The greatest integer.
    pub highest: i64,
}

/// When a quotient by the scale is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Before the zero point is added.
    Quotient,
    /// After the zero point is added.
    Sum,
}

/// How the zero point is subtracted from an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// As an integer subtraction.
    Integer,
    /// As a floating-point subtraction.
    Float,
}

/// The scale and the zero point of each block, in the row-major order of the grid of blocks.
#[derive(Clone, Copy)]
pub struct Parameters<'t> {
    /// Floating-point numbers.
    pub scales: Tensor<'t>,
    /// A zero point per scale; `None` for symmetric quantization, where every zero point is 0.
    pub zero_points: Option<Tensor<'t>>,
    /// The blocks.
    pub blocks: Blocks,
}

impl Range {
    /// The distance between the ends.
    pub const fn steps(self) -> f64 {
        (self.highest - self.lowest) as f64
    }

    /// Arguments `position` and `position + 1`, which must be integers of `scalar_type`.
    pub fn of(args: &Args<'_, '_>, position: usize, scalar_type: ScalarType) -> Result<Self> {
        let range = Self { lowest: args.int(position)?, highest: args.int(position + 1)? };
        range.within(Self::whole(scalar_type)?)
    }

    /// Like [`Range::of`]; an absent argument stands for the end of the dtype's range.
    pub fn optional(args: &Args<'_, '_>, position: usize, scalar_type: ScalarType) -> Result<Self> {
        let whole = Self::whole(scalar_type)?;
        let end = |position, default| Ok(args.optional_scalar(position)?.map_or(default, et_core::Scalar::to_i64));
        Self { lowest: end(position, whole.lowest)?, highest: end(position + 1, whole.highest)? }.within(whole)
    }

    /// All integers of a type of at most 32 bits.
    fn whole(scalar_type: ScalarType) -> Result<Self> {
        let (lowest, highest) = match scalar_type {
            ScalarType::Byte => (0, i64::from(u8::MAX)),
            ScalarType::Char => (i64::from(i8::MIN), i64::from(i8::MAX)),
            ScalarType::Short => (i64::from(i16::MIN), i64::from(i16::MAX)),
            ScalarType::Int => (i64::from(i32::MIN), i64::from(i32::MAX)),
            _ => return Err(Error::InvalidType),
        };
        Ok(Self { lowest, highest })
    }

    fn within(self, whole: Self) -> Result<Self> {
        let fits = whole.lowest <= self.lowest && self.lowest <= self.highest && self.highest <= whole.highest;
        if fits { Ok(self) } else { Err(Error::InvalidArgument) }
    }
}

/// The rule of quantization: the type that argument `dtype` names, whose range arguments `range` and `range + 1` keep to.
pub fn quantized(args: &Args<'_, '_>, dtype: usize, range: usize) -> Result<Meta> {
    let scalar_type = args.optional_scalar_type(dtype)?.ok_or(Error::InvalidArgument)?;
    Range::of(args, range, scalar_type)?;
    like(&real(args)?, scalar_type)
}

/// The rule of dequantization: integers of the type that argument `dtype` names become the floating-point type that argument
/// `out_dtype` names, `float32` by default.
pub fn dequantized(args: &Args<'_, '_>, dtype: usize, out_dtype: usize) -> Result<Meta> {
    let input = args.tensor(0)?;
    if args.optional_scalar_type(dtype)? != Some(input.scalar_type()) {
        return Err(Error::InvalidType);
    }
    Range::whole(input.scalar_type())?;
    let out = args.optional_scalar_type(out_dtype)?.unwrap_or(ScalarType::Float);
    if out.is_float() { like(&input, out) } else { Err(Error::InvalidType) }
}

/// The first argument, which must hold floating-point numbers.
pub fn real<'t>(args: &Args<'t, '_>) -> Result<Tensor<'t>> {
    let input = args.tensor(0)?;
    if input.scalar_type().is_float() { Ok(input) } else { Err(Error::InvalidType) }
}

fn like(input: &Tensor<'_>, scalar_type: ScalarType) -> Result<Meta> {
    Ok(Meta { scalar_type, shape: input.shape() })
}

/// The only element of a tensor.
pub fn single<const D: u32>(tensor: &Tensor<'_>) -> Result<f64> {
    if tensor.numel() == 1 { number::<D>(tensor, 0) } else { Err(Error::InvalidArgument) }
}

/// The element at an offset.
pub fn number<const D: u32>(tensor: &Tensor<'_>, offset: usize) -> Result<f64> {
    dispatch!(D, tensor.scalar_type(), all, T => Ok(tensor.input::<T>()?.get(offset).to_f64()))
}

impl<'t> Parameters<'t> {
    /// Arguments `position` and `position + 1`, of which the second may be absent.
    pub fn of(args: &Args<'t, '_>, position: usize, blocks: Blocks) -> Result<Self> {
        let (scales, zero_points) = (args.tensor(position)?, args.optional_tensor(position + 1)?);
        // Exporters write an absent tensor as an empty tensor.
        let zero_points = zero_points.filter(|tensor| tensor.numel() > 0 || scales.numel() == 0);
        let wanted = blocks.grid().numel()?;
        let fits = scales.numel() == wanted && zero_points.is_none_or(|tensor| tensor.numel() == wanted);
        if fits { Ok(Self { scales, zero_points, blocks }) } else { Err(Error::InvalidArgument) }
    }

    /// Whether the scales are `float64`, and the arithmetic with scales therefore too.
    pub fn are_double<const D: u32>(&self) -> bool {
        let selected = const { et_core::Dtypes(D).contains(ScalarType::Double) };
        selected && self.scales.scalar_type() == ScalarType::Double
    }

    /// Calls `visit` for each block with the scale, the zero point, and a walk over the block in two tensors.
    fn for_each<const D: u32>(
        &self,
        tensors: [&Tensor<'_>; 2],
        mut visit: impl FnMut(f64, f64, &super::block::Block<2>) -> Result<()>,
    ) -> Result<()> {
        let (shape, zero_points) = (self.scales.shape(), self.zero_points);
        let zero_shape = zero_points.map_or(shape, |tensor| tensor.shape());
        let zero_place =
            zero_points.map_or(Place { start: 0, strides: [0; et_core::MAX_RANK] }, |tensor| Place::of(&tensor));
        let parameters = Walk::over(&shape, [Place::of(&self.scales)])?.zip(Walk::over(&zero_shape, [zero_place])?);
        for (([scale_at], [zero_at]), block) in parameters.zip(self.blocks.walk(tensors)?) {
            let zero_point = zero_points.map_or(Ok(0.0), |tensor| number::<D>(&tensor, zero_at))?;
            visit(number::<D>(&self.scales, scale_at)?, zero_point, &block)?;
        }
        Ok(())
    }
}

/// The qparams that quantize a block.
#[derive(Clone, Copy)]
pub struct Quantizer<M> {
    /// 1 divided by the scale.
    pub inverse: M,
    /// The integer that 0 is quantized to.
    pub zero_point: M,
    /// The range of the quantized integers.
    pub range: Range,
    /// When to round.
    pub rounding: Rounding,
}

impl<M: Math> Quantizer<M> {
    /// The integer.
    #[inline]
    pub fn quantize(&self, real: M) -> i64 {
        let quotient = real * self.inverse;
        let integer = match self.rounding {
            Rounding::Quotient => quotient.round_ties_even() + self.zero_point,
            Rounding::Sum => (quotient + self.zero_point).round_ties_even(),
        };
        if integer.is_nan() { 0 } else { integer.to_i64().clamp(self.range.lowest, self.range.highest) }
    }
}

/// Quantizes a tensor per-tensor, with the same quantizer for every element.
pub fn quantize_whole<M: Math, const D: u32>(
    input: &Tensor<'_>,
    out: &Tensor<'_>,
    quantizer: Quantizer<M>,
) -> Result<()> {
    reading::<M, D>(input, &mut |load| {
        writing::<i64, D>(out, &mut |store| {
            let mut blocks = Blocks::whole(&input.shape()).walk([input, out])?;
            let quantize = |[from, to]: [usize; 2]| store(to, quantizer.quantize(load(from)));
            blocks.try_for_each(|block| block.for_each(quantize))
        })
    })
}

/// Quantizes a tensor block by block, in `float64` if the scales are that, else in `float32`.
pub fn quantize<const D: u32>(
    input: &Tensor<'_>,
    out: &Tensor<'_>,
    parameters: &Parameters<'_>,
    (range, rounding): (Range, Rounding),
) -> Result<()> {
    if parameters.are_double::<D>() {
        quantize_in::<f64, D>(input, out, parameters, (range, rounding))
    } else {
        quantize_in::<f32, D>(input, out, parameters, (range, rounding))
    }
}

fn quantize_in<M: Math, const D: u32>(
    input: &Tensor<'_>,
    out: &Tensor<'_>,
    parameters: &Parameters<'_>,
    (range, rounding): (Range, Rounding),
) -> Result<()> {
    reading::<M, D>(input, &mut |load| {
        writing::<i64, D>(out, &mut |store| {
            parameters.for_each::<D>([input, out], |scale, zero_point, block| {
                let (inverse, zero_point) = (M::ONE / M::from_f64(scale), M::from_f64(zero_point));
                let quantizer = Quantizer { inverse, zero_point, range, rounding };
                block.for_each(|[from, to]| store(to, quantizer.quantize(load(from))))
            })
        })
    })
}

/// The qparams that dequantize a block.
#[derive(Clone, Copy)]
pub struct Dequantizer<M> {
    /// The distance between neighbours.
    pub scale: M,
    /// The integer that is dequantized to 0.
    pub zero_point: f64,
    /// How the zero point is subtracted.
    pub difference: Difference,
}

impl<M: Math> Dequantizer<M> {
    /// The real number.
    #[inline]
    pub fn dequantize(&self, quantized: i64) -> M {
        let difference = match self.difference {
            Difference::Integer => M::from_i64(quantized.wrapping_sub(self.zero_point as i64)),
            Difference::Float => M::from_i64(quantized) - M::from_f64(self.zero_point),
        };
        difference * self.scale
    }
}

/// Dequantizes a tensor per-tensor, with the same dequantizer for every element.
pub fn dequantize_whole<M: Math, const D: u32>(
    input: &Tensor<'_>,
    out: &Tensor<'_>,
    dequantizer: Dequantizer<M>,
) -> Result<()> {
    reading::<i64, D>(input, &mut |load| {
        writing::<M, D>(out, &mut |store| {
            let mut blocks = Blocks::whole(&input.shape()).walk([input, out])?;
            let dequantize = |[from, to]: [usize; 2]| store(to, dequantizer.dequantize(load(from)));
            blocks.try_for_each(|block| block.for_each(dequantize))
        })
    })
}

/// Dequantizes a tensor block by block, in `float64` if the scales are that, else in `float32`.
pub fn dequantize<const D: u32>(
    input: &Tensor<'_>,
    out: &Tensor<'_>,
    parameters: &Parameters<'_>,
    difference: Difference,
) -> Result<()> {
    if parameters.are_double::<D>() {
        dequantize_in::<f64, D>(input, out, parameters, difference)
    } else {
        dequantize_in::<f32, D>(input, out, parameters, difference)
    }
}

fn dequantize_in<M: Math, const D: u32>(
    input: &Tensor<'_>,
    out: &Tensor<'_>,
    parameters: &Parameters<'_>,
    difference: Difference,
) -> Result<()> {
    let is_real = parameters.zero_points.is_some_and(|tensor| tensor.scalar_type().is_float());
    let difference = if is_real { Difference::Float } else { difference };
    reading::<i64, D>(input, &mut |load| {
        writing::<M, D>(out, &mut |store| {
            parameters.for_each::<D>([input, out], |scale, zero_point, block| {
                let dequantizer = Dequantizer { scale: M::from_f64(scale), zero_point, difference };
                block.for_each(|[from, to]| store(to, dequantizer.dequantize(load(from))))
            })
        })
    })
}

/// The blocks of quantization per channel: positions along the axis that argument `position` names.
pub fn channels(args: &Args<'_, '_>, position: usize, shape: &Shape) -> Result<Blocks> {
    Ok(Blocks::along(shape, shape.axis(args.int(position)?)?))
}
