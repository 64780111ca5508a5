//! The flatbuffer wire format: tables, vectors and strings, with each access checked against the buffer.
//!
//! A position is the rest of the buffer from an offset on, so a check and a move are a single slice operation and no
//! offset arithmetic can overflow. Offsets lead forward except to a table's field list, which contains no offsets, so a
//! reader terminates. Format: <https://flatbuffers.dev/internals/>.
//!
//! On bare metal, accessors are not inlined: each use of a field is a call, and the whole reader takes under 2 KiB of
//! flash.

use et_core::{Error, Result};

/// A table: a set of numbered fields, any of which may be absent.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    buffer: &'a [u8],
    start: usize,
}

impl<'a> Table<'a> {
    /// A table of an empty buffer: every access is an error.
    pub(crate) const EMPTY: Self = Self { buffer: &[], start: 0 };

    /// The root table of a flatbuffer.
    pub fn root(buffer: &'a [u8]) -> Result<Self> {
        Self::behind(buffer, buffer)
    }

    /// The 8-bit number in field `slot`, 0 when absent.
    #[inline]
    pub fn u8(self, slot: usize) -> Result<u8> {
        self.byte(slot).map(|byte| byte as u8)
    }

    /// The 32-bit number in field `slot`, 0 when absent.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn u32(self, slot: usize) -> Result<u32> {
        self.scalar(slot).map(u32::from_le_bytes)
    }

    /// The signed 32-bit number in field `slot`, 0 when absent.
    pub fn i32(self, slot: usize) -> Result<i32> {
        self.u32(slot).map(u32::cast_signed)
    }

    /// The 64-bit number in field `slot`, 0 when absent.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn u64(self, slot: usize) -> Result<u64> {
        self.scalar(slot).map(u64::from_le_bytes)
    }

    /// The table in field `slot`, if present.
    #[inline(never)]
    pub fn table(self, slot: usize) -> Result<Option<Self>> {
        let field = self.field(slot)?;
        if field.is_empty() { Ok(None) } else { Self::behind(self.buffer, field).map(Some) }
    }

    /// The table in field `slot`, which must be present.
    pub fn required_table(self, slot: usize) -> Result<Self> {
        self.table(slot)?.ok_or(Error::InvalidProgram)
    }

    /// The items of the vector in field `slot`, `width` bytes each; empty if the field is absent.
    pub fn vector(self, slot: usize, width: usize) -> Result<&'a [u8]> {
        let (items, count) = self.items(slot)?;
        let length = count.checked_mul(width).ok_or(Error::InvalidProgram)?;
        items.get(..length).ok_or(Error::InvalidProgram)
    }

    /// The vector of tables in field `slot`; empty if the field is absent.
    pub fn tables(self, slot: usize) -> Result<Tables<'a>> {
        let (items, len) = self.items(slot)?;
        if len > items.len() / 4 {
            return Err(Error::InvalidProgram);
        }
        Ok(Tables { buffer: self.buffer, items, len })
    }

    /// Table `index` of the vector in field `slot`.
    #[inline(never)]
    pub fn element(self, slot: usize, index: usize) -> Result<Self> {
        self.tables(slot)?.get(index)
    }

    /// The text in field `slot`; empty when absent.
    #[inline(never)]
    pub fn string(self, slot: usize) -> Result<&'a str> {
        core::str::from_utf8(self.vector(slot, 1)?).map_err(|_| Error::InvalidProgram)
    }

    /// Whether field `slot` is present.
    pub fn has(self, slot: usize) -> Result<bool> {
        self.field(slot).map(|field| !field.is_empty())
    }

    /// The table that the offset at `position` leads to.
    fn behind(buffer: &'a [u8], position: &[u8]) -> Result<Self> {
        let target = follow(position)?;
        Ok(Self { buffer, start: buffer.len() - target.len() })
    }

    /// A byte as a word, which comes back in registers.
    #[cfg_attr(target_os = "none", inline(never))]
    fn byte(self, slot: usize) -> Result<u32> {
        self.scalar(slot).map(|[byte]| u32::from(byte))
    }

    fn scalar<const N: usize>(self, slot: usize) -> Result<[u8; N]> {
        let field = self.field(slot)?;
        if field.is_empty() { Ok([0; N]) } else { field.first_chunk().copied().ok_or(Error::InvalidProgram) }
    }

    /// The items of a vector, up to the end of the buffer, and how many there should be.
    #[inline(never)]
    fn items(self, slot: usize) -> Result<(&'a [u8], usize)> {
        let field = self.field(slot)?;
        if field.is_empty() {
            return Ok((field, 0));
        }
        let (count, items) = follow(field)?.split_first_chunk().ok_or(Error::InvalidProgram)?;
        Ok((items, u32::from_le_bytes(*count) as usize))
    }

    /// The buffer from field `slot` on; empty when the field is absent.
    #[cfg_attr(target_os = "none", inline(never))]
    fn field(self, slot: usize) -> Result<&'a [u8]> {
        let table = self.buffer.get(self.start..).ok_or(Error::InvalidProgram)?;
        let vtable = self.start.wrapping_sub(word(table)? as i32 as usize);
        let vtable = self.buffer.get(vtable..).ok_or(Error::InvalidProgram)?;
        let entry = 4 + 2 * slot;
        if entry >= half_word(vtable)? {
            return Ok(&[]);
        }
        let offset = half_word(vtable.get(entry..).ok_or(Error::InvalidProgram)?)?;
        match table.get(offset..) {
            _ if offset == 0 => Ok(&[]),
            Some(field) if !field.is_empty() => Ok(field),
            _ => Err(Error::InvalidProgram),
        }
    }
}

/// A vector of tables.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    buffer: &'a [u8],
    items: &'a [u8],
    len: usize,
}

impl<'a> Tables<'a> {
    /// No tables.
    pub(crate) const EMPTY: Self = Self { buffer: &[], items: &[], len: 0 };

    /// The number of tables.
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether the list is empty.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Table `index`.
    #[inline(never)]
    pub fn get(self, index: usize) -> Result<Table<'a>> {
        if index >= self.len {
            return Err(Error::InvalidProgram);
        }
        Table::behind(self.buffer, self.items.get(4 * index..).ok_or(Error::InvalidProgram)?)
    }
}

/// The buffer from where the offset at `position` leads.
fn follow(position: &[u8]) -> Result<&[u8]> {
    position.get(word(position)? as usize..).ok_or(Error::InvalidProgram)
}

fn word(position: &[u8]) -> Result<u32> {
    position.first_chunk().copied().map(u32::from_le_bytes).ok_or(Error::InvalidProgram)
}

fn half_word(position: &[u8]) -> Result<usize> {
    position.first_chunk().copied().map(u16::from_le_bytes).map(usize::from).ok_or(Error::InvalidProgram)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table at 12 with its field list at 4: field 0 is the byte 7, field 1 is absent, field 2 is beyond the list.
    const ONE_TABLE: [u8; 20] = [12, 0, 0, 0, 8, 0, 8, 0, 4, 0, 0, 0, 8, 0, 0, 0, 7, 0, 0, 0];

    #[test]
    fn present_and_absent_fields() {
        let table = Table::root(&ONE_TABLE).unwrap();
        assert_eq!((table.u8(0), table.u32(1), table.u64(2)), (Ok(7), Ok(0), Ok(0)));
        assert_eq!(table.u64(0), Err(Error::InvalidProgram));
        assert_eq!((table.has(0), table.has(1)), (Ok(true), Ok(false)));
    }

    #[test]
    fn a_table_outside_the_buffer_is_an_error() {
        for root in [17_u32, 20, 21, u32::MAX] {
            let mut bytes = ONE_TABLE;
            bytes[..4].copy_from_slice(&root.to_le_bytes());
            assert!(Table::root(&bytes).and_then(|table| table.u8(0)).is_err(), "{root}");
        }
    }

    #[test]
    fn a_vector_longer_than_the_buffer_is_an_error() {
        let mut bytes = ONE_TABLE;
        bytes[16] = 0; // Field 0 now leads to itself: a vector with no item.
        assert_eq!(Table::root(&bytes).unwrap().vector(0, 8), Ok(&[][..]));
        bytes[16] = 1; // Unaligned, and its length is cut off.
        assert_eq!(Table::root(&bytes).unwrap().vector(0, 8), Err(Error::InvalidProgram));
    }
}
