//! How a range is chosen from the elements that were seen.

mod distribution;
mod mean_square;
mod percentile;

pub use distribution::{Distribution, Extent};

use crate::parameters::{Bounds, Parameters};

/// How ranges are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Observer {
    /// From the least to the greatest element.
    MinMax,
    /// The range beside which the other elements lie, half of them on each side.
    Percentile {
        /// How many of a million elements it holds: 999,900 for 99.99 percent.
        kept_per_million: u32,
    },
    /// The range with the least mean square error.
    MeanSquare,
}

impl Observer {
    /// Whether the least and the greatest element are all that it needs.
    pub const fn needs_only_extent(self) -> bool {
        matches!(self, Self::MinMax)
    }

    /// The parameters for what was seen; `None` where nothing finite was.
    pub fn choose(self, seen: &Distribution, bounds: Bounds) -> Option<Parameters> {
        let Extent { least, greatest } = seen.extent().filter(|extent| extent.least <= extent.greatest)?;
        let (least, greatest) = match self {
            Self::MinMax => (least, greatest),
            Self::Percentile { kept_per_million } => percentile::range(seen, kept_per_million),
            Self::MeanSquare => mean_square::range(seen, bounds),
        };
        Some(Parameters::asymmetric(least, greatest, bounds))
    }
}
