//! Pseudorandom numbers. Every call starts from the same seed: a kernel keeps no state between calls.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
pub struct Random(u64);

impl Random {
    /// The generator in its initial state.
    #[must_use]
    pub const fn new() -> Self {
        Self(0)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
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

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn fractions_fill_the_unit_interval_evenly() {
        let mut random = Random::new();
        let mut counts = [0; 8];
        for _ in 0..8000 {
            counts[(random.fraction() * 8.0) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_fraction_has_no_more_bits_than_asked_for() {
        let mut random = Random::new();
        assert!((0..1000).all(|_| (random.fraction_of(8) * 256.0).fract() == 0.0));
    }
}
