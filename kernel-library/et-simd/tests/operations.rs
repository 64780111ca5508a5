//! Compares every operation of every ISA of this machine with scalar arithmetic.
#![allow(unsafe_code)] // One operation works through pointers.

use et_simd::{Float, Integer, Level, Simd, Work};

/// Sample values, some halfway between integers.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|index| (index as f32 * 37.0) % 101.0 - 50.0 + (index % 4) as f32 * 0.5).collect()
}

struct Unary<F>(F);

/// Results of many operations on two vectors, each with the expected result.
struct Arithmetic;

type Pairs = Vec<(&'static str, Vec<f32>, Vec<f32>)>;

impl Work for Arithmetic {
    type Output = Pairs;
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) -> Pairs {
        let (left, right) = (numbers(S::LANES + 3), numbers(S::LANES + 9).split_off(7));
        let (a, b) = (isa.load(&left, 0), isa.load(&right, 0));
        let lanes = |vector: S::F32| {
            let mut output = vec![0.0; S::LANES];
            isa.store(&mut output, 0, vector);
            output
        };
        let zip = |function: fn(f32, f32) -> f32| {
            left.iter().zip(&right).take(S::LANES).map(|(a, b)| function(*a, *b)).collect::<Vec<_>>()
        };
        let rounded = |function: fn(f32, f32) -> f32| {
            let pairs = left.iter().zip(&right).take(S::LANES);
            pairs.map(|(a, b)| function(a.round_ties_even(), b.round_ties_even())).collect()
        };
        let (m, n, three) = (a.to_integer(), b.to_integer(), isa.splat(3.0));
        let integers = |vector: S::I32| lanes(vector.to_float());
        vec![
            ("add", lanes(a + b), zip(|a, b| a + b)),
            ("sub", lanes(a - b), zip(|a, b| a - b)),
            ("mul", lanes(a * b), zip(|a, b| a * b)),
            ("div", lanes(a / b), zip(|a, b| a / b)),
            ("mul_add", lanes(a.mul_add(b, three)), zip(|a, b| a * b + 3.0)),
            ("neg_mul_add", lanes(a.neg_mul_add(b, three)), zip(|a, b| 3.0 - a * b)),
            ("min", lanes(a.min(b)), zip(f32::min)),
            ("max", lanes(a.max(b)), zip(f32::max)),
            ("abs", lanes(a.abs()), zip(|a, _| a.abs())),
            ("neg", lanes(a.neg()), zip(|a, _| -a)),
            ("copy_sign", lanes(a.copy_sign(b)), zip(f32::copysign)),
            ("sqrt", lanes(a.abs().sqrt()), zip(|a, _| a.abs().sqrt())),
            ("round", lanes(a.round()), zip(|a, _| a.round_ties_even())),
            ("to_integer", lanes(a.to_integer().to_float()), zip(|a, _| a.round_ties_even())),
            ("power", lanes(a.times_power_of_two(three)), zip(|a, _| a * 8.0)),
            ("select", lanes(a.select(a.is_less(b), three)), zip(|a, b| if a < b { a } else { 3.0 })),
            ("equal", lanes(a.select(a.is_equal(a.round()), b)), zip(|a, b| if a == a.round() { a } else { b })),
            ("integer add", integers(m + n), rounded(|a, b| a + b)),
            ("integer sub", integers(m - n), rounded(|a, b| a - b)),
            ("integer mul", integers(m * n), rounded(|a, b| a * b)),
            ("integer mul_words", integers(m.mul_words(n.words())), rounded(|a, b| a * b)),
            ("integer min", integers(m.min(n)), rounded(f32::min)),
            ("integer max", integers(m.max(n)), rounded(f32::max)),
            ("sum", vec![a.sum()], vec![left[..S::LANES].iter().sum()]),
            ("greatest", vec![a.greatest()], vec![left[..S::LANES].iter().copied().fold(f32::MIN, f32::max)]),
            ("least", vec![a.least()], vec![left[..S::LANES].iter().copied().fold(f32::MAX, f32::min)]),
        ]
    }
}

#[test]
fn arithmetic_is_that_of_single_numbers() {
    for level in Level::available() {
        for (name, actual, expected) in level.run(Arithmetic) {
            assert_eq!(actual, expected, "{} {name}", level.name());
        }
    }
}

/// The result is NaN if the second operand is NaN.
struct NotANumber;

impl Work for NotANumber {
    type Output = [f32; 2];
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) -> [f32; 2] {
        let nan = isa.splat(f32::NAN);
        [isa.splat(0.0).max(nan).sum(), isa.splat(0.0).min(nan).sum()]
    }
}

#[test]
fn the_other_number_of_least_and_greatest_may_be_none() {
    for level in Level::available() {
        assert!(level.run(NotANumber).iter().all(|number| number.is_nan()), "{}", level.name());
    }
}

impl<F: Fn(f32) -> f32> Work for Unary<F> {
    type Output = Vec<(usize, Vec<f32>, Vec<i8>)>;
    /// Copies slices of every length, through `f32` lanes and through int8.
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) -> Self::Output {
        let mut results = Vec::new();
        for length in 0..3 * S::LANES {
            let input: Vec<f32> = numbers(length).into_iter().map(&self.0).collect();
            let bytes: Vec<i8> = input.iter().map(|number| *number as i8).collect();
            let (mut output, mut output_bytes) = (vec![9.0; length + 1], vec![9; length + 1]);
            for at in (0..length).step_by(S::LANES) {
                let vector = isa.load(&input, at);
                isa.store(&mut output[..length], at, vector);
                let four = isa.splat_i32(4);
                let vector = isa.load_i8(&bytes, at) * four;
                isa.store_i8(&mut output_bytes[..length], at, vector);
            }
            results.push((length, output, output_bytes));
        }
        results
    }
}

#[test]
fn slices_of_any_length_are_loaded_and_stored() {
    for level in Level::available() {
        for (length, output, bytes) in level.run(Unary(|number| number)) {
            let input = numbers(length);
            assert_eq!(output[..length], input, "{}", level.name());
            assert_eq!(output[length], 9.0, "{}", level.name());
            let expected: Vec<i8> =
                input.iter().map(|number| (i32::from(*number as i8) * 4).clamp(-128, 127) as i8).collect();
            assert_eq!(bytes[..length], expected, "{}", level.name());
            assert_eq!(bytes[length], 9, "{}", level.name());
        }
    }
}

/// A square tile, transposed, and the elements around the tile.
struct Transposed;

impl Work for Transposed {
    type Output = bool;
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) -> bool {
        let step = S::LANES + 3;
        let input = numbers(S::LANES * step);
        let mut output = vec![0.0; S::LANES * step];
        // SAFETY: both tiles have at least `LANES` rows of at least `LANES` elements.
        unsafe { isa.transpose(input.as_ptr(), step, output.as_mut_ptr(), step) };
        (0..S::LANES).all(|row| {
            (0..S::LANES).all(|column| output[column * step + row] == input[row * step + column])
                && output[row * step + S::LANES..][..3] == [0.0; 3]
        })
    }
}

#[test]
fn squares_are_transposed() {
    for level in Level::available() {
        assert!(level.run(Transposed), "{}", level.name());
    }
}
