//! Complex numbers, which kernels store, copy and take apart.

use crate::element::sealed::Raw;
use crate::{Element, Float, ScalarType};

/// A complex number: the real part is first in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Complex<T> {
    /// The real part.
    pub real: T,
    /// The imaginary part.
    pub imaginary: T,
}

/// A type of the parts of complex numbers.
pub trait Part: Float<Wide = Self> {
    /// The type of the complex numbers.
    const COMPLEX: ScalarType;
}

impl Part for f32 {
    const COMPLEX: ScalarType = ScalarType::ComplexFloat;
}

impl Part for f64 {
    const COMPLEX: ScalarType = ScalarType::ComplexDouble;
}

impl<T: Part> Complex<T> {
    /// A number of these parts.
    pub const fn new(real: T, imaginary: T) -> Self {
        Self { real, imaginary }
    }

    /// The number with the opposite imaginary part.
    #[must_use]
    pub fn conjugate(self) -> Self {
        Self { real: self.real, imaginary: self.imaginary.negated() }
    }

    /// `self + other`.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { real: self.real.plus(other.real), imaginary: self.imaginary.plus(other.imaginary) }
    }

    /// `self - other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self { real: self.real.minus(other.real), imaginary: self.imaginary.minus(other.imaginary) }
    }

    /// `self * other`.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self {
            real: self.real.times(other.real).minus(self.imaginary.times(other.imaginary)),
            imaginary: self.real.times(other.imaginary).plus(self.imaginary.times(other.real)),
        }
    }

    /// Both parts times `factor`.
    #[must_use]
    pub fn scaled(self, factor: T) -> Self {
        Self { real: self.real.times(factor), imaginary: self.imaginary.times(factor) }
    }
}

impl<T: Part> Raw for Complex<T> {
    type Bits = [T::Bits; 2];
    #[inline(always)]
    fn from_bits([real, imaginary]: Self::Bits) -> Self {
        Self { real: T::from_bits(real), imaginary: T::from_bits(imaginary) }
    }
    #[inline(always)]
    fn into_bits(self) -> Self::Bits {
        [self.real.into_bits(), self.imaginary.into_bits()]
    }
}

/// Conversions return the real part, the same as in PyTorch.
impl<T: Part> Element for Complex<T> {
    const TYPE: ScalarType = T::COMPLEX;
    fn to_f64(self) -> f64 {
        self.real.to_f64()
    }
    fn to_i64(self) -> i64 {
        self.real.to_i64()
    }
    fn from_f64(value: f64) -> Self {
        Self { real: T::from_f64(value), imaginary: T::ZERO }
    }
    fn from_i64(value: i64) -> Self {
        Self { real: T::from_i64(value), imaginary: T::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_of_conjugates_is_real() {
        let number = Complex::new(3.0_f32, 4.0);
        assert_eq!(number.times(number.conjugate()), Complex::new(25.0, 0.0));
    }

    #[test]
    fn the_real_part_comes_first() {
        assert_eq!(Complex::new(1.0_f32, 2.0).into_bits(), [1.0, 2.0]);
        assert_eq!(Complex::<f64>::from_f64(2.5), Complex::new(2.5, 0.0));
    }
}
