//! Numbers of 4 and 8 bits with an exponent.

/// Twice a number of 4 bits (OCP Microscaling Formats 1.0, E2M1), which is an integer: a sign, two bits of exponent, one of mantissa.
pub fn twice_e2m1(code: u8) -> i8 {
    const LEVELS: [i8; 8] = [0, 1, 2, 3, 4, 6, 8, 12];
    let level = LEVELS.get(usize::from(code & 7)).copied().unwrap_or_default();
    if code & 8 == 0 { level } else { -level }
}

/// A power of two (OCP Microscaling Formats 1.0, E8M0): 2 to the `code` less 127; 255 is not a number.
pub fn power(code: u8) -> f32 {
    match code {
        // 2^-127 is a subnormal number.
        0 => f32::from_bits(1 << 22),
        255 => f32::NAN,
        _ => f32::from_bits(u32::from(code) << 23),
    }
}

/// A number of 8 bits (OCP 8-bit Floating Point 1.0, E4M3): no infinities, and one not-a-number for each sign.
pub fn e4m3(code: u8) -> f32 {
    let magnitude = match (code >> 3 & 15, code & 7) {
        (15, 7) => f32::NAN,
        (0, mantissa) => f32::from(mantissa) / 512.0,
        (exponent, mantissa) => f32::from_bits((u32::from(exponent) + 127 - 7) << 23 | u32::from(mantissa) << 20),
    };
    if code & 128 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_ranges_are_those_of_the_standards() {
        assert_eq!([twice_e2m1(1), twice_e2m1(7), twice_e2m1(15)], [1, 12, -12]);
        assert_eq!([power(0), power(127), power(254)], [2.0_f32.powi(-127), 1.0, 2.0_f32.powi(127)]);
        assert_eq!([e4m3(1), e4m3(8), e4m3(0x7e), e4m3(0xfe)], [2.0_f32.powi(-9), 2.0_f32.powi(-6), 448.0, -448.0]);
        assert!(e4m3(0x7f).is_nan() && power(255).is_nan());
    }
}
