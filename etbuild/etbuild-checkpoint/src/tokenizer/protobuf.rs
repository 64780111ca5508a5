//! The wire format of protocol buffers (protobuf.dev, "Encoding").

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Field<'b> {
    /// An integer, a flag or a number of a kind.
    Number(u64),
    /// A text, bytes or a message.
    Bytes(&'b [u8]),
    /// A 32-bit floating-point number.
    Float(f32),
    /// A field of 64 bits.
    Long,
}

/// The fields of a message, each with the number of the field. Behind a mistake there are no further fields.
pub struct Fields<'b>(pub &'b [u8]);

impl<'b> Iterator for Fields<'b> {
    type Item = Result<(u64, Field<'b>), String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field.ok_or_else(|| "it is no message of protocol buffers".to_owned()))
    }
}

impl<'b> Fields<'b> {
    fn field(&mut self) -> Option<(u64, Field<'b>)> {
        let tag = self.number()?;
        let field = match tag & 7 {
            0 => Field::Number(self.number()?),
            1 => self.take(8).map(|_| Field::Long)?,
            2 => {
                let length = usize::try_from(self.number()?).ok()?;
                Field::Bytes(self.take(length)?)
            }
            5 => Field::Float(f32::from_le_bytes(self.take(4)?.try_into().ok()?)),
            _ => return None,
        };
        Some((tag >> 3, field))
    }

    /// Groups of 7 bits, the lowest first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u64, Field<'_>)>, String> {
        Fields(bytes).collect()
    }

    #[test]
    fn fields_have_a_number_and_a_value() {
        let bytes = [0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 0, 0, 0x80, 0x3f, 0x21, 0, 0, 0, 0, 0, 0, 0, 0];
        let expected = [(1, Field::Number(150)), (2, Field::Bytes(b"hi")), (3, Field::Float(1.0)), (4, Field::Long)];
        assert_eq!(fields(&bytes).unwrap(), expected);
        let negative = [0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
        assert_eq!(fields(&negative).unwrap(), [(1, Field::Number(u64::MAX))]);
    }

    #[test]
    fn messages_that_end_within_a_field_are_mistakes() {
        for bytes in
            [[0x08].as_slice(), &[0x12, 5, b'a'], &[0x1d, 0], &[0x80; 11], &[0x0b, 1], &[0x12, 255, 255, 255, 255, 15]]
        {
            assert!(fields(bytes).is_err(), "{bytes:?}");
        }
    }
}
