//! Records of little-endian words: the serialized headers and instructions of delegate blobs.
//!
//! A delegate declares its records by [`records!`], enums by [`numbered!`] and other types of one word by [`words!`]. The
//! declaration is the format: reading, writing, the operands and the text of a record follow from the fields.
//!
//! ```
//! use et_record::{Record, Words, records};
//!
//! records! {
//!     /// A range of rows.
//!     pub struct Rows {
//!         /// The first row.
//!         pub first: u32,
//!         /// The factor of the rows.
//!         pub scale: f32,
//!     }
//! }
//!
//! let mut bytes = Vec::new();
//! Rows { first: 3, scale: 0.5 }.write(&mut |word| bytes.extend(word.to_le_bytes()));
//! assert_eq!(Rows::read(&mut Words::new(&bytes)), Some(Rows { first: 3, scale: 0.5 }));
//! ```
#![no_std]
#![forbid(unsafe_code)]

use core::fmt::Debug;
use core::ops::Deref;

/// A reader of words.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(&'a [[u8; 4]]);

impl<'a> Words<'a> {
    /// The words in `bytes`; an incomplete last word is ignored.
    pub fn new(bytes: &'a [u8]) -> Self {
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

    /// The unread words as bytes.
    pub const fn bytes(&self) -> &'a [[u8; 4]] {
        self.0
    }

    /// The number of unread words.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether all words are read.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A type with a serialized form of words. `write`, `visit` and `show` of declared records are inline, so that a device, which only
/// reads records, does not compile them.
pub trait Record: Sized {
    /// Deserializes a record; `None` for missing or invalid words.
    fn read(words: &mut Words<'_>) -> Option<Self>;

    /// Serializes the record, word by word.
    fn write(&self, put: &mut dyn FnMut(u32));

    /// Visits the operands of the record.
    fn visit(&mut self, _visit: &mut dyn FnMut(Operand<'_>)) {}

    /// Prints the record; fields with their default value are left out.
    fn show(&self, text: &mut dyn Text);
}

/// The words of a record that name an operand.
#[derive(Debug)]
pub struct Operand<'r> {
    /// The number of the operand's memory: an argument of the call, or a slot of the blob.
    pub memory: &'r mut u32,
    /// The offset within the memory, in bytes; `None` for the whole memory.
    pub offset: Option<&'r mut u32>,
    /// The access of the instruction.
    pub access: Access,
}

/// A printer of records.
pub trait Text {
    /// Prints a number, or the name of a variant.
    fn value(&mut self, value: &dyn Debug);
    /// Prints an operand by the number of its memory.
    fn operand(&mut self, memory: u32);
    /// Begins the fields of a struct, or the elements of an array.
    fn begin(&mut self);
    /// Names the next field; an array element has an empty name.
    fn name(&mut self, name: &'static str);
    /// Ends the fields or elements.
    fn end(&mut self);
}

/// The access of an instruction to an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The operand is an input.
    Read,
    /// The operand is an output ([`Write`]).
    Write,
}

/// An operand that the instruction writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Write<T>(pub T);

impl<T> Deref for Write<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Record> Record for Write<T> {
    fn read(words: &mut Words<'_>) -> Option<Self> {
        T::read(words).map(Self)
    }

    fn write(&self, put: &mut dyn FnMut(u32)) {
        self.0.write(put);
    }

    fn visit(&mut self, visit: &mut dyn FnMut(Operand<'_>)) {
        self.0.visit(&mut |operand| visit(Operand { access: Access::Write, ..operand }));
    }

    fn show(&self, text: &mut dyn Text) {
        self.0.show(text);
    }
}

/// Implements [`Record`] for types of one word, by the functions from and to a word.
#[macro_export]
macro_rules! words {
    ($($name:ty: |$word:ident| $from:expr, |$value:ident| $to:expr;)*) => {$(
        impl $crate::Record for $name {
            fn read(words: &mut $crate::Words<'_>) -> Option<Self> {
                let $word = words.word()?;
                $from
            }

            #[inline]
            fn write(&self, put: &mut dyn FnMut(u32)) {
                let $value = *self;
                put($to);
            }

            #[inline]
            fn show(&self, text: &mut dyn $crate::Text) {
                text.value(self);
            }
        }
    )*};
}

words! {
    u32: |word| Some(word), |value| value;
    i32: |word| Some(word.cast_signed()), |value| value.cast_unsigned();
    f32: |word| Some(Self::from_bits(word)), |value| value.to_bits();
    bool: |word| (word < 2).then_some(word == 1), |value| u32::from(value);
}

impl Record for u64 {
    fn read(words: &mut Words<'_>) -> Option<Self> {
        let (low, high) = (words.word()?, words.word()?);
        Some(Self::from(high) << 32 | Self::from(low))
    }

    fn write(&self, put: &mut dyn FnMut(u32)) {
        put(*self as u32);
        put((*self >> 32) as u32);
    }

    fn show(&self, text: &mut dyn Text) {
        text.value(self);
    }
}

impl<T: Record + Copy + Default + PartialEq, const N: usize> Record for [T; N] {
    fn read(words: &mut Words<'_>) -> Option<Self> {
        let mut items = [T::default(); N];
        for item in &mut items {
            *item = T::read(words)?;
        }
        Some(items)
    }

    fn write(&self, put: &mut dyn FnMut(u32)) {
        self.iter().for_each(|item| item.write(put));
    }

    fn visit(&mut self, visit: &mut dyn FnMut(Operand<'_>)) {
        self.iter_mut().for_each(|item| item.visit(visit));
    }

    fn show(&self, text: &mut dyn Text) {
        let shown = self.iter().rposition(|item| *item != T::default()).map_or(0, |last| last + 1);
        text.begin();
        for item in &self[..shown] {
            text.name("");
            item.show(text);
        }
        text.end();
    }
}

/// Declares structs that are records, with record fields.
#[macro_export]
macro_rules! records {
    ($($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }

        impl $crate::Record for $name {
            fn read(words: &mut $crate::Words<'_>) -> Option<Self> {
                Some(Self { $($field: <$type as $crate::Record>::read(words)?,)* })
            }

            #[inline]
            fn write(&self, put: &mut dyn FnMut(u32)) {
                $($crate::Record::write(&self.$field, put);)*
            }

            #[inline]
            fn visit(&mut self, visit: &mut dyn FnMut($crate::Operand<'_>)) {
                $($crate::Record::visit(&mut self.$field, visit);)*
            }

            #[inline]
            fn show(&self, text: &mut dyn $crate::Text) {
                let usual = Self::default();
                text.begin();
                $(if self.$field != usual.$field {
                    text.name(stringify!($field));
                    $crate::Record::show(&self.$field, text);
                })*
                text.end();
            }
        }
    )*};
}

/// Declares enums that are records of one word: the number of the variant. The first variant is the default.
#[macro_export]
macro_rules! numbered {
    ($(
        $(#[$meta:meta])*
        pub enum $name:ident { $(#[$first_meta:meta])* $first:ident, $($(#[$variant_meta:meta])* $variant:ident,)* }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(u32)]
        pub enum $name { $(#[$first_meta])* #[default] $first, $($(#[$variant_meta])* $variant,)* }

        impl $crate::Record for $name {
            fn read(words: &mut $crate::Words<'_>) -> Option<Self> {
                [Self::$first, $(Self::$variant,)*].get(words.word()? as usize).copied()
            }

            #[inline]
            fn write(&self, put: &mut dyn FnMut(u32)) {
                put(*self as u32);
            }

            #[inline]
            fn show(&self, text: &mut dyn $crate::Text) {
                text.value(self);
            }
        }
    )*};
}
