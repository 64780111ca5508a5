//! Text output without `core::fmt`, which takes kilobytes of flash.

/// An output for text, such as a serial port.
pub trait Console {
    /// Writes bytes of text.
    fn write_bytes(&mut self, bytes: &[u8]);

    /// Writes text.
    fn write(&mut self, text: &str) {
        self.write_bytes(text.as_bytes());
    }

    /// Writes a number in decimal digits.
    fn write_number(&mut self, number: u32) {
        let mut digits = [b'0'; 10];
        let mut rest = number;
        let mut start = digits.len();
        for (index, digit) in digits.iter_mut().enumerate().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
            start = index;
            if rest == 0 {
                break;
            }
        }
        self.write_bytes(digits.get(start..).unwrap_or_default());
    }

    /// Writes text and ends the line.
    fn write_line(&mut self, text: &str) {
        self.write(text);
        self.write("\n");
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    impl Console for Vec<u8> {
        fn write_bytes(&mut self, bytes: &[u8]) {
            self.extend_from_slice(bytes);
        }
    }

    #[test]
    fn numbers_are_written_in_decimal() {
        for number in [0, 7, 10, 4096, u32::MAX] {
            let mut text = Vec::new();
            text.write_number(number);
            assert_eq!(text, std::format!("{number}").as_bytes());
        }
    }
}
