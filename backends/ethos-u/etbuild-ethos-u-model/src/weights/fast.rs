//! The form of weights for the fast decoder of Ethos-U85: as they are, or as indices into a palette of 4 or 16.

use super::bit_stream::Bits;

/// The bits of the header, and of the unit that a stream is filled up to.
const UNIT: usize = 256;
/// The weights that may fill a stream.
pub const FILLING: usize = UNIT / 2 - 1;
/// The bits of the header that say nothing.
const UNUSED: usize = 102;
/// The colors of a palette, and the bits of each.
const COLORS: usize = 16;
const COLOR: usize = 9;

/// The weights of a stream, with those that fill; `None` without a whole header.
pub fn decode(bytes: &[u8]) -> Option<Vec<i16>> {
    let mut bits = Bits::of(bytes);
    let (is_raw, is_small) = (bits.take(1)? != 0, bits.take(1)? != 0);
    (0..UNUSED / 2).try_for_each(|_| bits.take(2).map(drop))?;
    let offset = i16::from((bits.take(8)? as u8).cast_signed());
    let colors: Vec<i16> = (0..COLORS).map(|_| bits.take(COLOR).map(color)).collect::<Option<_>>()?;
    let width = match (is_raw, is_small) {
        (true, _) => 8,
        (false, true) => 2,
        (false, false) => 4,
    };
    let weight = |number: u32| match is_raw {
        true => Some(i16::from((number as u8).cast_signed()) - offset),
        false => colors.get(number as usize).copied(),
    };
    (0..bits.left() / width).map(|_| bits.take(width).and_then(weight)).collect()
}

/// A number whose lowest bit is the sign.
const fn color(number: u32) -> i16 {
    let magnitude = (number >> 1) as i16;
    if number & 1 != 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_raw_or_indices() {
        let mut bytes = vec![0_u8; 34];
        (bytes[0], bytes[13], bytes[32], bytes[33]) = (1, 2, 127, 0x80);
        assert_eq!(decode(&bytes), Some(vec![125, -130]));
        // Color 1 is -3.
        (bytes[0], bytes[13], bytes[15]) = (2, 0, 7 << 1);
        assert_eq!(decode(&bytes), Some(vec![0, 0, 0, -3, 0, 0, 0, 0]));
        assert_eq!(decode(&bytes[..31]), None);
    }
}
