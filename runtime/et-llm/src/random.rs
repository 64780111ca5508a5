//! Random numbers that are the same everywhere for the same seed.

/// A generator of 64 random bits at a time: `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014), whose every seed gives a full period.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The generator of a seed.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next bits.
    pub const fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `[0, 1)` of 24 bits, so that the number is a binary32.
    pub fn fraction(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1_u32 << 24) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_paper() {
        // The first numbers of the reference implementation for the seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!([random.bits(), random.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn fractions_fill_the_unit_interval_evenly() {
        let mut random = Random::new(1);
        let mut counts = [0_u32; 4];
        for _ in 0..4000 {
            counts[(random.fraction() * 4.0) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
