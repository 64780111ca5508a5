//! Discrete Fourier transforms in place, in the memory of the output.
//!
//! A mixed-radix FFT: a length is split into its prime factors. For each factor, elements a quotient apart go through a
//! small transform and are multiplied by twiddle factors (decimation in frequency, Gentleman and Sande). The
//! digit-reversed result is put in order by following the cycles of the permutation.
//! Source: W. M. Gentleman and G. Sande, "Fast Fourier Transforms: for fun and profit", 1966.

use et_core::{Complex, Error, Output, Part, Result};

use crate::math::Math;

/// The largest prime factor of a length: the elements of a small transform are held on the stack.
const LARGEST_FACTOR: usize = 61;
/// The most prime factors that a length below 2^31 has.
const MOST_FACTORS: usize = 31;

/// The sign of the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Minus.
    Forward,
    /// Plus; the result is not divided by the length.
    Backward,
}

/// Complex numbers at positions that can be read and written.
pub trait Sequence<P> {
    /// The element at `index`.
    fn get(&self, index: usize) -> Complex<P>;
    /// Stores the element at `index`.
    fn set(&self, index: usize, element: Complex<P>);
}

/// Complex elements at equal distances.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a, P> {
    /// The elements of the whole tensor.
    pub elements: Output<'a, Complex<P>>,
    /// The offset of the first.
    pub start: usize,
    /// The stride between neighbouring elements.
    pub step: usize,
}

/// Real elements at equal distances, two neighbours taken as real and imaginary part.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a, P> {
    /// The elements of the whole tensor.
    pub elements: Output<'a, P>,
    /// The offset of the first.
    pub start: usize,
    /// The stride between neighbouring elements.
    pub step: usize,
}

impl<P: Part> Sequence<P> for Elements<'_, P> {
    fn get(&self, index: usize) -> Complex<P> {
        self.elements.get(self.start + index * self.step)
    }
    fn set(&self, index: usize, element: Complex<P>) {
        self.elements.set(self.start + index * self.step, element);
    }
}

impl<P: Part> Sequence<P> for Pairs<'_, P> {
    fn get(&self, index: usize) -> Complex<P> {
        let at = self.start + 2 * index * self.step;
        Complex::new(self.elements.get(at), self.elements.get(at + self.step))
    }
    fn set(&self, index: usize, element: Complex<P>) {
        let at = self.start + 2 * index * self.step;
        self.elements.set(at, element.real);
        self.elements.set(at + self.step, element.imaginary);
    }
}

/// The `numerator / denominator`-th part of a turn on the unit circle.
pub fn turn<P: Part + Math>(direction: Direction, numerator: usize, denominator: usize) -> Complex<P> {
    let numerator = (numerator % denominator) as i64;
    // The sine and cosine of a small angle are more exact.
    let nearest = if 2 * numerator > denominator as i64 { numerator - denominator as i64 } else { numerator };
    let angle = P::from_f64(core::f64::consts::TAU * nearest as f64 / denominator as f64);
    match direction {
        Direction::Forward => Complex::new(angle.cos(), angle.sin().negated()),
        Direction::Backward => Complex::new(angle.cos(), angle.sin()),
    }
}

/// The prime factors of a length.
struct Factors {
    factors: [usize; MOST_FACTORS],
    count: usize,
}

impl Factors {
    /// The prime factors of `length`; an error if a factor is above [`LARGEST_FACTOR`].
    fn of(mut length: usize) -> Result<Self> {
        let mut found = Self { factors: [1; MOST_FACTORS], count: 0 };
        let mut factor = 2;
        while length > 1 {
            if factor > LARGEST_FACTOR {
                return Err(Error::NotSupported);
            }
            while length.is_multiple_of(factor) {
                *found.factors.get_mut(found.count).ok_or(Error::NotSupported)? = factor;
                found.count += 1;
                length /= factor;
            }
            factor += 1;
        }
        Ok(found)
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        self.factors.into_iter().take(self.count)
    }

    /// The digit reversal of `index`.
    fn reversed(&self, mut index: usize, length: usize) -> usize {
        let (mut block, mut weight, mut place) = (length, 1, 0);
        for factor in self.all() {
            block /= factor;
            place += index / block * weight;
            index %= block;
            weight *= factor;
        }
        place
    }
}

/// Whether [`transform`] supports this length.
pub fn is_supported(length: usize) -> bool {
    Factors::of(length).is_ok()
}

/// Transforms the first `length` elements. A length with a prime factor above 61 is refused.
pub fn transform<P: Part + Math>(sequence: &impl Sequence<P>, length: usize, direction: Direction) -> Result<()> {
    let factors = Factors::of(length)?;
    let mut block = length;
    for factor in factors.all() {
        (0..length).step_by(block).for_each(|start| split(sequence, start, block, factor, direction));
        block /= factor;
    }
    reorder(sequence, length, &factors);
    Ok(())
}

/// A step on a block: transforms elements that are a `factor`-th of the block apart, and multiplies by twiddle factors.
fn split<P: Part + Math>(sequence: &impl Sequence<P>, start: usize, block: usize, factor: usize, direction: Direction) {
    let quotient = block / factor;
    let mut held = [Complex::new(P::ZERO, P::ZERO); LARGEST_FACTOR];
    for offset in 0..quotient {
        let held = &mut held[..factor];
        held.iter_mut().enumerate().for_each(|(index, slot)| *slot = sequence.get(start + offset + index * quotient));
        let step = turn(direction, offset, block);
        let mut twiddle = Complex::new(P::ONE, P::ZERO);
        for bin in 0..factor {
            let element = small_transform(held, bin, direction);
            sequence.set(start + offset + bin * quotient, element.times(twiddle));
            twiddle = twiddle.times(step);
        }
    }
}

/// Element `bin` of the transform of a few elements.
fn small_transform<P: Part + Math>(held: &[Complex<P>], bin: usize, direction: Direction) -> Complex<P> {
    match held {
        [first, second] if bin == 0 => first.plus(*second),
        [first, second] => first.minus(*second),
        _ => held.iter().enumerate().fold(Complex::new(P::ZERO, P::ZERO), |sum, (index, element)| {
            sum.plus(element.times(turn(direction, index * bin, held.len())))
        }),
    }
}

/// Undoes the digit reversal; each cycle of the permutation starts at its least index.
fn reorder<P: Part>(sequence: &impl Sequence<P>, length: usize, factors: &Factors) {
    for first in 0..length {
        let mut place = factors.reversed(first, length);
        while place > first {
            place = factors.reversed(place, length);
        }
        if place < first {
            continue;
        }
        let mut carried = sequence.get(first);
        let mut place = factors.reversed(first, length);
        while place != first {
            let displaced = sequence.get(place);
            sequence.set(place, carried);
            carried = displaced;
            place = factors.reversed(place, length);
        }
        sequence.set(first, carried);
    }
}

/// The factor of a transform over `count` elements: normalization 0 is 1, normalization 1 is `1 / sqrt(count)`,
/// normalization 2 is `1 / count`.
pub fn scale<P: Part + Math>(normalization: i64, count: usize) -> Result<P> {
    let count = P::from_i64(count as i64);
    match normalization {
        0 => Ok(P::ONE),
        1 => Ok(P::ONE / count.sqrt()),
        2 => Ok(P::ONE / count),
        _ => Err(Error::InvalidArgument),
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use core::cell::Cell;

    use super::*;

    struct Cells(Vec<Cell<Complex<f64>>>);

    impl Sequence<f64> for Cells {
        fn get(&self, index: usize) -> Complex<f64> {
            self.0[index].get()
        }
        fn set(&self, index: usize, element: Complex<f64>) {
            self.0[index].set(element);
        }
    }

    fn numbers(length: usize) -> Vec<Complex<f64>> {
        (0..length).map(|index| Complex::new((index * index % 7) as f64 - 3.0, (index % 5) as f64)).collect()
    }

    #[test]
    fn a_transform_is_the_sum_of_its_definition() {
        for length in [1, 2, 3, 4, 6, 8, 12, 15, 16, 30, 61, 64, 100] {
            let (elements, cells) = (numbers(length), Cells(numbers(length).into_iter().map(Cell::new).collect()));
            transform(&cells, length, Direction::Forward).unwrap();
            for bin in 0..length {
                let expected = small_transform(&elements, bin, Direction::Forward);
                let error = cells.get(bin).minus(expected);
                assert!(error.real.abs() + error.imaginary.abs() < 1e-9, "{length} {bin} {error:?}");
            }
        }
    }

    #[test]
    fn back_and_forth_gives_length_times_the_elements() {
        let cells = Cells(numbers(60).into_iter().map(Cell::new).collect());
        transform(&cells, 60, Direction::Forward).unwrap();
        transform(&cells, 60, Direction::Backward).unwrap();
        for (index, element) in numbers(60).into_iter().enumerate() {
            let error = cells.get(index).scaled(1.0 / 60.0).minus(element);
            assert!(error.real.abs() + error.imaginary.abs() < 1e-12);
        }
    }

    #[test]
    fn a_large_prime_is_refused() {
        assert!(!is_supported(67) && !is_supported(134) && is_supported(122) && is_supported(1 << 30));
    }
}
