//! Reduction of angles of any size by multiples of pi/2, in integers (Payne and Hanek, 1983).
//!
//! `x 2/pi` is the product of the integer `m` of `x = m 2^k` and a window of the bits of `2/pi`: bits above the window
//! add whole turns, and 192 bits leave 64 exact bits even for the `x` nearest to a multiple of pi/2.

use super::Format;

/// `2/pi` after 64 zero bits, most significant first.
static TWO_OVER_PI: [u64; 20] = [
    0,
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// `pi/2 2^63`.
const HALF_PI: u64 = 0xc90f_daa2_2168_c235;

/// An angle `x` with `x = quadrant pi/2 + high + low` up to whole turns and `|high| <= pi/4`.
pub struct Reduced<F> {
    /// 0 to 3.
    pub quadrant: u32,
    /// The remainder, rounded.
    pub high: F,
    /// The rounding error of the remainder.
    pub low: F,
}

/// Reduces a finite angle.
pub fn reduce<F: Format>(x: F) -> Reduced<F> {
    if x.magnitude() < F::HALF {
        return Reduced { quadrant: 0, high: x, low: F::ZERO };
    }
    let (integer, exponent) = x.magnitude().integer();
    // Quadrants in fixed point: two bits before the point, 126 after the point.
    let turns = product(integer, window(exponent));
    let quadrant = (turns.wrapping_add(1 << 125) >> 126) as u32;
    let [high, low]: [F; 2] = remainder((turns << 2) as i128);
    if x.is_signed() {
        Reduced { quadrant: quadrant.wrapping_neg() & 3, high: -high, low: -low }
    } else {
        Reduced { quadrant, high, low }
    }
}

/// 192 bits of `2/pi`, from the bit whose weight is 2 after multiplication by `2^exponent`.
fn window(exponent: i32) -> [u64; 3] {
    let position = (exponent + 62) as usize;
    let (first, shift) = (position / 64, position % 64);
    let word = |index: usize| u128::from(TWO_OVER_PI.get(index).copied().unwrap_or(0));
    [0, 1, 2].map(|index| ((word(first + index) << 64 | word(first + index + 1)) << shift >> 64) as u64)
}

/// The upper 128 bits of `integer * window`, modulo whole turns.
fn product(integer: u64, [high, middle, low]: [u64; 3]) -> u128 {
    let upper = u128::from(high) << 64 | u128::from(middle);
    let carried = (u128::from(integer) * u128::from(low)) >> 64;
    upper.wrapping_mul(u128::from(integer)).wrapping_add(carried)
}

/// `fraction 2^-128 pi/2` in two parts.
fn remainder<F: Format>(fraction: i128) -> [F; 2] {
    let magnitude = fraction.unsigned_abs();
    let zeros = magnitude.leading_zeros();
    let normal = (magnitude.checked_shl(zeros).unwrap_or(0) >> 64) as u64;
    let angle = ((u128::from(normal) * u128::from(HALF_PI)) >> 64) as u64;
    let high = F::from_u64(angle);
    let low = F::from_i64(angle.wrapping_sub(high.to_u64()) as i64);
    let unit = F::power_of_two(-63 - zeros as i32);
    let unit = if fraction < 0 { -unit } else { unit };
    [high * unit, low * unit]
}
