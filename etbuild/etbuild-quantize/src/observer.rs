//! How a range is chosen from the elements that were seen.

mod distribution;
mod mean_square;
mod percentile;

pub use distribution::{Distribution, Extent};

use crate::parameters::{Bounds, Parameters};

/// How ranges are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Observer {
    /// From the least to the greatest element.
    MinMax,
    /// The narrowest range beside which at most this percentage of the elements lie on both sides together is cut off: 99.99
    /// keeps all but one in ten thousand.
    Percentile(f64),
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
            Self::Percentile(kept) => percentile::range(seen, kept),
            Self::MeanSquare => mean_square::range(seen, bounds),
        };
        Some(Parameters::asymmetric(least, greatest, bounds))
    }
}
