//! Records of little-endian words: the serialized fields of headers and instructions.

use crate::Place;

/// A reader of words.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(&'a [[u8; 4]]);

impl<'a> Words<'a> {
    /// The words in `bytes`; an incomplete last word is ignored.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.as_chunks::<4>().0)
    }

    /// The next word; `None` at the end.
    pub fn word(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*first))
    }

    /// The next `count` words as a separate reader; `None` at the end.
    pub fn take(&mut self, count: usize) -> Option<Self> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(Self(taken))
    }

    /// Whether all words are read.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A type with a serialized form of words.
pub trait Record: Sized {
    /// Deserializes a record; `None` for missing words.
    fn read(words: &mut Words<'_>) -> Option<Self>;

    /// Serializes the record, word by word.
    fn write(&self, put: &mut dyn FnMut(u32));

    /// Visits the operands of the record.
    fn visit_places(&mut self, _visit: &mut dyn FnMut(&mut Place)) {}
}

impl Record for u32 {
    fn read(words: &mut Words<'_>) -> Option<Self> {
        words.word()
    }

    fn write(&self, put: &mut dyn FnMut(u32)) {
        put(*self);
    }
}

impl Record for i32 {
    fn read(words: &mut Words<'_>) -> Option<Self> {
        words.word().map(u32::cast_signed)
    }

    fn write(&self, put: &mut dyn FnMut(u32)) {
        put(self.cast_unsigned());
    }
}

impl Record for f32 {
    fn read(words: &mut Words<'_>) -> Option<Self> {
        words.word().map(Self::from_bits)
    }

    fn write(&self, put: &mut dyn FnMut(u32)) {
        put(self.to_bits());
    }
}

/// Declares structs that are records, with record fields.
macro_rules! records {
    ($($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }

        impl $crate::record::Record for $name {
            fn read(words: &mut $crate::record::Words<'_>) -> Option<Self> {
                Some(Self { $($field: <$type as $crate::record::Record>::read(words)?,)* })
            }

            fn write(&self, put: &mut dyn FnMut(u32)) {
                $($crate::record::Record::write(&self.$field, put);)*
            }

            fn visit_places(&mut self, visit: &mut dyn FnMut(&mut $crate::Place)) {
                $($crate::record::Record::visit_places(&mut self.$field, visit);)*
            }
        }
    )*};
}

pub(crate) use records;
