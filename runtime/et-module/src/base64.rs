//! Bytes as text (base64, RFC 4648, section 4).

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of bytes.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits =
            group.iter().enumerate().fold(0_u32, |bits, (index, byte)| bits | u32::from(*byte) << (16 - 8 * index));
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            let is_padding = digit > group.len();
            text.push(if is_padding { '=' } else { DIGITS.get(value as usize).copied().map_or('=', char::from) });
        }
    }
    text
}

/// The bytes of a text, with padding or without; `None` for another text.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut values = [None; 256];
    for (value, digit) in (0_u32..).zip(DIGITS) {
        *values.get_mut(usize::from(*digit))? = Some(value);
    }
    let text = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let value = |digit: &u8| values.get(usize::from(*digit)).copied().flatten();
        let bits = group.iter().try_fold(0, |bits, digit| Some(bits << 6 | value(digit)?))? << (24 - 6 * group.len());
        // A group of two digits is a byte, and one of three two bytes.
        let count = group.len().checked_sub(1).filter(|count| *count > 0)?;
        bytes.extend(bits.to_be_bytes().into_iter().skip(1).take(count));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_padding_and_read_back() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg=="),
            (&[0, 0, 128, 63, 255], "AACAP/8="),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).as_deref(), Some(bytes));
            assert_eq!(decode(text.trim_end_matches('=')).as_deref(), Some(bytes));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["Z", "Zg==a", "Zm9v!", "Zm 9", "Zm9vY"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
