//! Windows of signals, as constants.

use std::f64::consts::TAU;

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `hann_window(window_length, periodic)`.
pub fn hann(editor: &mut Editor, call: &Call) -> Rewritten {
    window(editor, call, |place| cosines(place, &[0.5, 0.5]))
}

/// `hamming_window(window_length, periodic, alpha, beta)`.
pub fn hamming(editor: &mut Editor, call: &Call) -> Rewritten {
    let factors = match call.operator.overload() {
        "periodic_alpha" => [call.number(2)?, 0.46],
        "periodic_alpha_beta" => [call.number(2)?, call.number(3)?],
        _ => [0.54, 0.46],
    };
    window(editor, call, |place| cosines(place, &factors))
}

/// `blackman_window(window_length, periodic)`.
pub fn blackman(editor: &mut Editor, call: &Call) -> Rewritten {
    window(editor, call, |place| cosines(place, &[0.42, 0.5, 0.08]))
}

/// `bartlett_window(window_length, periodic)`: a triangle.
pub fn bartlett(editor: &mut Editor, call: &Call) -> Rewritten {
    window(editor, call, |place| 1.0 - (2.0 * place - 1.0).abs())
}

/// `kaiser_window(window_length, periodic, beta)`.
pub fn kaiser(editor: &mut Editor, call: &Call) -> Rewritten {
    let beta = if call.operator.overload() == "beta" { call.number(2)? } else { 12.0 };
    window(editor, call, |place| {
        let from_centre = 2.0 * place - 1.0;
        bessel(beta * (1.0 - from_centre * from_centre).max(0.0).sqrt()) / bessel(beta)
    })
}

/// A window of a function of the places from 0 to 1. The end of a periodic window is left to the next period.
fn window(editor: &mut Editor, call: &Call, at: impl Fn(f64) -> f64) -> Rewritten {
    let (length, output) = (call.int(0)?, call.output()?);
    let is_periodic = call.operator.overload() == "default" || call.flag(1)?;
    if output.sizes[..] != [i32::try_from(length).map_err(|_| Reason::Arguments)?] {
        return Err(Reason::Arguments);
    }
    let period = if is_periodic { length } else { length - 1 } as f64;
    let element = |index: i64| if length == 1 { 1.0 } else { at(index as f64 / period) };
    Ok(vec![editor.numbers(output, (0..length).map(element))?])
}

/// A sum of cosines of the multiples of an angle, with signs in turn.
fn cosines(place: f64, factors: &[f64]) -> f64 {
    let term = |(order, factor): (usize, &f64)| {
        let sign = if order % 2 == 0 { 1.0 } else { -1.0 };
        sign * factor * (TAU * place * order as f64).cos()
    };
    factors.iter().enumerate().map(term).sum()
}

/// The modified Bessel function of order 0: the power series, whose terms are all positive.
fn bessel(x: f64) -> f64 {
    let (quarter, mut term, mut sum) = (x * x / 4.0, 1.0, 1.0);
    for order in 1..1000 {
        term *= quarter / f64::from(order * order);
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bessel_function_has_known_values() {
        assert_eq!(bessel(0.0), 1.0);
        assert!((bessel(1.0) - 1.266_065_877_752_008_4).abs() < 1e-15);
        assert!((bessel(12.0) / 18_948.925_349_296_31 - 1.0).abs() < 1e-14);
    }

    #[test]
    fn a_window_of_cosines_is_largest_in_the_middle() {
        assert_eq!(cosines(0.5, &[0.5, 0.5]), 1.0);
        assert!(cosines(0.0, &[0.42, 0.5, 0.08]).abs() < 1e-15);
    }
}
