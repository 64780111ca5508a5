//! `inputs.NAME.audio.features:`.

use schemars::JsonSchema;
use serde::Deserialize;

use etbuild_yaml::Spanned;

use super::Number;

/// Features of sound, with the names and the defaults of `torchaudio.transforms.MelSpectrogram`, `AmplitudeToDB` and `MFCC`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// The samples of a frame: a multiple of 4 whose prime factors are 2, 3 and 5; 400 if omitted.
    #[serde(default)]
    pub n_fft: Option<Spanned<u32>>,
    /// The samples of the window, in the middle of a frame; `n_fft` if omitted.
    #[serde(default)]
    pub win_length: Option<Spanned<u32>>,
    /// The samples from a frame to the next; half of `win_length` if omitted.
    #[serde(default)]
    pub hop_length: Option<Spanned<u32>>,
    /// The window; `hann` if omitted.
    #[serde(default)]
    pub window: WindowFunction,
    /// Whether the middle of the first frame is the first sample, with mirrored samples ahead and at the end; `true` if omitted.
    #[serde(default)]
    pub center: Option<bool>,
    /// The exponent of magnitudes: 2 for powers, 1 for magnitudes; 2 if omitted.
    #[serde(default)]
    pub power: Option<Spanned<u32>>,
    /// The number of mel bands; 128 if omitted.
    #[serde(default)]
    pub n_mels: Option<Spanned<u32>>,
    /// The lowest frequency in hertz; 0 if omitted.
    #[serde(default)]
    pub f_min: Option<Spanned<Number>>,
    /// The highest frequency in hertz; half of the sampling rate if omitted.
    #[serde(default)]
    pub f_max: Option<Spanned<Number>>,
    /// The mel scale; `htk` if omitted.
    #[serde(default)]
    pub mel_scale: Scale,
    /// `slaney` divides the weights of a band by its width; if omitted, the greatest weight of each band is 1.
    #[serde(default)]
    pub norm: Option<Norm>,
    /// The logarithm of the energies: natural (`ln`), to base 10 (`log10`) or in decibels (`db`); `db` if omitted.
    #[serde(default)]
    pub log: Log,
    /// The number that is added to energies before `ln` and `log10`, and the least energy of `db`; 1e-6 and 1e-10 if omitted.
    #[serde(default)]
    pub floor: Option<Spanned<Number>>,
    /// How many decibels below the greatest of the recording the least may be, 0 for no limit; if omitted, 80 for decibels with `n_mfcc`, otherwise no limit.
    #[serde(default)]
    pub top_db: Option<Spanned<Number>>,
    /// The number of mel-frequency cepstral coefficients; if omitted, the features are the logarithms.
    #[serde(default)]
    pub n_mfcc: Option<Spanned<u32>>,
    /// The cosine transform of the coefficients; `ortho` if omitted.
    #[serde(default)]
    pub dct: Dct,
}

/// The window of a frame; periodic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WindowFunction {
    /// `torch.hann_window`.
    #[default]
    Hann,
    /// `torch.hamming_window`.
    Hamming,
}

/// The scale of mel bands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// `2595 log10(1 + f / 700)`.
    #[default]
    Htk,
    /// Linear up to 1 kHz, as in librosa.
    Slaney,
}

/// The weights of mel bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// Bands of equal areas.
    Slaney,
}

/// The logarithm of energies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Log {
    /// Natural, as with `log_mels=True`.
    Ln,
    /// To base 10.
    Log10,
    /// Decibels: 10 times the logarithm of powers to base 10, 20 times that of magnitudes.
    #[default]
    Db,
}

/// The cosine transform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dct {
    /// Orthonormal.
    #[default]
    Ortho,
    /// The first coefficient has the factor of the others, as in HTK, Kaldi and TensorFlow.
    Htk,
}

impl Features {
    /// The samples of a frame.
    pub fn n_fft(&self) -> u32 {
        value(&self.n_fft, 400)
    }

    /// The samples of the window.
    pub fn win_length(&self) -> u32 {
        value(&self.win_length, self.n_fft())
    }

    /// The samples from a frame to the next.
    pub fn hop_length(&self) -> u32 {
        value(&self.hop_length, self.win_length() / 2)
    }

    /// The exponent of magnitudes.
    pub fn power(&self) -> u32 {
        value(&self.power, 2)
    }

    /// The number of mel bands.
    pub fn n_mels(&self) -> u32 {
        value(&self.n_mels, 128)
    }

    /// The lowest and the highest frequency in hertz for a sampling rate.
    pub fn hertz(&self, rate: u32) -> [f64; 2] {
        [real(&self.f_min).unwrap_or(0.0), real(&self.f_max).unwrap_or(f64::from(rate) / 2.0)]
    }

    /// The number that is added to energies, or the least energy.
    pub fn floor(&self) -> f64 {
        real(&self.floor).unwrap_or(if self.log == Log::Db { 1e-10 } else { 1e-6 })
    }

    /// How many decibels below the greatest the least may be, if any.
    pub fn top_db(&self) -> Option<f64> {
        let default = if self.log == Log::Db && self.n_mfcc.is_some() { 80.0 } else { 0.0 };
        Some(real(&self.top_db).unwrap_or(default)).filter(|range| *range > 0.0)
    }
}

fn value(number: &Option<Spanned<u32>>, default: u32) -> u32 {
    number.as_ref().map_or(default, |number| number.value)
}

fn real(number: &Option<Spanned<Number>>) -> Option<f64> {
    number.as_ref().map(|number| number.value.0.0)
}
