//! fp16 (IEEE 754 binary16) conversion by bit manipulation, for CPUs without fp16 instructions.

/// 2^112, the difference of the exponent biases: the factor for fp16 bits shifted into `f32` position.
pub const EXPONENT: f32 = f32::from_bits((127 + 112) << 23);

/// The mask of the fp16 sign, exponent and fraction in `f32` position.
pub const PLACES: i32 = 0x8FFF_E000_u32.cast_signed();

/// Converts fp16 to `f32`. Only for finite inputs: infinity and NaN convert to finite values.
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
