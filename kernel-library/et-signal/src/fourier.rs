//! The FFT of real numbers in 32-bit fixed point, as an FFT of half as many complex numbers (Sorensen et al. 1987, "Real-valued fast
//! Fourier transform algorithms"): decimation in time with radix 4, 2, 3 and 5. Each stage divides by at least its radix, so that no
//! sum leaves 32 bits.

use core::cell::Cell;

use crate::Table;

/// The most stages of a transform.
const STAGES: usize = 8;

/// A complex number, or a 64-bit power, in memory.
type Pair = [Cell<i32>; 2];

/// The FFT of a length.
pub struct Fourier<T> {
    /// The cosines and the sines of the twiddle factors in the order of their use, with 31 fractional bits: those of each stage but the
    /// first, then those of the bins.
    turns: T,
    /// The number of complex numbers.
    count: usize,
    radices: [usize; STAGES],
}

/// A complex number.
#[derive(Clone, Copy, Default)]
struct Complex {
    real: i32,
    imaginary: i32,
}

/// Whether there is an FFT of so many real numbers: a multiple of 4 whose prime factors are 2, 3 and 5, with up to eight stages.
pub fn is_supported(length: usize) -> bool {
    let stages = radices(length / 2).into_iter().filter(|radix| *radix > 0);
    length.is_multiple_of(4) && length > 0 && stages.product::<usize>() == length / 2
}

/// The twiddle factors of a length.
pub const fn turns(length: usize) -> usize {
    let radices = radices(length / 2);
    let (mut size, mut turns, mut stage) = (1, 0, STAGES);
    while stage > 0 {
        stage -= 1;
        let radix = radices[stage];
        if radix > 0 {
            if size > 1 {
                turns += size * (radix - 1);
            }
            size *= radix;
        }
    }
    turns + length / 4 + 1
}

/// The radices of the stages of a transform of `count` complex numbers, the last stage first; 0 where there is none.
pub const fn radices(count: usize) -> [usize; STAGES] {
    let (mut radices, mut rest, mut stage) = ([0; STAGES], count, 0);
    while stage < STAGES {
        let radix = match rest {
            0 | 1 => 0,
            rest if rest.is_multiple_of(4) => 4,
            rest if rest.is_multiple_of(2) => 2,
            rest if rest.is_multiple_of(3) => 3,
            rest if rest.is_multiple_of(5) => 5,
            _ => 0,
        };
        if let Some(quotient) = rest.checked_div(radix) {
            rest = quotient;
        }
        radices[stage] = radix;
        stage += 1;
    }
    radices
}

/// The bits by which a stage shrinks numbers.
const fn shift_of(radix: usize) -> u32 {
    match radix {
        2 => 1,
        5 => 3,
        _ => 2,
    }
}

impl<T: Table<i32>> Fourier<T> {
    /// The FFT of `length` real numbers, which [`is_supported`].
    pub const fn new(turns: T, length: usize) -> Self {
        Self { turns, count: length / 2, radices: radices(length / 2) }
    }

    /// Stores `measure` of the 64-bit powers of the bins from 0 to half the length, two words each. `pair` gives the numbers at
    /// `2 * index` and `2 * index + 1`, of up to 29 bits and a sign. Returns the bits by which lines of the spectrum are smaller than
    /// those of the numbers.
    pub fn powers(&self, work: &[Cell<i32>], pair: impl Fn(usize) -> (i32, i32), measure: impl Fn(u64) -> u64) -> u32 {
        let pairs = work.as_chunks::<2>().0;
        let Some((numbers, [last, ..])) = pairs.split_at_checked(self.count) else { return 0 };
        self.load(numbers, pair);
        let (mut turn, shift) = self.stages(numbers);
        let Some((first, rest)) = numbers.split_first() else { return 0 };
        // Number 0 of the transform gives the first and the last bin; every other number gives a bin with its mirror image.
        self.bins(turn, [first, first], [first, last], &measure);
        for (bin, mirror) in rest.iter().zip(rest.iter().rev()).take(self.count / 2) {
            turn += 1;
            self.bins(turn, [bin, mirror], [bin, mirror], &measure);
        }
        shift + 1
    }

    /// Makes the powers of a bin and of its mirror image of the transform of pairs at both.
    #[inline]
    fn bins(&self, turn: usize, from: [&Pair; 2], to: [&Pair; 2], measure: impl Fn(u64) -> u64) {
        let (left, right) = (Complex::of(from[0]), Complex::of(from[1]));
        let even = Complex { real: (left.real + right.real) >> 2, imaginary: (left.imaginary - right.imaginary) >> 2 };
        let odd = Complex { real: (left.imaginary + right.imaginary) >> 1, imaginary: (right.real - left.real) >> 1 };
        let odd = odd.turned(self.turns.pair(2 * turn));
        set_wide(to[0], measure(even.plus(odd).power()));
        set_wide(to[1], measure(even.minus(odd).power()));
    }

    /// The stages; returns the index of the next twiddle factor, and the bits by which numbers shrank.
    fn stages(&self, numbers: &[Pair]) -> (usize, u32) {
        let (mut size, mut turn, mut shift) = (1, 0, 0);
        for radix in self.radices.into_iter().rev().filter(|radix| *radix > 0) {
            for block in numbers.chunks_exact((size * radix).max(1)) {
                match radix {
                    4 => self.four(block, size, turn),
                    2 => self.two(block, size, turn),
                    _ => self.odd(block, size, turn, radix),
                }
            }
            // The first stage turns nothing.
            turn += if size > 1 { size * (radix - 1) } else { 0 };
            size *= radix;
            shift += shift_of(radix);
        }
        (turn, shift)
    }

    /// Combines 2 transforms of `size` numbers.
    fn two(&self, block: &[Pair], size: usize, mut turn: usize) {
        let Some((ones, others)) = block.split_at_checked(size) else { return };
        for (one, other) in ones.iter().zip(others) {
            let (a, b) = (Complex::of(one).shifted(1), Complex::of(other));
            let b = if size == 1 { b.shifted(1) } else { b.turned(self.turns.pair(2 * turn)) };
            a.plus(b).store(one);
            a.minus(b).store(other);
            turn += 1;
        }
    }

    /// Combines 4 transforms of `size` numbers.
    fn four(&self, block: &[Pair], size: usize, mut turn: usize) {
        let Some((first, rest)) = block.split_at_checked(size) else { return };
        let Some((second, rest)) = rest.split_at_checked(size) else { return };
        let Some((third, fourth)) = rest.split_at_checked(size) else { return };
        for (((first, second), third), fourth) in first.iter().zip(second).zip(third).zip(fourth) {
            let (a, c) = (Complex::of(first).shifted(2), Complex::of(third));
            let c = if size == 1 { c.shifted(2) } else { c.turned(self.turns.pair(2 * turn + 2)).shifted(1) };
            let (even, difference) = (a.plus(c), a.minus(c));
            let (b, d) = (Complex::of(second), Complex::of(fourth));
            let (b, d) = if size == 1 {
                (b.shifted(2), d.shifted(2))
            } else {
                let turned = |number: Complex, turn: usize| number.turned(self.turns.pair(2 * turn)).shifted(1);
                (turned(b, turn), turned(d, turn + 2))
            };
            let (odd, turned) = (b.plus(d), b.minus(d).times_minus_i());
            even.plus(odd).store(first);
            even.minus(odd).store(third);
            difference.plus(turned).store(second);
            difference.minus(turned).store(fourth);
            turn += 3;
        }
    }

    /// Combines 3 or 5 transforms of `size` numbers, by the definition.
    fn odd(&self, block: &[Pair], size: usize, mut turn: usize, radix: usize) {
        let (mut numbers, shift) = ([Complex::default(); 5], shift_of(radix) - 1);
        for start in 0..size {
            let places = || block.iter().skip(start).step_by(size.max(1));
            for (index, (number, place)) in numbers.iter_mut().zip(places()).enumerate() {
                *number = Complex::of(place);
                if size > 1 && index > 0 {
                    // Twice the half, which is within 31 bits.
                    let half = number.turned(self.turns.pair(2 * (turn + index - 1)));
                    *number = half.plus(half);
                }
            }
            for (line, place) in places().enumerate() {
                let (mut at, mut sum) = (0, Complex::default());
                for number in numbers.iter().take(radix) {
                    sum = sum.plus(number.turned(root_of_unity(radix, at)).shifted(shift));
                    at += line;
                    at -= if at >= radix { radix } else { 0 };
                }
                sum.store(place);
            }
            turn += radix - 1;
        }
    }

    /// Stores the pairs in the order in which the stages read them: digits of the index in the radices, reversed.
    fn load(&self, numbers: &[Pair], pair: impl Fn(usize) -> (i32, i32)) {
        let stages = self.radices.into_iter().filter(|radix| *radix > 0).count();
        // The last digit of an index is the place in a block of the first stage.
        let run = self.radices.get(stages.wrapping_sub(1)).copied().unwrap_or(1);
        let step = self.count.checked_div(run).unwrap_or(1);
        let (mut digits, mut from) = ([0; STAGES], 0);
        for places in numbers.chunks_exact(run.max(1)) {
            let mut at = from;
            for place in places {
                let (real, imaginary) = pair(at);
                Complex { real, imaginary }.store(place);
                at += step;
            }
            let (mut stage, mut stride) = (stages.saturating_sub(1), step);
            while let Some(next) = stage.checked_sub(1) {
                stage = next;
                let (Some(digit), Some(radix)) = (digits.get_mut(stage), self.radices.get(stage)) else { break };
                stride = stride.checked_div(*radix).unwrap_or(0);
                *digit += 1;
                from += stride;
                if *digit < *radix {
                    break;
                }
                from -= stride * radix;
                *digit = 0;
            }
        }
    }
}

/// The cosine and the sine of a third or a fifth of a turn, times `index`, with 31 fractional bits.
fn root_of_unity(radix: usize, index: usize) -> (i32, i32) {
    const ONE: (i32, i32) = (i32::MAX, 0);
    let roots: &[(i32, i32)] = if radix == 3 {
        const { &[ONE, (-(1 << 30), 1_859_775_393), (-(1 << 30), -1_859_775_393)] }
    } else {
        const COSINES: [i32; 2] = [663_608_942, -1_737_350_766];
        const SINES: [i32; 2] = [2_042_378_317, 1_262_259_218];
        const { &[ONE, (COSINES[0], SINES[0]), (COSINES[1], SINES[1]), (COSINES[1], -SINES[1]), (COSINES[0], -SINES[0])] }
    };
    roots.get(index).copied().unwrap_or(ONE)
}

/// A 64-bit number in two words.
#[inline]
pub fn wide([low, high]: &Pair) -> u64 {
    u64::from(high.get() as u32) << 32 | u64::from(low.get() as u32)
}

#[inline]
fn set_wide([low, high]: &Pair, number: u64) {
    low.set(number as u32 as i32);
    high.set((number >> 32) as i32);
}

impl Complex {
    #[inline]
    const fn of([real, imaginary]: &Pair) -> Self {
        Self { real: real.get(), imaginary: imaginary.get() }
    }

    #[inline]
    fn store(self, [real, imaginary]: &Pair) {
        real.set(self.real);
        imaginary.set(self.imaginary);
    }

    #[inline]
    const fn plus(self, other: Self) -> Self {
        Self { real: self.real.wrapping_add(other.real), imaginary: self.imaginary.wrapping_add(other.imaginary) }
    }

    #[inline]
    const fn minus(self, other: Self) -> Self {
        Self { real: self.real.wrapping_sub(other.real), imaginary: self.imaginary.wrapping_sub(other.imaginary) }
    }

    #[inline]
    const fn shifted(self, bits: u32) -> Self {
        Self { real: self.real >> bits, imaginary: self.imaginary >> bits }
    }

    /// Half of the number times `cosine - i sine`, which have 31 fractional bits.
    #[inline]
    fn turned(self, (cosine, sine): (i32, i32)) -> Self {
        let real = product(self.real, cosine) + product(self.imaginary, sine);
        let imaginary = product(self.imaginary, cosine) - product(self.real, sine);
        Self { real: (real >> 32) as i32, imaginary: (imaginary >> 32) as i32 }
    }

    #[inline]
    const fn times_minus_i(self) -> Self {
        Self { real: self.imaginary, imaginary: self.real.wrapping_neg() }
    }

    #[inline]
    fn power(self) -> u64 {
        let square = |part: i32| product(part, part) as u64;
        square(self.real) + square(self.imaginary)
    }
}

/// The product. Armv6-M, the architecture of Cortex-M without atomics, has a 32-bit product of 32-bit numbers alone.
#[inline]
pub fn product(one: i32, other: i32) -> i64 {
    if cfg!(all(target_arch = "arm", not(target_has_atomic = "32"))) {
        by_halves(one, other)
    } else {
        i64::from(one) * i64::from(other)
    }
}

/// The product by four products of 16-bit halves.
#[inline]
fn by_halves(one: i32, other: i32) -> i64 {
    let ([high, low], [other_high, other_low]) = ([one >> 16, one & 0xffff], [other >> 16, other & 0xffff]);
    let middle = i64::from(high * other_low) + i64::from(low * other_high);
    let lowest = (low as u32).wrapping_mul(other_low as u32);
    (i64::from(high * other_high) << 32) + (middle << 16) + i64::from(lowest)
}

#[cfg(test)]
mod tests {
    use core::f64::consts::TAU;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn powers_are_those_of_the_definition() {
        for length in [4, 8, 12, 16, 20, 60, 64, 100, 128, 256, 320, 400, 480, 512, 1024, 2048] {
            assert!(is_supported(length), "{length}");
            let number = |index: usize| {
                let angle = TAU * index as f64 / length as f64;
                let tones = (3.0 * angle).sin() + 0.2 * (angle * 0.37 * length as f64 / 2.0).cos() - 0.1;
                (tones * 2_f64.powi(28)) as i32
            };
            let work: Vec<Cell<i32>> = std::vec![Cell::new(0); length + 2];
            let turns = crate::tables::turns(length);
            assert_eq!(turns.len(), 2 * super::turns(length));
            let fourier = Fourier::new(&turns[..], length);
            let shift = fourier.powers(&work, |index| (number(2 * index), number(2 * index + 1)), |power| power);
            let exact = |bin: usize| {
                let (mut real, mut imaginary) = (0.0, 0.0);
                for index in 0..length {
                    let angle = TAU * (bin * index % length) as f64 / length as f64;
                    real += f64::from(number(index)) * angle.cos();
                    imaginary -= f64::from(number(index)) * angle.sin();
                }
                (real * real + imaginary * imaginary).sqrt() / 2_f64.powi(shift as i32)
            };
            for (bin, place) in work.as_chunks::<2>().0.iter().enumerate() {
                let (got, exact) = ((wide(place) as f64).sqrt(), exact(bin));
                assert!((got - exact).abs() < 24.0, "{length}: {bin}: {got} and not {exact}");
            }
        }
    }

    #[test]
    fn products_by_halves_are_products() {
        for one in [0, 1, -1, 12_345_678, -98_765_432, i32::MAX, i32::MIN] {
            for other in [0, 3, -7, 0x1234_5678, -0x7654_3210, i32::MAX, i32::MIN] {
                assert_eq!(by_halves(one, other), i64::from(one) * i64::from(other), "{one} {other}");
            }
        }
    }

    #[test]
    fn other_lengths_are_refused() {
        for length in [0, 2, 6, 10, 28, 44, 498, 500_000_000, 1 << 20] {
            assert!(!is_supported(length), "{length}");
        }
    }
}
