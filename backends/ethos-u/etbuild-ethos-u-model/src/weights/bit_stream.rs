//! Bits of a byte stream, from the lowest bit of each byte on.

/// The rest of a stream.
#[derive(Clone, Debug)]
pub struct Bits<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Bits<'a> {
    /// The bits of bytes.
    pub const fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// The bits that are left.
    pub const fn left(&self) -> usize {
        8 * self.bytes.len() - self.position
    }

    /// The next bits as a number, up to 16; `None` where fewer are left.
    pub fn take(&mut self, count: usize) -> Option<u32> {
        let byte = |index: usize| self.bytes.get(index).copied().map_or(0, u32::from);
        let start = self.position / 8;
        let window = byte(start) | byte(start + 1) << 8 | byte(start + 2) << 16;
        let value = window >> (self.position % 8) & ((1 << count) - 1);
        self.position = (count <= self.left()).then_some(self.position + count)?;
        Some(value)
    }

    /// Goes to the next whole byte.
    pub const fn align(&mut self) {
        self.position = self.position.next_multiple_of(8);
    }
}
