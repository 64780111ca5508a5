//! Features of sound as `torchaudio` defines them, and their constants in fixed point.

use std::f64::consts::{LN_2, LOG10_2, PI};

use et_signal::Band;
use et_signal::tables::{Filter, MelScale, Window, filters, turns};

use super::Real;

/// Log-mel features or MFCC. The names in parentheses are those of `torchaudio`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SoundFeatures {
    /// The samples per second.
    pub rate: u32,
    /// The samples of a recording; `None` for those that give the frames of the input.
    pub samples: Option<usize>,
    /// The samples that an execution takes of a sound without an end; `None` where each execution takes a recording.
    pub stream: Option<usize>,
    /// The samples of a frame (`n_fft`).
    pub frame: usize,
    /// The samples of the window (`win_length`).
    pub window_length: usize,
    /// The samples from a frame to the next (`hop_length`).
    pub hop: usize,
    /// The window (`window_fn`).
    pub window: Window,
    /// Whether the middle of the first frame is the first sample (`center`).
    pub is_centered: bool,
    /// The mel bands (`n_mels`).
    pub bands: usize,
    /// The lowest and the highest frequency in hertz (`f_min`, `f_max`).
    pub hertz: [Real; 2],
    /// The scale of the bands (`mel_scale`).
    pub scale: MelScale,
    /// Whether filters have equal areas (`norm="slaney"`) instead of equal heights.
    pub has_equal_areas: bool,
    /// Whether energies are sums of magnitudes (`power=1`) instead of powers.
    pub is_magnitude: bool,
    /// The logarithm.
    pub logarithm: Logarithm,
    /// The cosine transform of MFCC, if any.
    pub cosines: Option<Cosines>,
}

/// The logarithm of energies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logarithm {
    /// The natural logarithm of the energy plus a number.
    Natural {
        /// The number.
        offset: Real,
    },
    /// The logarithm to base 10 of the energy plus a number.
    Decimal {
        /// The number.
        offset: Real,
    },
    /// Decibels (`AmplitudeToDB`).
    Decibels(Decibels),
}

/// Decibels of energies: 10 times the decimal logarithm of a power, 20 times that of a magnitude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decibels {
    /// The least energy (`amin`).
    pub least: Real,
    /// How far below the greatest of the recording features may be (`top_db`); `None` without a limit.
    pub range: Option<Real>,
}

/// The cosine transform (type II) of the logarithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cosines {
    /// The coefficients that are kept, from the first on (`n_mfcc`).
    pub count: usize,
    /// Whether the transform is orthonormal (`norm="ortho"`). Otherwise the first coefficient has the factor of the others, as in HTK
    /// and TensorFlow.
    pub is_orthonormal: bool,
}

/// The constants of `etbuild::log_mel`.
pub struct Constants {
    /// The window, with 31 fractional bits.
    pub window: Vec<i32>,
    /// The twiddle factors.
    pub turns: Vec<i32>,
    /// The numbers of the bands.
    pub bands: Vec<i32>,
    /// The weights of the bands.
    pub weights: Vec<i16>,
    /// The rows of the cosine transform.
    pub cosines: Option<Vec<i16>>,
    /// The factor of features without cosines, with 28 fractional bits.
    pub unit: i64,
    /// The range of logarithms to base 2, with 16 fractional bits; 0 without a limit.
    pub range: i64,
    /// The fractional bits of the cosines.
    pub cosine_bits: u32,
}

impl SoundFeatures {
    /// The features of a frame.
    pub fn columns(&self) -> usize {
        self.cosines.map_or(self.bands, |cosines| cosines.count)
    }

    /// Whether a number is added to energies, instead of a least energy.
    pub const fn adds_floor(&self) -> bool {
        !matches!(self.logarithm, Logarithm::Decibels(_))
    }

    /// The constants.
    pub fn constants(&self) -> Constants {
        let [low, high] = self.hertz.map(Real::value);
        let filters = filters(self.frame / 2 + 1, self.rate, self.bands, [low, high], self.scale);
        let (mut bands, mut weights) = (Vec::new(), Vec::new());
        for filter in filters {
            bands.extend(self.band(&filter, weights.len()).numbers());
            weights.extend(filter.weights.iter().map(|weight| fixed(*weight, 15)));
        }
        if weights.is_empty() {
            // No bin lies in any band, so nothing reads the weight.
            weights.push(0);
        }
        let unit = self.unit();
        let (cosines, cosine_bits) = match self.cosines {
            Some(cosines) => {
                let rows = cosines.rows(self.bands, unit);
                let greatest = rows.iter().fold(0.0_f64, |most, number| most.max(number.abs()));
                let bits = (0..=30).rev().find(|bits| greatest * 2_f64.powi(*bits) < 32767.0).unwrap_or(0);
                (Some(rows.iter().map(|number| fixed(*number, bits)).collect()), bits as u32)
            }
            None => (None, 0),
        };
        let range = match self.logarithm {
            Logarithm::Decibels(Decibels { range: Some(range), .. }) => (range.value() / unit * 65536.0).round() as i64,
            _ => 0,
        };
        Constants {
            window: self.window.weights(self.window_length).into_iter().map(long).collect(),
            turns: turns(self.frame),
            bands,
            weights,
            cosines,
            unit: (unit * 2_f64.powi(28)).round() as i64,
            range,
            cosine_bits,
        }
    }

    fn band(&self, filter: &Filter, weights: usize) -> Band {
        let factor = if self.has_equal_areas { 2.0 / filter.width } else { 1.0 };
        let floor = match self.logarithm {
            Logarithm::Natural { offset } | Logarithm::Decimal { offset } => offset,
            Logarithm::Decibels(Decibels { least, .. }) => least,
        };
        Band {
            first: filter.first as i32,
            count: filter.weights.len() as i32,
            weights: weights as i32,
            gain: (factor.log2() * 65536.0).round() as i32,
            floor: ((floor.value() / factor) as f32).to_bits() as i32,
        }
    }

    /// The factor from the logarithm to base 2 to the unit of features.
    fn unit(&self) -> f64 {
        match self.logarithm {
            Logarithm::Natural { .. } => LN_2,
            Logarithm::Decimal { .. } => LOG10_2,
            Logarithm::Decibels(_) if self.is_magnitude => 20.0 * LOG10_2,
            Logarithm::Decibels(_) => 10.0 * LOG10_2,
        }
    }
}

impl Cosines {
    /// The rows of the transform of `bands` numbers, times `unit`.
    fn rows(self, bands: usize, unit: f64) -> Vec<f64> {
        let factor = |row: usize| {
            let halves = if row == 0 && self.is_orthonormal { 1.0 } else { 2.0 };
            (halves / bands as f64).sqrt() * unit
        };
        let row = |row: usize| {
            let angle = move |band: usize| PI / bands as f64 * (band as f64 + 0.5) * row as f64;
            (0..bands).map(move |band| angle(band).cos() * factor(row))
        };
        (0..self.count).flat_map(row).collect()
    }
}

/// A number with 31 fractional bits; a conversion saturates.
fn long(number: f64) -> i32 {
    (number * 2_f64.powi(31)).round() as i32
}

/// A number in fixed point; a conversion saturates.
fn fixed(number: f64, bits: i32) -> i16 {
    (number * 2_f64.powi(bits)).round() as i16
}
