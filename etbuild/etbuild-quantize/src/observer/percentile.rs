//! The range that keeps a percentage of the elements.

use super::{Distribution, Extent};

/// The range that keeps `kept_per_million` elements and clips the same number on each side.
pub fn range(seen: &Distribution, kept_per_million: u32) -> (f32, f32) {
    let Some(Extent { least, greatest }) = seen.extent() else { return (0.0, 0.0) };
    let total: u64 = seen.bins().map(|(_, count)| count).sum();
    let outside = total.saturating_mul(u64::from(1_000_000_u32.saturating_sub(kept_per_million))) / 2_000_000;
    let bins: Vec<(f64, u64)> = seen.bins().collect();
    let half = seen.width() / 2.0;
    let low = cut(bins.iter().copied(), outside).map_or(least, |middle| (middle - half) as f32);
    let high = cut(bins.iter().rev().copied(), outside).map_or(greatest, |middle| (middle + half) as f32);
    (low.max(least), high.min(greatest))
}

/// The first bin that is not completely clipped.
fn cut(bins: impl Iterator<Item = (f64, u64)>, outside: u64) -> Option<f64> {
    let mut passed = 0;
    for (middle, count) in bins {
        passed += count;
        if passed > outside {
            return Some(middle);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_is_clipped() {
        let mut elements: Vec<f32> = (0..9999).map(|number| number as f32 / 9999.0).collect();
        elements.push(100.0);
        let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        let (low, high) = range(&Distribution::of(&bytes, false), 999_000);
        assert!(low >= 0.0 && (0.9..1.2).contains(&high), "{low} {high}");
        assert_eq!(range(&Distribution::of(&bytes, false), 1_000_000), (0.0, 100.0));
    }
}
