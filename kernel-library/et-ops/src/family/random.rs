//! Pseudorandom numbers: a function of a seed, of the execution of the program and of the node that draws.

use et_core::{Args, Element, Error, Output, Result, ScalarType};

use super::{choice, fill};
use crate::Meta;
use crate::math::Math;

/// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
pub struct Random {
    key: [u32; 2],
    counter: [u32; 4],
    words: [u32; 4],
    /// The words of the block that are still to be drawn.
    left: usize,
}

impl Random {
    /// The numbers that a node draws in an execution.
    #[must_use]
    pub const fn new(seed: u64, execution: u64, node: u32) -> Self {
        let counter = [0, node, execution as u32, (execution >> 32) as u32];
        Self { key: [seed as u32, (seed >> 32) as u32], counter, words: [0; 4], left: 0 }
    }

    /// The generator of a call with the arguments `state`, int64 `[2]` with the seed and the number of executions before,
    /// the sizes of the output, and the number of the node.
    pub fn of(args: &Args<'_, '_>) -> Result<Self> {
        let (state, node) = (args.tensor(0)?, u32::try_from(args.int(2)?).map_err(|_| Error::InvalidArgument)?);
        let (numbers, step) = (state.input::<i64>()?, state.strides()[0]);
        Ok(Self::new(numbers.get(0) as u64, numbers.get(step) as u64, node))
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        if self.left == 0 {
            (self.words, self.left) = (block(self.counter, self.key), 4);
            self.counter[0] = self.counter[0].wrapping_add(1);
        }
        self.left -= 2;
        let first = 2 - self.left;
        (self.words[first] as u64) << 32 | self.words[first + 1] as u64
    }

    /// A multiple of 2^-`precision` from 0 up to and without 1; at most 53 bits.
    pub const fn fraction_of(&mut self, precision: u32) -> f64 {
        (self.bits() >> (64 - precision)) as f64 / (1_u64 << precision) as f64
    }

    /// A number from 0 up to and without 1.
    pub const fn fraction(&mut self) -> f64 {
        self.fraction_of(53)
    }
}

/// Ten rounds of multiplications, with another key in each.
const fn block(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    let mut round = 0;
    while round < 10 {
        let [first, second, third, fourth] = counter;
        let left = first as u64 * 0xd251_1f53;
        let right = third as u64 * 0xcd9e_8d57;
        counter =
            [(right >> 32) as u32 ^ second ^ key[0], right as u32, (left >> 32) as u32 ^ fourth ^ key[1], left as u32];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
        round += 1;
    }
    counter
}

/// The rule of operators with the arguments of [`Random::of`]: `float32` unless the caller wants another type.
pub fn drawn(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let state = args.tensor(0)?;
    if state.shape().sizes() != [2] || state.scalar_type() != ScalarType::Long {
        return Err(Error::InvalidArgument);
    }
    Ok(Meta { scalar_type: choice::scalar_type(args, 3, ScalarType::Float)?, shape: fill::sizes(args, 1)? })
}

/// Numbers from 0 up to and without 1, all equally likely.
pub fn uniform<T: Element>(elements: Output<'_, T>, mut random: Random) -> Result<()> {
    // The number of bits that the dtype holds between 1/2 and 1, so that no number is rounded up to 1.
    let precision = match T::TYPE {
        ScalarType::Double => 53,
        ScalarType::Float => 24,
        ScalarType::Half => 11,
        _ => 8,
    };
    (0..elements.len()).for_each(|index| elements.set(index, T::from_f64(random.fraction_of(precision))));
    Ok(())
}

/// Numbers of the standard normal distribution, by Box and Muller's method: a random direction, and a distance whose square is
/// exponentially distributed.
pub fn normal<T: Element>(elements: Output<'_, T>, mut random: Random) -> Result<()> {
    for index in 0..elements.len() {
        let distance = Math::sqrt(-2.0 * Math::ln(1.0 - random.fraction()));
        let angle = core::f64::consts::TAU * random.fraction();
        elements.set(index, T::from_f64(distance * Math::cos(angle)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Random, block};

    #[test]
    fn blocks_are_those_of_the_reference() {
        assert_eq!(block([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(block([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn seeds_executions_and_nodes_have_numbers_of_their_own() {
        let first = |seed, execution, node| Random::new(seed, execution, node).bits();
        let drawn = [first(0, 0, 0), first(1, 0, 0), first(0, 1, 0), first(0, 0, 1), first(1 << 32, 0, 0)];
        let different: std::collections::BTreeSet<u64> = drawn.into_iter().collect();
        assert_eq!(different.len(), drawn.len());
    }

    #[test]
    fn fractions_fill_the_unit_interval_evenly() {
        let mut random = Random::new(0, 0, 0);
        let mut counts = [0; 8];
        for _ in 0..8000 {
            counts[(random.fraction() * 8.0) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_fraction_has_no_more_bits_than_asked_for() {
        let mut random = Random::new(0, 0, 0);
        assert!((0..1000).all(|_| (random.fraction_of(8) * 256.0).fract() == 0.0));
    }
}
