//! Fixed-size records of little-endian words: the serialized fields of instructions.

use core::fmt::Debug;
use core::ops::Deref;

use et_kernels::elementwise::Operation;

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

    /// The number of unread words.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether all words are read.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A type with a serialized form of words.
pub trait Record: Sized {
    /// Deserializes a record; `None` for missing or invalid words.
    fn read(words: &mut Words<'_>) -> Option<Self>;

    /// Serializes the record, word by word.
    fn write(&self, put: &mut dyn FnMut(u32));

    /// Visits the operand slots of the record with the access of the instruction.
    fn visit_slots(&self, _visit: &mut dyn FnMut(u32, Access)) {}

    /// Prints the record; fields with their default value are left out.
    fn show(&self, text: &mut dyn Text);
}

/// A printer of records.
pub trait Text {
    /// Prints a number, or the name of a variant.
    fn value(&mut self, value: &dyn Debug);
    /// Prints an operand slot.
    fn slot(&mut self, slot: SlotNumber);
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

    fn visit_slots(&self, visit: &mut dyn FnMut(u32, Access)) {
        self.0.visit_slots(&mut |slot, _| visit(slot, Access::Write));
    }

    fn show(&self, text: &mut dyn Text) {
        self.0.show(text);
    }
}

/// The number of an operand slot, or no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotNumber(pub u32);

impl SlotNumber {
    /// An absent operand.
    pub const NONE: Self = Self(u32::MAX);
}

impl Default for SlotNumber {
    fn default() -> Self {
        Self::NONE
    }
}

impl Record for SlotNumber {
    fn read(words: &mut Words<'_>) -> Option<Self> {
        words.word().map(Self)
    }

    fn write(&self, put: &mut dyn FnMut(u32)) {
        put(self.0);
    }

    fn visit_slots(&self, visit: &mut dyn FnMut(u32, Access)) {
        if *self != Self::NONE {
            visit(self.0, Access::Read);
        }
    }

    fn show(&self, text: &mut dyn Text) {
        text.slot(*self);
    }
}

/// Implements [`Record`] for types of one word, by the functions from and to a word.
macro_rules! words {
    ($($name:ty: |$word:ident| $from:expr, |$value:ident| $to:expr;)*) => {$(
        impl Record for $name {
            fn read(words: &mut Words<'_>) -> Option<Self> {
                let $word = words.word()?;
                $from
            }

            fn write(&self, put: &mut dyn FnMut(u32)) {
                let $value = *self;
                put($to);
            }

            fn show(&self, text: &mut dyn Text) {
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
    Operation: |word| Self::from_number(u8::try_from(word).ok()?), |value| value as u32;
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

    fn visit_slots(&self, visit: &mut dyn FnMut(u32, Access)) {
        self.iter().for_each(|item| item.visit_slots(visit));
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

            fn visit_slots(&self, visit: &mut dyn FnMut(u32, $crate::record::Access)) {
                $($crate::record::Record::visit_slots(&self.$field, visit);)*
            }

            fn show(&self, text: &mut dyn $crate::record::Text) {
                let usual = Self::default();
                text.begin();
                $(if self.$field != usual.$field {
                    text.name(stringify!($field));
                    $crate::record::Record::show(&self.$field, text);
                })*
                text.end();
            }
        }
    )*};
}

/// Declares enums that are records of one word: the number of the variant. The first variant is the default.
macro_rules! numbered {
    ($(
        $(#[$meta:meta])*
        pub enum $name:ident { $(#[$first_meta:meta])* $first:ident, $($(#[$variant_meta:meta])* $variant:ident,)* }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(u32)]
        pub enum $name { $(#[$first_meta])* #[default] $first, $($(#[$variant_meta])* $variant,)* }

        impl $crate::record::Record for $name {
            fn read(words: &mut $crate::record::Words<'_>) -> Option<Self> {
                [Self::$first, $(Self::$variant,)*].get(words.word()? as usize).copied()
            }

            fn write(&self, put: &mut dyn FnMut(u32)) {
                put(*self as u32);
            }

            fn show(&self, text: &mut dyn $crate::record::Text) {
                text.value(self);
            }
        }
    )*};
}

pub(crate) use {numbered, records};
