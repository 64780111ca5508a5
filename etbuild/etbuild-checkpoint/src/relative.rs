//! The buckets of relative positions (Raffel et al. 2020): half of them are for single distances, the others grow by a factor.

/// The bucket of a distance among `buckets`.
pub fn bucket(distance: usize, buckets: usize, farthest: usize) -> usize {
    let exact = buckets / 2;
    if distance < exact {
        return distance;
    }
    // `transformers` computes in `float32`.
    let [distance, single, farthest] = [distance, exact.max(1), farthest].map(|number| number as f32);
    let share = (distance / single).ln() / (f64::from(farthest) / f64::from(single)).ln() as f32;
    let above = share * (buckets - exact) as f32;
    (exact + above.max(0.0) as usize).min(buckets.saturating_sub(1))
}

/// The buckets of keys at positions `0..count` for tokens at these positions, row by row: the second half of the buckets is for keys
/// behind the token.
pub fn both_ways(count: usize, buckets: usize, farthest: usize) -> Vec<i64> {
    let half = buckets / 2;
    let of = |token: usize, key: usize| {
        let behind = if key > token { half } else { 0 };
        i64::try_from(behind + bucket(token.abs_diff(key), half, farthest)).unwrap_or(0)
    };
    (0..count).flat_map(|token| (0..count).map(move |key| of(token, key))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The buckets of `MPNetEncoder.relative_position_bucket` of `transformers` end at these distances.
    #[test]
    fn buckets_are_those_of_transformers() {
        let ends =
            [(7, 7), (8, 8), (11, 8), (12, 9), (15, 9), (16, 10), (22, 10), (23, 11), (31, 11), (32, 12), (45, 12)];
        for (distance, wanted) in ends.into_iter().chain([(46, 13), (63, 13), (64, 14), (90, 14), (91, 15), (200, 15)])
        {
            assert_eq!(bucket(distance, 16, 128), wanted, "{distance}");
        }
    }

    #[test]
    fn near_distances_have_buckets_of_their_own_and_far_ones_share() {
        let found = [0, 1, 15, 16, 17, 20, 64, 127, 128, 1000].map(|distance| bucket(distance, 32, 128));
        assert_eq!(found, [0, 1, 15, 16, 16, 17, 26, 31, 31, 31]);
        assert_eq!(both_ways(3, 8, 128), [0, 5, 6, 1, 0, 5, 2, 1, 0]);
    }
}
