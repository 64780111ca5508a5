//! Tables and vectors on top of the `flatbuffers` crate's builder; equal small vectors and strings are stored once.

use std::collections::BTreeMap;

use flatbuffers::{FlatBufferBuilder, Push, UnionWIPOffset, WIPOffset};

/// The offset of a written object.
pub(super) type Offset = WIPOffset<UnionWIPOffset>;

/// A field of a table; its slot is its position in the list of fields. Fields with the value zero are omitted.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Absent,
    U8(u8),
    U32(u32),
    U64(u64),
    /// A number whose absence is written as -1, in the schema's default.
    Id(Option<u32>),
    Offset(Offset),
}

impl Field {
    /// An offset, or an absent field.
    pub(super) fn optional(offset: Option<Offset>) -> Self {
        offset.map_or(Self::Absent, Self::Offset)
    }

    const fn width(self) -> usize {
        match self {
            Self::Absent => 0,
            Self::U8(_) => 1,
            Self::U32(_) | Self::Id(_) | Self::Offset(_) => 4,
            Self::U64(_) => 8,
        }
    }
}

/// A flatbuffer in the making.
#[derive(Default)]
pub(super) struct Builder {
    inner: FlatBufferBuilder<'static>,
    shared_bytes: BTreeMap<Vec<u8>, Offset>,
    shared_words: BTreeMap<Vec<i32>, Offset>,
}

impl Builder {
    /// Writes a table, widest fields first, so that little padding is needed.
    pub(super) fn table(&mut self, fields: &[Field]) -> Offset {
        let start = self.inner.start_table();
        for width in [8, 4, 1] {
            let of_width = fields.iter().enumerate().filter(|(_, field)| field.width() == width);
            of_width.for_each(|(slot, field)| self.field(4 + 2 * slot as u16, *field));
        }
        WIPOffset::new(self.inner.end_table(start).value())
    }

    /// Writes a vector of tables.
    pub(super) fn tables(&mut self, tables: &[Offset]) -> Offset {
        self.inner.create_vector(tables).as_union_value()
    }

    /// Writes a list of tables, each made of an item by `write`.
    pub(super) fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T) -> Offset) -> Offset {
        let tables: Vec<Offset> = items.iter().map(|item| write(self, item)).collect();
        self.tables(&tables)
    }

    /// Writes a vector of numbers.
    pub(super) fn vector<T: Push<Output: 'static> + Copy>(&mut self, items: &[T]) -> Offset {
        self.inner.create_vector(items).as_union_value()
    }

    /// Writes a vector of bytes; equal vectors are written once.
    pub(super) fn bytes(&mut self, items: &[u8]) -> Offset {
        if let Some(offset) = self.shared_bytes.get(items) {
            return *offset;
        }
        let offset = self.vector(items);
        self.shared_bytes.insert(items.to_vec(), offset);
        offset
    }

    /// Writes a vector of 32-bit integers; equal vectors are written once.
    pub(super) fn words(&mut self, items: &[i32]) -> Offset {
        if let Some(offset) = self.shared_words.get(items) {
            return *offset;
        }
        let offset = self.vector(items);
        self.shared_words.insert(items.to_vec(), offset);
        offset
    }

    /// Writes a text; equal texts are written once.
    pub(super) fn string(&mut self, text: &str) -> Offset {
        self.inner.create_shared_string(text).as_union_value()
    }

    /// The finished flatbuffer.
    pub(super) fn finish(mut self, root: Offset, identifier: &str) -> Vec<u8> {
        self.inner.finish(root, Some(identifier));
        self.inner.finished_data().to_vec()
    }

    /// The finished flatbuffer behind its size.
    pub(super) fn finish_sized(mut self, root: Offset, identifier: &str) -> Vec<u8> {
        self.inner.finish_size_prefixed(root, Some(identifier));
        self.inner.finished_data().to_vec()
    }

    fn field(&mut self, slot: u16, field: Field) {
        match field {
            Field::Absent => {}
            Field::U8(value) => self.inner.push_slot(slot, value, 0),
            Field::U32(value) => self.inner.push_slot(slot, value, 0),
            Field::U64(value) => self.inner.push_slot(slot, value, 0),
            Field::Id(value) => self.inner.push_slot(slot, value.map_or(-1, u32::cast_signed), -1),
            Field::Offset(value) => self.inner.push_slot_always(slot, value),
        }
    }
}
