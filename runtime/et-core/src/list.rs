//! Lists in a program file, read in place with any alignment.

/// Little-endian 32-bit integers: sizes, value indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Indices<'a>(&'a [u8]);

impl<'a> Indices<'a> {
    /// Reads `bytes` as 32-bit integers; a remainder of less than four bytes is not seen.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The number of items.
    pub const fn len(self) -> usize {
        self.0.len() / 4
    }

    /// Whether the list is empty.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Item `index`.
    pub fn get(self, index: usize) -> Option<i32> {
        self.0.as_chunks().0.get(index).copied().map(i32::from_le_bytes)
    }

    /// All items in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = i32> + 'a {
        self.0.as_chunks().0.iter().copied().map(i32::from_le_bytes)
    }

    /// The bytes that hold the items.
    pub const fn bytes(self) -> &'a [u8] {
        self.0
    }
}

/// Little-endian 64-bit floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Doubles<'a>(&'a [u8]);

impl<'a> Doubles<'a> {
    /// Reads `bytes` as binary64 numbers; a remainder of less than eight bytes is not seen.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The number of items.
    pub const fn len(self) -> usize {
        self.0.len() / 8
    }

    /// Whether the list is empty.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// All items in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = f64> + 'a {
        self.0.as_chunks().0.iter().copied().map(f64::from_le_bytes)
    }

    /// The bytes that hold the items.
    pub const fn bytes(self) -> &'a [u8] {
        self.0
    }
}

/// Little-endian 64-bit integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Longs<'a>(&'a [u8]);

impl<'a> Longs<'a> {
    /// Reads `bytes` as 64-bit integers; a remainder of less than eight bytes is not seen.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The number of items.
    pub const fn len(self) -> usize {
        self.0.len() / 8
    }

    /// Whether the list is empty.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Item `index`.
    pub fn get(self, index: usize) -> Option<i64> {
        self.0.as_chunks().0.get(index).copied().map(i64::from_le_bytes)
    }

    /// All items in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = i64> + 'a {
        self.0.as_chunks().0.iter().copied().map(i64::from_le_bytes)
    }

    /// The bytes that hold the items.
    pub const fn bytes(self) -> &'a [u8] {
        self.0
    }
}
