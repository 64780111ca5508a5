//! Products of real numbers with a matrix of 8-bit integers that have scales.

use et_core::{Args, Error, Float, Input, Result, ScalarType, Tensor};

/// The matrices and the scales.
pub struct Factors<'t> {
    /// Real numbers, `[rows, depth]`.
    pub input: Tensor<'t>,
    /// The int8 weight.
    pub weight: Tensor<'t>,
    /// The scales, of the dtype of the input.
    pub scales: Tensor<'t>,
}

impl<'t> Factors<'t> {
    /// Arguments 0 to 3. The last argument, the zero points, must be absent, since no kernel supports zero points.
    pub fn of(args: &Args<'t, '_>) -> Result<Self> {
        let factors = Self { input: args.tensor(0)?, weight: args.tensor(1)?, scales: args.tensor(2)? };
        let real = factors.input.scalar_type();
        if factors.weight.scalar_type() != ScalarType::Char || factors.scales.scalar_type() != real || !real.is_float()
        {
            return Err(Error::InvalidType);
        }
        if args.optional_tensor(3)?.is_some() {
            return Err(Error::NotSupported);
        }
        let matrices = factors.input.rank() == 2 && factors.weight.rank() == 2;
        if matrices { Ok(factors) } else { Err(Error::InvalidArgument) }
    }

    /// The sum over `index` of `input[row, index] * weight * scale`, where `weight_at` and `scale_at` say which element of each
    /// belongs to an index.
    pub fn product<T: Float>(
        &self,
        (elements, row): (Input<'_, T>, usize),
        weight_at: impl Fn(usize) -> usize,
        scale_at: impl Fn(usize) -> usize,
    ) -> Result<T::Wide> {
        use et_core::{Element, Number};
        let (bytes, scales, strides) = (self.weight.input::<i8>()?, self.scales.input::<T>()?, self.input.strides());
        let mut sum = <T::Wide as Number>::ZERO;
        for index in 0..self.input.size(1) {
            let real = elements.get(row * strides[0] + index * strides[1]).widen();
            let weight = <T::Wide as Element>::from_i64(i64::from(bytes.get(weight_at(index))));
            sum = sum.plus(real.times(weight).times(scales.get(scale_at(index)).widen()));
        }
        Ok(sum)
    }
}
