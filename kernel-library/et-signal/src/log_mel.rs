//! Logarithms of the energies of mel bands, and their cosine transform (MFCC; Davis and Mermelstein 1980).

use core::cell::Cell;

use crate::Table;
use crate::fourier::{Fourier, product, wide};
use crate::logarithm::log2;
use crate::root::root;
use crate::scaled::Scaled;

/// The fractional bits of samples and of the weights of bands.
const WEIGHT_BITS: i32 = 15;
/// The fractional bits of the factor from `log2` to the unit of features.
const UNIT_BITS: u32 = 28;

/// The places of frames in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// The samples of the recording.
    pub samples: usize,
    /// The samples of a frame (`n_fft`).
    pub length: usize,
    /// The samples of the window, in the middle of a frame (`win_length`).
    pub window: usize,
    /// The samples from a frame to the next (`hop_length`).
    pub hop: usize,
    /// Whether the first frame has its middle at the first sample (`center`): samples ahead of the recording and behind it are mirrored.
    pub is_centered: bool,
}

/// The bins of a mel band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Band {
    /// The first bin with a weight.
    pub first: i32,
    /// The bins with weights.
    pub count: i32,
    /// The index of the first weight.
    pub weights: i32,
    /// `log2` of the factor of the weighted sum, with 16 fractional bits.
    pub gain: i32,
    /// The bits of the `float32` that is the least sum, or is added to the sum, before the factor.
    pub floor: i32,
}

/// What becomes of the energies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Whether energies are sums of magnitudes instead of powers.
    pub is_magnitude: bool,
    /// Whether the floor is added to a sum instead of being its least value.
    pub adds_floor: bool,
    /// The factor from `log2` to the unit of features without cosines, with 28 fractional bits.
    pub unit: i32,
    /// How far below the greatest of a recording logarithms may be, as `log2` with 16 fractional bits; 0 without a limit.
    pub range: i32,
    /// The fractional bits of the cosines.
    pub cosine_bits: u32,
}

/// Features of a kind.
pub struct LogMel<L, S> {
    /// The frames.
    pub framing: Framing,
    /// The steps behind the spectrum.
    pub output: Output,
    /// The window, with 31 fractional bits.
    pub window: L,
    /// The cosines and the sines of the twiddle factors of the FFT, with 31 fractional bits: those of each stage but the first, then
    /// those of the bins.
    pub turns: L,
    /// The [numbers](Band::numbers) of the bands.
    pub bands: L,
    /// The number of bands.
    pub band_count: usize,
    /// The weights of bins in bands, with 15 fractional bits.
    pub weights: S,
    /// The rows of the cosine transform, a number for each band; empty without a transform.
    pub cosines: S,
    /// The rows of the cosine transform.
    pub cosine_rows: usize,
}

impl Band {
    /// The numbers of a band in a table.
    pub const NUMBERS: usize = 5;

    /// The numbers in the order of the fields.
    pub const fn numbers(self) -> [i32; Self::NUMBERS] {
        let Self { first, count, weights, gain, floor } = self;
        [first, count, weights, gain, floor]
    }

    /// The band at an index of a table.
    #[inline]
    fn at(table: impl Table<i32>, index: usize) -> Self {
        let number = |field: usize| table.at(Self::NUMBERS * index + field);
        Self { first: number(0), count: number(1), weights: number(2), gain: number(3), floor: number(4) }
    }
}

impl Framing {
    /// The frames that the recording has; 0 where it is too short, also for mirroring.
    pub const fn frames(self) -> usize {
        let half = self.length / 2;
        let (shorter, all) = if self.is_centered {
            (self.samples <= half, self.samples + 2 * half)
        } else {
            (self.samples < self.length, self.samples)
        };
        match (all - if shorter { all } else { self.length }).checked_div(self.hop) {
            Some(steps) if !shorter => steps + 1,
            _ => 0,
        }
    }

    /// The words of memory for features with so many bands.
    pub const fn words(self, bands: usize, has_range: bool) -> usize {
        bands.saturating_mul(if has_range { self.frames() } else { 1 }).saturating_add(self.length + 2)
    }

    /// The position in the recording of the first sample of the window of a frame; before the recording where mirrored samples precede.
    const fn start(self, frame: usize) -> isize {
        let ahead = if self.is_centered { self.length / 2 } else { 0 };
        (frame * self.hop + (self.length - self.window) / 2) as isize - ahead as isize
    }

    /// The position after mirroring.
    #[inline]
    const fn mirrored(self, at: isize) -> usize {
        let at = at.unsigned_abs();
        if at < self.samples { at } else { (2 * self.samples - 2).wrapping_sub(at) }
    }
}

impl<L: Table<i32>, S: Table<i16>> LogMel<L, S> {
    /// Computes the features of the samples: `store` gets the frame, the column, and the feature with 16 fractional bits.
    pub fn compute(&self, samples: impl Table<i16>, work: &[Cell<i32>], mut store: impl FnMut(usize, usize, i32)) {
        let (frames, has_range) = (self.framing.frames(), self.output.range > 0);
        let Some((spectrum, logarithms)) = work.split_at_checked(self.framing.length + 2) else { return };
        let of_frame = |frame: usize| {
            let start = if has_range { frame * self.band_count } else { 0 };
            logarithms.get(start..start + self.band_count).unwrap_or_default()
        };
        let mut most = i32::MIN;
        for frame in 0..frames {
            let (exponent, logarithms) = (self.spectrum(samples, frame, spectrum), of_frame(frame));
            for (band, place) in logarithms.iter().enumerate() {
                let logarithm = self.logarithm(spectrum, Band::at(self.bands, band), exponent);
                most = most.max(logarithm);
                place.set(logarithm);
            }
            if !has_range {
                self.finish(logarithms, |column, feature| store(frame, column, feature));
            }
        }
        for frame in 0..if has_range { frames } else { 0 } {
            let least = most.saturating_sub(self.output.range);
            of_frame(frame).iter().for_each(|logarithm| logarithm.set(logarithm.get().max(least)));
            self.finish(of_frame(frame), |column, feature| store(frame, column, feature));
        }
    }

    /// The spectrum of a frame in the first words; returns the fractional bits of its lines.
    fn spectrum(&self, samples: impl Table<i16>, frame: usize, work: &[Cell<i32>]) -> i32 {
        let (framing, weights) = (self.framing, self.window);
        let Framing { length, window, .. } = framing;
        let start = framing.start(frame);
        let is_whole = start >= 0 && start as usize + window <= framing.samples;
        let sample = move |index: usize| {
            let at = start.wrapping_add(index as isize);
            i32::from(samples.at(if is_whole { at as usize } else { framing.mirrored(at) }))
        };
        let peak = (0..window).fold(0, |peak, index| peak | sample(index).unsigned_abs());
        // A shifted sample has 30 bits, and its product with the window 29, which leaves 2 bits for sums.
        let shift = peak.leading_zeros().clamp(16, 31) - 16;
        let lead = (length - window) / 2;
        let number = move |at: usize| {
            // Ahead of the window the index wraps to one behind its end, where the table is 0.
            let index = at.wrapping_sub(lead);
            (product(sample(index) << (shift + 14), weights.at(index)) >> 32) as i32
        };
        let fourier = Fourier::new(self.turns, length);
        let pair = move |index: usize| (number(2 * index), number(2 * index + 1));
        let shrunk = if self.output.is_magnitude {
            fourier.powers(work, pair, |power| root(power).into())
        } else {
            fourier.powers(work, pair, |power| power)
        };
        // Samples are fractions of 2^15.
        let bits = 2 * WEIGHT_BITS - 2 + shift as i32 - shrunk as i32;
        if self.output.is_magnitude { bits } else { 2 * bits }
    }

    /// `log2` of the energy of a band, with 16 fractional bits.
    fn logarithm(&self, spectrum: &[Cell<i32>], band: Band, exponent: i32) -> i32 {
        let Band { first, count, weights, gain, floor } = band;
        let [first, count, weights] = [first, count, weights].map(|number| usize::try_from(number).unwrap_or(0));
        let bins = spectrum.as_chunks().0.iter().skip(first).take(count);
        // The sums of the low and of the high words: a weighted power may have more than 64 bits.
        let (mut low, mut high) = (0_u64, 0_u64);
        for (bin, index) in bins.zip(weights..) {
            let (weight, power) = (u64::from(self.weights.at(index) as u16), wide(bin));
            low = low.wrapping_add((power & 0xffff_ffff).wrapping_mul(weight));
            high = high.wrapping_add((power >> 32).wrapping_mul(weight));
        }
        let sum = Scaled::of_words(high, low, exponent + WEIGHT_BITS);
        let floor = Scaled::of_float_bits(floor as u32);
        let sum = sum.with(floor, self.output.adds_floor);
        log2(sum).wrapping_add(gain)
    }

    /// The features of a frame from its logarithms.
    fn finish(&self, logarithms: &[Cell<i32>], mut store: impl FnMut(usize, i32)) {
        if self.cosine_rows == 0 {
            for (band, logarithm) in logarithms.iter().enumerate() {
                store(band, ((i64::from(logarithm.get()) * i64::from(self.output.unit)) >> UNIT_BITS) as i32);
            }
        }
        for row in 0..self.cosine_rows {
            let sum = logarithms.iter().zip(row * self.band_count..).fold(0_i64, |sum, (logarithm, index)| {
                sum.wrapping_add(i64::from(logarithm.get()) * i64::from(self.cosines.at(index)))
            });
            store(row, (sum >> self.output.cosine_bits) as i32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framing(samples: usize, window: usize, is_centered: bool) -> Framing {
        Framing { samples, length: 512, window, hop: 160, is_centered }
    }

    #[test]
    fn frames_are_those_of_torch() {
        for (samples, is_centered, frames) in [
            (512, false, 1),
            (511, false, 0),
            (671, false, 1),
            (672, false, 2),
            (257, true, 2),
            (256, true, 0),
            (16_000, true, 101),
        ] {
            assert_eq!(framing(samples, 400, is_centered).frames(), frames, "{samples}");
        }
    }

    #[test]
    fn samples_outside_are_mirrored() {
        let framing = framing(300, 512, true);
        let position = |frame: usize, index: isize| framing.mirrored(framing.start(frame) + index);
        assert_eq!([0, 255, 256, 257, 511].map(|index| position(0, index)), [256, 1, 0, 1, 255]);
        assert_eq!([0, 395, 396, 511].map(|index| position(1, index)), [96, 299, 298, 183]);
    }
}
