//! What firmware keeps of a program file: the bytes that its plan refers to, each once. Names, and what the plan has as constants of Rust,
//! stay behind.

use std::collections::BTreeMap;

/// The alignment of weights and blobs, and of the whole.
pub const DATA: usize = 16;

/// Parts of a program file, one behind the other.
#[derive(Debug, Default)]
pub struct Packed {
    bytes: Vec<u8>,
    /// Where each part begins.
    parts: BTreeMap<Vec<u8>, usize>,
}

impl Packed {
    /// The place of a part at a multiple of `alignment`, where the same bytes may lie already; 0 for no bytes, which may lie anywhere.
    pub fn place(&mut self, part: &[u8], alignment: usize) -> usize {
        if part.is_empty() {
            return 0;
        }
        match self.parts.get(part) {
            Some(start) if start % alignment == 0 => *start,
            _ => self.add(part, alignment),
        }
    }

    fn add(&mut self, part: &[u8], alignment: usize) -> usize {
        let start = self.bytes.len().next_multiple_of(alignment);
        self.bytes.resize(start, 0);
        self.bytes.extend_from_slice(part);
        self.parts.insert(part.to_vec(), start);
        start
    }

    /// The bytes of all parts.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_parts_lie_once_where_their_alignment_allows() {
        let mut packed = Packed::default();
        assert_eq!([packed.place(b"abc", 1), packed.place(b"weights", DATA), packed.place(b"", DATA)], [0, 16, 0]);
        assert_eq!([packed.place(b"weights", 4), packed.place(b"abc", 8), packed.place(b"c", 1)], [16, 0, 23]);
        assert_eq!([packed.place(b"c", 4), packed.place(b"c", 1)], [24, 24]);
        assert_eq!(packed.into_bytes(), b"abc\0\0\0\0\0\0\0\0\0\0\0\0\0weightscc");
    }
}
