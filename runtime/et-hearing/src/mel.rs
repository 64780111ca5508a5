//! Log-mel features of sound, as `WhisperFeatureExtractor` of `transformers` computes them.

use et_signal::tables::{self, Filter, MelScale, Window};

use crate::fourier::Fourier;

/// The sampling rate in hertz.
pub const RATE: u32 = 16_000;
/// The samples from a frame to the next frame.
pub const HOP: usize = 160;
/// The samples of a frame.
const FRAME: usize = 400;
/// The least power of a band.
const FLOOR: f32 = 1e-10;
/// How far below the loudest band features may be, in powers of ten.
const RANGE: f32 = 8.0;

/// Makes features of samples.
pub struct Mel {
    fourier: Fourier,
    window: Vec<f32>,
    /// The weights of the bins of each band, from the first bin with a weight on.
    bands: Vec<(usize, Vec<f32>)>,
}

/// The features of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    /// The features of each band, in time.
    bands: Vec<Vec<f32>>,
}

impl Features {
    /// The frames.
    pub fn frames(&self) -> usize {
        self.bands.first().map_or(0, Vec::len)
    }

    /// Frames from `start` on, band by band, and zeros behind the end: `float32 [bands, frames]`, little-endian.
    pub fn window(&self, start: usize, frames: usize) -> Vec<u8> {
        let of_band = |band: &Vec<f32>| {
            let there: Vec<f32> = band.iter().skip(start).take(frames).copied().collect();
            there.into_iter().chain(std::iter::repeat(0.0)).take(frames).flat_map(f32::to_le_bytes).collect::<Vec<u8>>()
        };
        self.bands.iter().flat_map(of_band).collect()
    }
}

impl Mel {
    /// Features with so many bands.
    pub fn new(bands: usize) -> Self {
        let window = Window::Hann.weights(FRAME).into_iter().map(|weight| weight as f32).collect();
        Self { fourier: Fourier::new(FRAME), window, bands: filters(bands) }
    }

    /// The features of samples at 16 kHz: a frame for each 160 samples.
    pub fn features(&self, samples: &[f32]) -> Features {
        let count = samples.len() / HOP;
        let mut bands = vec![Vec::with_capacity(count); self.bands.len()];
        let (mut frame, mut powers) = (Vec::new(), Vec::new());
        for index in 0..count {
            frame.clear();
            let first = (index * HOP) as i64 - (FRAME / 2) as i64;
            let numbers = (first..).zip(&self.window).map(|(at, weight)| reflected(samples, at) * weight);
            frame.extend(numbers);
            self.fourier.powers(&frame, &mut powers);
            for ((start, weights), band) in self.bands.iter().zip(&mut bands) {
                let power: f32 = powers.iter().skip(*start).zip(weights).map(|(power, weight)| power * weight).sum();
                band.push(power.max(FLOOR).log10());
            }
        }
        let most = bands.iter().flatten().copied().fold(f32::NEG_INFINITY, f32::max);
        bands.iter_mut().flatten().for_each(|feature| *feature = (feature.max(most - RANGE) + 4.0) / 4.0);
        Features { bands }
    }
}

/// The sample at a position; positions before the beginning and behind the end are mirrored.
fn reflected(samples: &[f32], at: i64) -> f32 {
    let last = samples.len() as i64 - 1;
    let at = if at > last { 2 * last - at } else { at }.abs();
    usize::try_from(at).ok().and_then(|at| samples.get(at)).copied().unwrap_or(0.0)
}

/// Triangles on the mel scale of Slaney, of equal areas, from 0 to half of [`RATE`].
fn filters(bands: usize) -> Vec<(usize, Vec<f32>)> {
    let filters = tables::filters(FRAME / 2 + 1, RATE, bands, [0.0, f64::from(RATE) / 2.0], MelScale::Slaney);
    let of_equal_area = |Filter { first, weights, width }: Filter| {
        (first, weights.into_iter().map(|weight| (weight * 2.0 / width) as f32).collect())
    };
    filters.into_iter().map(of_equal_area).collect()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    #[test]
    fn a_tone_is_loudest_in_its_band() {
        let tone: Vec<f32> =
            (0..RATE).map(|at| (TAU * 1000.0 * f64::from(at) / f64::from(RATE)).sin() as f32).collect();
        let features = Mel::new(80).features(&tone);
        assert_eq!(features.frames(), 100);
        let of = |band: usize| features.bands[band][50];
        let loudest = (0..80).max_by(|one, other| of(*one).total_cmp(&of(*other))).unwrap();
        let middle = MelScale::Slaney.hertz_of(MelScale::Slaney.mel_of(8000.0) * (loudest + 1) as f64 / 81.0);
        assert!((middle - 1000.0).abs() < 40.0, "{middle}");
    }

    #[test]
    fn windows_end_with_zeros_and_silence_has_features() {
        let features = Mel::new(8).features(&vec![0.0; 3 * HOP]);
        let floor = (FLOOR.log10() + 4.0) / 4.0;
        let numbers: Vec<f32> = features.window(1, 4).as_chunks().0.iter().copied().map(f32::from_le_bytes).collect();
        assert_eq!((numbers.len(), &numbers[..4]), (32, &[floor, floor, 0.0, 0.0][..]));
        assert_eq!(Mel::new(8).features(&[0.0; 3]).frames(), 0);
    }
}
