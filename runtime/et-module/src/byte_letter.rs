//! Characters that stand for bytes in tokenizers of bytes (Radford et al. 2019).

/// The character of a byte: printable bytes stand for themselves, the rest for characters from U+0100 on, in their order.
pub fn byte_letter(byte: u8) -> char {
    let others = match byte {
        0..=b' ' => 0x100,
        0x7f..=0xa0 => 0x100 + 0x21 - 0x7f,
        0xad => 0x100 + 0x43 - 0xad,
        _ => 0,
    };
    char::from_u32(u32::from(byte) + others).unwrap_or_else(|| char::from(byte))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_byte_has_a_character_of_its_own_that_is_printable() {
        let letters: BTreeSet<char> = (0..=u8::MAX).map(byte_letter).collect();
        assert_eq!(letters.len(), 256);
        assert!(letters.iter().all(|letter| !letter.is_whitespace() && !letter.is_control()));
        let known = [
            (0, '\u{100}'),
            (b'\n', 'Ċ'),
            (b' ', 'Ġ'),
            (b'a', 'a'),
            (0x7f, 'ġ'),
            (0xa0, 'ł'),
            (0xad, 'Ń'),
            (0xff, 'ÿ'),
        ];
        assert!(known.into_iter().all(|(byte, letter)| byte_letter(byte) == letter));
    }
}
