//! Fixed-size records of little-endian words: how a blob holds an instruction's fields.

/// A reader of words.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(&'a [[u8; 4]]);

impl<'a> Words<'a> {
    /// The words in `bytes`; what is left over at the end is ignored.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.as_chunks::<4>().0)
    }

    /// The next word; `None` at the end.
    pub fn word(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*first))
    }

    /// The next `count` words as a reader of their own; `None` where there are fewer.
    pub fn take(&mut self, count: usize) -> Option<Self> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(Self(taken))
    }

    /// The number of words that are left.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no word is left.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What has a form as words.
pub trait Record: Sized {
    /// Reads it; `None` where words are missing or mean nothing.
    fn read(words: &mut Words<'_>) -> Option<Self>;

    /// Writes it, word by word.
    fn write(&self, put: &mut dyn FnMut(u32));

    /// Visits the slots that it names.
    fn visit_slots(&self, _visit: &mut dyn FnMut(u32)) {}
}

/// The number of a slot, or of none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotNumber(pub u32);

impl SlotNumber {
    /// An operand that is absent.
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

    fn visit_slots(&self, visit: &mut dyn FnMut(u32)) {
        if *self != Self::NONE {
            visit(self.0);
        }
    }
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

impl Record for u64 {
    fn read(words: &mut Words<'_>) -> Option<Self> {
        let (low, high) = (words.word()?, words.word()?);
        Some(Self::from(high) << 32 | Self::from(low))
    }

    fn write(&self, put: &mut dyn FnMut(u32)) {
        put(*self as u32);
        put((*self >> 32) as u32);
    }
}

impl<T: Record + Copy + Default, const N: usize> Record for [T; N] {
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

    fn visit_slots(&self, visit: &mut dyn FnMut(u32)) {
        self.iter().for_each(|item| item.visit_slots(visit));
    }
}

/// Declares structs whose fields are records, and so are they.
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

            fn visit_slots(&self, visit: &mut dyn FnMut(u32)) {
                $($crate::record::Record::visit_slots(&self.$field, visit);)*
            }
        }
    )*};
}

pub(crate) use records;
