//! The logarithm to base 2 with 16 fractional bits, by lines between 65 points: within 5e-5.

use crate::scaled::Scaled;

/// The segments of the table.
const SEGMENTS: usize = 64;

/// `log2(1 + index / SEGMENTS)` with 16 fractional bits.
static LOGARITHMS: [u32; SEGMENTS + 1] = table();

/// The logarithm of a number; that of 0 is -128.
pub fn log2(number: Scaled) -> i32 {
    let Scaled { mantissa, exponent } = number;
    if mantissa == 0 {
        return -(128 << 16);
    }
    let zeros = mantissa.leading_zeros();
    let bits = (mantissa << zeros << 1 >> 42) as u32;
    let (segment, fraction) = ((bits >> 16) as usize, bits & 0xffff);
    let points = LOGARITHMS.get(segment..).and_then(<[u32]>::first_chunk::<2>);
    let [left, right] = points.copied().unwrap_or_default();
    let between = left + (((right - left) * fraction) >> 16);
    ((63 - zeros as i32 - exponent) << 16) + between as i32
}

const fn table() -> [u32; SEGMENTS + 1] {
    let mut table = [0; SEGMENTS + 1];
    let mut index = 0;
    while index < SEGMENTS {
        // Each square of a number from 1 to 2 gives a bit of its logarithm.
        let (mut number, mut logarithm, mut bit) = ((SEGMENTS + index) as u64 * (1 << 31) / SEGMENTS as u64, 0, 17);
        while bit > 0 {
            number = (number * number) >> 31;
            logarithm <<= 1;
            if number >= 1 << 32 {
                number >>= 1;
                logarithm |= 1;
            }
            bit -= 1;
        }
        table[index] = (logarithm + 1) >> 1;
        index += 1;
    }
    table[SEGMENTS] = 1 << 16;
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_within_their_bound() {
        let mut number = 1_u64;
        while number < u64::MAX / 2 {
            for mantissa in [number, number + number / 3, u64::MAX - number] {
                let exact = (mantissa as f64).log2() - 20.0;
                let got = f64::from(log2(Scaled { mantissa, exponent: 20 })) / 65536.0;
                assert!((got - exact).abs() < 6e-5, "{mantissa}: {got} and not {exact}");
            }
            number += number / 5 + 1;
        }
        assert_eq!(log2(Scaled { mantissa: 1 << 40, exponent: 44 }), -4 << 16);
    }
}
