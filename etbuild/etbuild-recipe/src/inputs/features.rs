//! Rules of features of sound.

use etbuild_diagnostic::{Diagnostic, Span};
use etbuild_yaml::Spanned;

use super::bad;
use crate::{Features, Log, Number};

/// The samples of the longest frame.
const LONGEST: u32 = 1 << 14;

/// The most bands.
const MOST_BANDS: u32 = 1 << 10;

/// The mistakes in features of sound at a sampling rate.
pub fn mistakes(features: &Features, rate: u32) -> Vec<Diagnostic> {
    let sizes = [
        number(&features.n_fft, "n_fft", 4, LONGEST),
        number(&features.win_length, "win_length", 1, features.n_fft()),
        number(&features.hop_length, "hop_length", 1, LONGEST),
        number(&features.power, "power", 1, 2),
        number(&features.n_mels, "n_mels", 1, MOST_BANDS),
        number(&features.n_mfcc, "n_mfcc", 1, features.n_mels()),
    ];
    let rest = [frame(features), hertz(features, rate), floor(features), range(features)];
    sizes.into_iter().chain(rest).flatten().collect()
}

/// A number outside of its bounds.
fn number(number: &Option<Spanned<u32>>, key: &str, least: u32, most: u32) -> Option<Diagnostic> {
    let number = number.as_ref().filter(|number| !(least..=most).contains(&number.value))?;
    Some(bad(format!("`{key}` cannot be {}", number.value), &number.span, &format!("write from {least} to {most}")))
}

/// A frame that has no FFT.
fn frame(features: &Features) -> Option<Diagnostic> {
    let length = features.n_fft.as_ref().filter(|length| length.value > 0)?;
    let has_fft = |length: u32| et_signal::is_supported(length as usize);
    if has_fft(length.value) {
        return None;
    }
    let next = (length.value..).find(|length| has_fft(*length)).unwrap_or(512);
    let message = format!("there is no fixed-point FFT of {} samples", length.value);
    let help = format!("write a multiple of 4 whose prime factors are 2, 3 and 5, such as {next}");
    Some(bad(message, &length.span, &help))
}

/// Frequencies in the wrong order, or above half of the sampling rate.
fn hertz(features: &Features, rate: u32) -> Option<Diagnostic> {
    let [low, high] = features.hertz(rate);
    let half = f64::from(rate) / 2.0;
    if (0.0..high).contains(&low) && high <= half {
        return None;
    }
    let span = span(&features.f_max).filter(|_| high > half).or(span(&features.f_min)).or(span(&features.f_max))?;
    let message = format!("there are no bands from {low} to {high} hertz at a rate of {rate}");
    Some(bad(message, span, &format!("`f_min` is below `f_max`, which is at most {half}")))
}

/// A floor that leaves silence without a logarithm.
fn floor(features: &Features) -> Option<Diagnostic> {
    let floor = features.floor.as_ref().filter(|floor| !(1e-30..=1e9).contains(&floor.value.0.0))?;
    let message = format!("`floor` cannot be {}", floor.value.0.0);
    Some(bad(message, &floor.span, "write a number such as 1e-6: the energy of silence, which has no logarithm"))
}

/// A range of other numbers than decibels.
fn range(features: &Features) -> Option<Diagnostic> {
    let range = features.top_db.as_ref()?;
    if features.log != Log::Db {
        let message = "`top_db` is a number of decibels, and `log` is not `db`".to_owned();
        return Some(bad(message, &range.span, "leave `top_db` out, or write `log: db`"));
    }
    let is_good = (0.0..=300.0).contains(&range.value.0.0);
    let message = || format!("`top_db` cannot be {}", range.value.0.0);
    (!is_good).then(|| bad(message(), &range.span, "write from 0, for no limit, to 300"))
}

fn span(number: &Option<Spanned<Number>>) -> Option<&Span> {
    number.as_ref().map(|number| &*number.span)
}
