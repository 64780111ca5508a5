//! `floor`, `ceil`, `trunc` and rounding half to even. Exact.

use super::Format;

/// Towards 0; keeps the sign of zero.
pub fn trunc<F: Format>(x: F) -> F {
    // From here on every number is an integer. NaN compares false and is kept.
    if x.magnitude() < F::INTEGERS { F::from_i64(x.to_i64()).with_sign_of(x) } else { x }
}

/// Towards minus infinity.
pub fn floor<F: Format>(x: F) -> F {
    let towards_zero = trunc(x);
    if towards_zero > x { towards_zero - F::ONE } else { towards_zero }
}

/// Towards infinity.
pub fn ceil<F: Format>(x: F) -> F {
    -floor(-x)
}

/// Rounds to the nearest integer, ties to even: adding `2^fraction bits` leaves no bit below 1.
pub fn round_ties_even<F: Format>(x: F) -> F {
    let magnitude = x.magnitude();
    if magnitude < F::INTEGERS { ((magnitude + F::INTEGERS) - F::INTEGERS).with_sign_of(x) } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 18] = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        -1.5,
        2.5,
        -2.5,
        0.4999,
        -0.9999,
        8_388_607.5,
        -8_388_609.0,
        1e10,
        4_503_599_627_370_495.5,
        -1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];

    #[test]
    fn results_are_those_of_the_host_to_the_bit() {
        for x in VALUES {
            assert_eq!(floor(x).to_bits(), x.floor().to_bits(), "{x}");
            assert_eq!(ceil(x).to_bits(), x.ceil().to_bits(), "{x}");
            assert_eq!(trunc(x).to_bits(), x.trunc().to_bits(), "{x}");
            assert_eq!(round_ties_even(x).to_bits(), x.round_ties_even().to_bits(), "{x}");
        }
        for x in VALUES.map(|x| x as f32) {
            assert_eq!(floor(x).to_bits(), x.floor().to_bits(), "{x}");
            assert_eq!(ceil(x).to_bits(), x.ceil().to_bits(), "{x}");
            assert_eq!(trunc(x).to_bits(), x.trunc().to_bits(), "{x}");
            assert_eq!(round_ties_even(x).to_bits(), x.round_ties_even().to_bits(), "{x}");
        }
    }
}
