//! The constants of features, as `torch` and `torchaudio` define them, and of resized pictures, as Pillow does.

mod resampling;

use core::f64::consts::TAU;
use std::vec::Vec;

use crate::fourier::radices;

pub use resampling::{Resampling, Taps, cut, is_columns_first, shorter};

/// The unit of a mel scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MelScale {
    /// `2595 log10(1 + hertz / 700)`, of HTK.
    Htk,
    /// Linear up to 1 kHz, of Slaney's Auditory Toolbox.
    Slaney,
}

/// A window of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// `torch.hann_window`.
    Hann,
    /// `torch.hamming_window`.
    Hamming,
}

/// A triangle over the bins of a spectrum, of height 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// The first bin with a weight.
    pub first: usize,
    /// The weights of neighbouring bins.
    pub weights: Vec<f64>,
    /// The width of the triangle in hertz.
    pub width: f64,
}

impl Window {
    /// The weights of a periodic window.
    pub fn weights(self, length: usize) -> Vec<f64> {
        let middle = match self {
            Self::Hann => 0.5,
            Self::Hamming => 0.54,
        };
        let cosine = |index: usize| (TAU * index as f64 / length as f64).cos();
        (0..length).map(|index| middle - (1.0 - middle) * cosine(index)).collect()
    }
}

/// The cosines and the sines of the twiddle factors of an FFT, as [`LogMel::turns`](crate::LogMel::turns) takes these.
pub fn turns(length: usize) -> Vec<i32> {
    // A conversion saturates.
    let fixed = |number: f64| (number * 2_f64.powi(31)).round() as i32;
    let turn = |share: f64| [fixed((TAU * share).cos()), fixed((TAU * share).sin())];
    let (mut turns, mut size) = (Vec::new(), 1);
    for radix in radices(length / 2).into_iter().rev().filter(|radix| *radix > 0) {
        if size > 1 {
            let shares = (0..size).flat_map(|index| (1..radix).map(move |factor| index * factor));
            turns.extend(shares.flat_map(|share| turn(share as f64 / (size * radix) as f64)));
        }
        size *= radix;
    }
    turns.extend((0..=length / 4).flat_map(|bin| turn(bin as f64 / length as f64)));
    turns
}

/// The filters of `bands` on the bins from 0 to half of the sampling rate, whose corners are at equal distances on the scale.
pub fn filters(bins: usize, rate: u32, bands: usize, [low, high]: [f64; 2], scale: MelScale) -> Vec<Filter> {
    let ends = [scale.mel_of(low), scale.mel_of(high)];
    let corner = |index: usize| {
        let share = index as f64 / (bands + 1) as f64;
        scale.hertz_of(ends[0] + (ends[1] - ends[0]) * share)
    };
    let frequency = |bin: usize| f64::from(rate) / 2.0 * bin as f64 / (bins - 1) as f64;
    let filter = |band: usize| {
        let [left, middle, right] = [band, band + 1, band + 2].map(corner);
        let weight = |bin: usize| {
            let (up, down) = ((frequency(bin) - left) / (middle - left), (right - frequency(bin)) / (right - middle));
            up.min(down).max(0.0)
        };
        let first = (0..bins).find(|bin| weight(*bin) > 0.0).unwrap_or(0);
        let weights = (first..bins).map(weight).take_while(|weight| *weight > 0.0).collect();
        Filter { first, weights, width: right - left }
    };
    (0..bands).map(filter).collect()
}

/// Where the scale of Slaney becomes logarithmic, in hertz and in mels.
const BEND: [f64; 2] = [1000.0, 15.0];

impl MelScale {
    /// The mels of a frequency.
    pub fn mel_of(self, hertz: f64) -> f64 {
        match self {
            Self::Htk => 2595.0 * (1.0 + hertz / 700.0).log10(),
            Self::Slaney if hertz < BEND[0] => hertz * BEND[1] / BEND[0],
            Self::Slaney => BEND[1] + (hertz / BEND[0]).ln() * steepness(),
        }
    }

    /// The frequency of mels.
    pub fn hertz_of(self, mel: f64) -> f64 {
        match self {
            Self::Htk => 700.0 * (10_f64.powf(mel / 2595.0) - 1.0),
            Self::Slaney if mel < BEND[1] => mel * BEND[0] / BEND[1],
            Self::Slaney => BEND[0] * ((mel - BEND[1]) / steepness()).exp(),
        }
    }
}

/// The mels of a factor `e` of the frequency, beyond the bend.
fn steepness() -> f64 {
    27.0 / 6.4_f64.ln()
}
