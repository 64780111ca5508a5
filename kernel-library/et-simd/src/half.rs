//! Numbers of half precision (IEEE 754 binary16) as bits, for processors without instructions for them.

/// The greatest number of half precision.
pub const GREATEST: f32 = 65504.0;

/// What the exponent of a number of half precision is too small by where its bits are those of an `f32`: 2^112.
pub const EXPONENT: f32 = f32::from_bits((127 + 112) << 23);

/// The bits of sign, exponent and fraction of a number of half precision at their places in an `f32`.
pub const PLACES: i32 = 0x8FFF_E000_u32.cast_signed();

/// The bits of the least normal number, 2^-14.
const NORMAL: u32 = (127 - 14) << 23;

/// The same number. Infinities and what is no number are of no use here: they become numbers.
pub fn widen(half: u16) -> f32 {
    let bits = (i32::from(half.cast_signed()) << 13) & PLACES;
    f32::from_bits(bits.cast_unsigned()) * EXPONENT
}

/// The nearest number of half precision, ties to even, of one that is not beyond [`GREATEST`].
pub fn narrow(number: f32) -> u16 {
    let sign = (number.to_bits() >> 16) as u16 & 0x8000;
    let magnitude = number.to_bits() & 0x7FFF_FFFF;
    let rounded = if magnitude < NORMAL {
        // The last bit of a half is the last of a fraction of 0.5, where the sum is rounded.
        (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5_f32.to_bits()
    } else {
        let odd = magnitude >> 13 & 1;
        ((magnitude + 0xFFF + odd) >> 13) - (112 << 10)
    };
    sign | rounded as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_half_precision_is_itself() {
        for half in (0..0x7C00).flat_map(|half| [half, half | 0x8000]) {
            assert_eq!(narrow(widen(half)), half);
        }
    }

    #[test]
    fn others_are_rounded_to_even() {
        let (one, next) = (0x3C00, 0x3C01);
        let middle = f32::midpoint(widen(one), widen(next));
        assert_eq!(narrow(middle), one);
        assert_eq!(narrow(f32::midpoint(widen(next), widen(next + 1))), next + 1);
        assert_eq!(narrow(middle + 1e-6), next);
        assert_eq!(narrow(-3e-8), 0x8001);
        assert_eq!(narrow(2e-8), 0);
    }
}
