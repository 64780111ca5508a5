//! The range with the smallest mean square error: rounding inside of the range, clipping outside.

use super::{Distribution, Extent};
use crate::parameters::Bounds;

/// The candidates for each end.
const STEPS: usize = 64;
/// The narrowest candidate, relative to the widest.
const NARROWEST: f64 = 0.1;

/// The best range. Both ends alternately move towards 0 until neither improves the error.
pub fn range(seen: &Distribution, bounds: Bounds) -> (f32, f32) {
    let Some(Extent { least, greatest }) = seen.extent() else { return (0.0, 0.0) };
    let widest = (f64::from(least.min(0.0)), f64::from(greatest.max(0.0)));
    let bins: Vec<(f64, u64)> = seen.bins().collect();
    let mut best = (widest, error(&bins, widest, bounds));
    for _ in 0..4 {
        let before = best;
        for part in parts() {
            best = better(best, (widest.0 * part, best.0.1), &bins, bounds);
        }
        for part in parts() {
            best = better(best, (best.0.0, widest.1 * part), &bins, bounds);
        }
        if best == before {
            break;
        }
    }
    (best.0.0 as f32, best.0.1 as f32)
}

fn parts() -> impl Iterator<Item = f64> {
    (0..=STEPS).map(|step| 1.0 - (1.0 - NARROWEST) * step as f64 / STEPS as f64)
}

type Scored = ((f64, f64), f64);

fn better(best: Scored, candidate: (f64, f64), bins: &[(f64, u64)], bounds: Bounds) -> Scored {
    let found = error(bins, candidate, bounds);
    if found < best.1 { (candidate, found) } else { best }
}

/// The sum of squared errors.
fn error(bins: &[(f64, u64)], (low, high): (f64, f64), bounds: Bounds) -> f64 {
    let scale = (high - low) / (bounds.highest - bounds.lowest) as f64;
    let rounding = scale * scale / 12.0;
    let square = |(middle, count): &(f64, u64)| {
        let outside = (low - middle).max(middle - high).max(0.0);
        (outside * outside + rounding) * *count as f64
    };
    bins.iter().map(square).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(elements: &[f32]) -> Distribution {
        let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        Distribution::of(&bytes, false)
    }

    #[test]
    fn uniform_elements_keep_the_range_and_outliers_are_clipped() {
        let mut elements: Vec<f32> = (0..2_000_000).map(|number| number as f32 / 1_000_000.0 - 1.0).collect();
        let (low, high) = range(&seen(&elements), Bounds::ACTIVATION);
        assert!(low < -0.95 && high > 0.95, "{low} {high}");
        elements.push(20.0);
        let (_, high) = range(&seen(&elements), Bounds::ACTIVATION);
        assert!(high < 10.0, "{high}");
    }
}
