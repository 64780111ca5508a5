//! Numbers of half precision (IEEE 754 binary16) as bits, for processors without instructions for them.

/// What the exponent of a number of half precision is too small by where its bits are those of an `f32`: 2^112.
pub const EXPONENT: f32 = f32::from_bits((127 + 112) << 23);

/// The bits of sign, exponent and fraction of a number of half precision at their places in an `f32`.
pub const PLACES: i32 = 0x8FFF_E000_u32.cast_signed();

/// The same number. Infinities and what is no number are of no use here: they become numbers.
pub fn widen(half: u16) -> f32 {
    let bits = (i32::from(half.cast_signed()) << 13) & PLACES;
    f32::from_bits(bits.cast_unsigned()) * EXPONENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_half_precision_is_itself() {
        for half in 0..0x7C00_u16 {
            let (exponent, fraction) = (i32::from(half >> 10), f32::from(half & 0x3FF));
            let number = match exponent {
                0 => fraction * 2_f32.powi(-24),
                _ => (1024.0 + fraction) * 2_f32.powi(exponent - 25),
            };
            assert_eq!([widen(half), widen(half | 0x8000)], [number, -number], "{half:#x}");
        }
    }
}
