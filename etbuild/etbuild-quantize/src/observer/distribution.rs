//! Distributions of observed elements: extent and histogram, independent of the order of elements.

/// The smallest and the largest element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The smallest element.
    pub least: f32,
    /// The largest element.
    pub greatest: f32,
}

impl Extent {
    const NOTHING: Self = Self { least: f32::INFINITY, greatest: f32::NEG_INFINITY };

    /// The extent of the finite elements of `float32`, little-endian.
    pub fn of(bytes: &[u8]) -> Self {
        Self::over(bytes.as_chunks::<4>().0, f32::from_le_bytes)
    }

    /// The extent of the finite values.
    pub fn of_values(values: &[f32]) -> Self {
        Self::over(values, |real| real)
    }

    #[inline]
    fn over<T: Copy>(elements: &[T], real: impl Fn(T) -> f32 + Copy) -> Self {
        let seen = Self::of_all(elements, real);
        // Infinities are rare: filter only after an infinity occurred.
        if seen.least > f32::NEG_INFINITY && seen.greatest < f32::INFINITY {
            return seen;
        }
        Self::of_all(elements, |element| Some(real(element)).filter(|real| real.is_finite()).unwrap_or(f32::NAN))
    }

    /// The extent of all values, infinite values included.
    #[inline]
    fn of_all<T: Copy>(elements: &[T], real: impl Fn(T) -> f32) -> Self {
        let mut lanes = [Self::NOTHING; 8];
        let (rows, rest) = elements.as_chunks::<8>();
        for row in rows {
            lanes.iter_mut().zip(row).for_each(|(lane, element)| lane.see(real(*element)));
        }
        lanes.iter_mut().zip(rest).for_each(|(lane, element)| lane.see(real(*element)));
        lanes.into_iter().fold(Self::NOTHING, Self::joined)
    }

    /// NaN is neither smaller nor larger than a number.
    #[inline]
    fn see(&mut self, element: f32) {
        self.least = if element < self.least { element } else { self.least };
        self.greatest = if element > self.greatest { element } else { self.greatest };
    }

    /// The extent of both.
    #[must_use]
    #[inline]
    pub fn joined(self, other: Self) -> Self {
        Self {
            least: if other.least < self.least { other.least } else { self.least },
            greatest: if other.greatest > self.greatest { other.greatest } else { self.greatest },
        }
    }
}

/// Bins on each side of 0.
const HALF: usize = 2048;

/// The distribution of observed elements. Bins are `2^exponent` wide, with a boundary at 0. Widening merges pairs of
/// bins, so counts are exact and independent of the order and the partition of elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    extent: Extent,
    exponent: i32,
    /// Empty if only the extent was requested.
    counts: Vec<u64>,
}

impl Distribution {
    /// The distribution of elements of `float32`, little-endian; the extent alone if `only_extent`.
    pub fn of(bytes: &[u8], only_extent: bool) -> Self {
        let extent = Extent::of(bytes);
        if only_extent || extent.least > extent.greatest {
            return Self { extent, exponent: i32::MIN, counts: Vec::new() };
        }
        let exponent = exponent_for(extent.least.abs().max(extent.greatest.abs()));
        let mut counts = vec![0; 2 * HALF];
        let inverse = (-f64::from(exponent)).exp2();
        for bytes in bytes.as_chunks::<4>().0 {
            let element = f32::from_le_bytes(*bytes);
            let bin = (f64::from(element) * inverse).floor() + HALF as f64;
            if let Some(count) = counts.get_mut(bin as usize).filter(|_| element.is_finite()) {
                *count += 1;
            }
        }
        Self { extent, exponent, counts }
    }

    /// Adds another distribution.
    pub fn join(&mut self, mut other: Self) {
        self.extent = self.extent.joined(other.extent);
        if self.counts.is_empty() {
            (self.exponent, self.counts) = (other.exponent, other.counts);
        } else if !other.counts.is_empty() {
            let exponent = self.exponent.max(other.exponent);
            self.widen(exponent);
            other.widen(exponent);
            self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        }
    }

    /// The extent; `None` without finite elements.
    pub fn extent(&self) -> Option<Extent> {
        (self.extent.least <= self.extent.greatest).then_some(self.extent)
    }

    /// The bins with a count: center and count.
    pub fn bins(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let width = f64::from(self.exponent).exp2();
        let all = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        all.map(move |(bin, count)| ((bin as f64 - HALF as f64 + 0.5) * width, *count))
    }

    /// The width of a bin.
    pub fn width(&self) -> f64 {
        f64::from(self.exponent).exp2()
    }

    fn widen(&mut self, exponent: i32) {
        if exponent <= self.exponent {
            return;
        }
        let by = (exponent - self.exponent).min(31) as u32;
        let mut wider = vec![0; self.counts.len()];
        for (bin, count) in self.counts.iter().enumerate() {
            let place = ((bin as i64 - HALF as i64) >> by) + HALF as i64;
            if let Some(slot) = usize::try_from(place).ok().and_then(|place| wider.get_mut(place)) {
                *slot += count;
            }
        }
        (self.exponent, self.counts) = (exponent, wider);
    }
}

/// The exponent of the bin width for which [`HALF`] bins cover `largest`.
fn exponent_for(largest: f32) -> i32 {
    let mut exponent = (f64::from(largest.max(f32::MIN_POSITIVE)) / HALF as f64).log2().ceil() as i32;
    while f64::from(exponent).exp2() * HALF as f64 <= f64::from(largest) {
        exponent += 1;
    }
    exponent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(elements: &[f32]) -> Vec<u8> {
        elements.iter().flat_map(|element| element.to_le_bytes()).collect()
    }

    #[test]
    fn the_distribution_does_not_depend_on_the_order_of_parts() {
        let parts: [&[f32]; 3] = [&[0.1, -0.2, 0.3], &[1000.0, -3.0], &[5.0, -1e-5, 0.0]];
        let join = |order: [usize; 3]| {
            let mut joined = Distribution::of(&bytes(parts[order[0]]), false);
            order[1..].iter().for_each(|part| joined.join(Distribution::of(&bytes(parts[*part]), false)));
            joined
        };
        assert_eq!(join([0, 1, 2]), join([2, 0, 1]));
        assert_eq!(join([0, 1, 2]), Distribution::of(&bytes(&parts.concat()), false));
    }

    #[test]
    fn elements_that_are_not_finite_are_ignored() {
        let seen = Distribution::of(&bytes(&[f32::NAN, 1.0, f32::NEG_INFINITY, -2.0]), false);
        assert_eq!(seen.extent(), Some(Extent { least: -2.0, greatest: 1.0 }));
        assert_eq!(seen.bins().map(|(_, count)| count).sum::<u64>(), 2);
        assert_eq!(Distribution::of(&bytes(&[f32::NAN]), false).extent(), None);
    }
}
