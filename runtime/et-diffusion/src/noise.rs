//! Random numbers as PyTorch's generator of the CPU gives them.
//!
//! `torch.randn` fills a tensor of 16 or more elements in blocks of 16 (`normal_fill` in `aten/src/ATen/native/cpu/DistributionTemplates.h`):
//! uniform numbers first, then the Box-Muller transform of each block, whose first half are radii and whose second half are angles. A last
//! block that is not full is drawn anew, and overlaps the block before. Shorter tensors take pairs of numbers in double precision.

use std::f64::consts::TAU;

/// The words of the state of MT19937 (Matsumoto and Nishimura, 1998).
const WORDS: usize = 624;
/// The distance of the words that a new word is mixed of.
const DISTANCE: usize = 397;
/// The elements of a block.
const BLOCK: usize = 16;

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub struct Noise {
    state: [u32; WORDS],
    next: usize,
}

impl Noise {
    /// The generator of `torch.Generator("cpu").manual_seed(seed)`, of which PyTorch takes the lower 32 bits.
    pub fn new(seed: u64) -> Self {
        let mut state = [0; WORDS];
        let mut word = seed as u32;
        for (index, slot) in (0..).zip(&mut state) {
            if index > 0 {
                word = (word ^ word >> 30).wrapping_mul(1_812_433_253).wrapping_add(index);
            }
            *slot = word;
        }
        Self { state, next: WORDS }
    }

    /// The elements of `torch.randn(count)`, within the rounding of its vectorized functions.
    pub fn normal(&mut self, count: usize) -> Vec<f32> {
        if count < BLOCK {
            return self.pairs(count);
        }
        let mut numbers: Vec<f32> = (0..count).map(|_| self.uniform()).collect();
        let (blocks, rest) = numbers.as_chunks_mut();
        blocks.iter_mut().for_each(box_muller);
        if !rest.is_empty()
            && let Some(last) = numbers.last_chunk_mut()
        {
            last.fill_with(|| self.uniform());
            box_muller(last);
        }
        numbers
    }

    /// Numbers in pairs of double precision.
    fn pairs(&mut self, count: usize) -> Vec<f32> {
        let mut numbers = Vec::with_capacity(count + 1);
        while numbers.len() < count {
            let (angle, radius) = (TAU * self.uniform_double(), (-2.0 * (-self.uniform_double()).ln_1p()).sqrt());
            numbers.extend([(radius * angle.cos()) as f32, (radius * angle.sin()) as f32]);
        }
        numbers.truncate(count);
        numbers
    }

    /// A number from 0 to less than 1, of 24 bits.
    fn uniform(&mut self) -> f32 {
        (self.word() & 0xff_ffff) as f32 * 2.0_f32.powi(-24)
    }

    /// A number from 0 to less than 1, of 53 bits.
    fn uniform_double(&mut self) -> f64 {
        let (upper, lower) = (u64::from(self.word()), u64::from(self.word()));
        ((upper << 32 | lower) & ((1 << 53) - 1)) as f64 * 2.0_f64.powi(-53)
    }

    /// The next word of MT19937.
    fn word(&mut self) -> u32 {
        if self.next >= WORDS {
            self.renew();
        }
        let mut word = self.state.get(self.next).copied().unwrap_or_default();
        self.next += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c_5680;
        word ^= word << 15 & 0xefc6_0000;
        word ^ word >> 18
    }

    fn renew(&mut self) {
        for index in 0..WORDS {
            let at = |offset: usize| self.state[(index + offset) % WORDS];
            let mixed = at(0) & 0x8000_0000 | at(1) & 0x7fff_ffff;
            let twist = if mixed & 1 == 0 { 0 } else { 0x9908_b0df };
            self.state[index] = at(DISTANCE) ^ mixed >> 1 ^ twist;
        }
        self.next = 0;
    }
}

/// Turns uniform into normal numbers.
fn box_muller(block: &mut [f32; BLOCK]) {
    let (radii, angles) = block.split_at_mut(BLOCK / 2);
    for (radius, angle) in radii.iter_mut().zip(angles) {
        let length = (-2.0 * (1.0 - *radius).ln()).sqrt();
        let turn = std::f32::consts::TAU * *angle;
        (*radius, *angle) = (length * turn.cos(), length * turn.sin());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expect_near(found: &[f32], expected: &[f32]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-6, "{found} is not {expected}");
        }
    }

    #[test]
    fn words_are_those_of_the_published_generator() {
        let mut noise = Noise::new(5489);
        assert_eq!(noise.word(), 3_499_211_612);
        let tenth_thousandth = (1..10_000).map(|_| noise.word()).last();
        assert_eq!(tenth_thousandth, Some(4_123_659_995));
    }

    /// A seed, the number of elements, and some elements by index.
    type Row = (u64, usize, &'static [(usize, f32)]);

    // The numbers of `torch.randn` of PyTorch 2.15.
    #[test]
    fn numbers_are_those_of_torch() {
        let rows: [Row; 4] = [
            (3, 16, &[(0, -0.076644294), (1, 0.35988152), (8, -0.051680963), (15, 0.4163313)]),
            (3, 1024, &[(0, -0.076644294), (500, 0.28773257), (1023, 0.8006423)]),
            (
                1_099_511_627_783,
                100,
                &[(0, -0.8201345), (83, 0.3078133), (84, 0.12744354), (90, -1.5786136), (99, 0.6402726)],
            ),
            (7, 5, &[(0, -0.1467951), (1, 0.7861413), (2, 0.94682163), (3, -1.114344), (4, 1.6907902)]),
        ];
        for (seed, count, expected) in rows {
            let numbers = Noise::new(seed).normal(count);
            for (index, expected) in expected {
                expect_near(&[numbers[*index]], &[*expected]);
            }
        }
    }
}
