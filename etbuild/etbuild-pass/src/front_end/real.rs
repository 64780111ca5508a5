//! Real numbers as options.

/// A finite real number that is compared by its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Real(u64);

impl Real {
    /// The number of a float; -0 becomes 0.
    pub fn new(number: f64) -> Self {
        Self((number + 0.0).to_bits())
    }

    /// The number as a float.
    pub const fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}
