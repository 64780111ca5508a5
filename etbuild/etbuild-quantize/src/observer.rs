//! Observers: ranges from observed elements.

mod distribution;
mod mean_square;
mod percentile;

pub use distribution::{Distribution, Extent};

use crate::parameters::{Bounds, Parameters};

/// A method of choosing ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Observer {
    /// From the smallest to the largest element.
    MinMax,
    /// The range that clips a percentage of elements, half of them on each side.
    Percentile {
        /// The elements inside of the range, per million: 999,900 for 99.99 percent.
        kept_per_million: u32,
    },
    /// The range with the smallest mean square error.
    MeanSquare,
}

impl Observer {
    /// Whether the observer needs only the extent, without a histogram.
    pub const fn needs_only_extent(self) -> bool {
        matches!(self, Self::MinMax)
    }

    /// The qparams for observed elements; `None` without finite elements.
    pub fn choose(self, seen: &Distribution, bounds: Bounds) -> Option<Parameters> {
        let Extent { least, greatest } = seen.extent().filter(|extent| extent.least <= extent.greatest)?;
        let (least, greatest) = match self {
            Self::MinMax => (least, greatest),
            Self::Percentile { kept_per_million } => percentile::range(seen, kept_per_million),
            Self::MeanSquare => mean_square::range(seen, bounds),
        };
        Some(Parameters::of_activations(least, greatest, bounds))
    }
}
