//! The forms of elements in GGUF files: plain numbers, and blocks of neighbours in a row.
//!
//! Layouts are those of `ggml-common.h`; the numbers of the types are those of `ggml.h`.

mod codes;
mod lattices;
mod simple;
mod superblocks;
mod ternary;

use std::sync::Arc;

use et_core::{Half, ScalarType};
use etbuild_ir::{Buffer, Digest};

use crate::encoded::{Encoded, Form, Grid, Split};

/// A form of elements.
#[derive(Debug)]
pub struct Format {
    /// The number in files.
    pub code: u32,
    /// The name.
    pub name: &'static str,
    /// The elements of a block.
    pub elements: usize,
    /// The bytes of a block.
    pub bytes: usize,
    /// What the bytes mean.
    pub kind: Kind,
}

/// What the bytes of a block mean.
#[derive(Debug)]
pub enum Kind {
    /// A number.
    Plain(ScalarType),
    /// Groups of integers that a function reads from a block.
    Groups(Grid, fn(&[u8], &mut Split<'_>)),
}

/// Every supported form.
const FORMATS: &[&[Format]] =
    &[simple::FORMATS, superblocks::FORMATS, codes::FORMATS, lattices::FORMATS, ternary::FORMATS];

/// The names of forms that are known and not supported, by their numbers.
const UNSUPPORTED: &[(u32, &str)] =
    &[(9, "Q8_1"), (15, "Q8_K"), (24, "I8"), (25, "I16"), (26, "I32"), (27, "I64"), (28, "F64")];

/// All supported forms.
pub fn all() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().copied().flatten()
}

/// The form with this number.
pub fn find(code: u32) -> Option<&'static Format> {
    all().find(|format| format.code == code)
}

/// The name of a form that is not supported.
pub fn unsupported(code: u32) -> Option<&'static str> {
    UNSUPPORTED.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

/// The half-precision number at a place of a block.
fn half(block: &[u8], start: usize) -> f32 {
    Half(word(block, start)).to_f32()
}

/// The 16-bit number at a place of a block.
fn word(block: &[u8], start: usize) -> u16 {
    let bytes = block.get(start..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
    u16::from_le_bytes(bytes)
}

/// A byte of a block.
fn byte(block: &[u8], index: usize) -> u8 {
    block.get(index).copied().unwrap_or_default()
}

/// The 4-bit numbers of bytes: the low halves of all, then the high halves.
fn nibbles(bytes: &[u8]) -> impl Iterator<Item = u8> + '_ {
    bytes.iter().map(|byte| byte & 15).chain(bytes.iter().map(|byte| byte >> 4))
}

/// Rows of blocks in a file.
struct Blocks {
    format: &'static Format,
    file: Arc<dyn Buffer>,
    start: usize,
    length: usize,
    columns: usize,
}

/// The matrix `[rows, columns]` at a place of a file.
pub fn matrix(format: &'static Format, file: Arc<dyn Buffer>, start: usize, [rows, columns]: [usize; 2]) -> Encoded {
    let length = rows * (columns / format.elements * format.bytes);
    Encoded { form: Arc::new(Blocks { format, file, start, length, columns }), columns }
}

impl Blocks {
    fn bytes(&self) -> &[u8] {
        self.file.bytes().get(self.start..self.start + self.length).unwrap_or_default()
    }

    /// The blocks from a row on.
    fn blocks(&self, row: usize) -> impl Iterator<Item = &[u8]> {
        let Format { elements, bytes, .. } = self.format;
        let start = row * (self.columns / elements * bytes);
        self.bytes().get(start..).unwrap_or_default().chunks_exact(*bytes)
    }
}

impl Form for Blocks {
    fn name(&self) -> &'static str {
        self.format.name
    }

    fn identity(&self) -> String {
        Digest::of(self.bytes()).to_string()
    }

    fn grid(&self) -> Option<Grid> {
        match self.format.kind {
            Kind::Groups(grid, _) => Some(grid),
            Kind::Plain(_) => None,
        }
    }

    fn split(&self, first: usize, parts: &mut Split<'_>) {
        let Kind::Groups(grid, read) = self.format.kind else { return };
        let (elements, groups) = (self.format.elements, self.format.elements / grid.group);
        let integers = parts.integers.chunks_exact_mut(elements);
        let scales = parts.scales.chunks_exact_mut(groups).zip(parts.offsets.chunks_exact_mut(groups));
        for ((integers, (scales, offsets)), block) in integers.zip(scales).zip(self.blocks(first)) {
            read(block, &mut Split { integers, scales, offsets });
        }
    }

    fn release(&self) {
        self.file.release(self.start..self.start + self.length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: usize = 64;
    const COLUMNS: usize = 256;

    /// Matrices of arbitrary bytes in each form that has groups, with the groups.
    fn matrices(cut: usize) -> impl Iterator<Item = (&'static Format, Grid, Encoded)> {
        all().filter_map(move |format| {
            let Kind::Groups(grid, _) = format.kind else { return None };
            let length = ROWS * COLUMNS / format.elements * format.bytes;
            let mut state = 1_u32;
            let bytes = (0..length / cut).map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            });
            let file: Vec<u8> = bytes.collect();
            Some((format, grid, matrix(format, Arc::new(file), 0, [ROWS, COLUMNS])))
        })
    }

    fn integers(grid: Grid, matrix: &Encoded) -> Vec<i8> {
        let (count, groups) = (ROWS * COLUMNS, ROWS * COLUMNS / grid.group);
        let (mut integers, mut scales, mut offsets) = (vec![0; count], vec![0.0; groups], vec![0.0; groups]);
        matrix.form.split(0, &mut Split { integers: &mut integers, scales: &mut scales, offsets: &mut offsets });
        integers
    }

    #[test]
    fn integers_of_any_bytes_are_within_the_bounds_of_the_form_and_use_the_bits() {
        for (format, grid, matrix) in matrices(1) {
            let [least, most] = grid.bounds;
            let all = integers(grid, &matrix);
            assert!(all.iter().all(|of| (least..=most).contains(&i64::from(*of))), "{}", format.name);
            // MXFP4's numbers have 5 bits, and GEMMs for bytes are what other experts have.
            let is_used = all.iter().any(|of| i64::from(*of) < least / 2 || i64::from(*of) > most / 2);
            assert!(is_used || format.name == "MXFP4", "{}", format.name);
        }
    }

    #[test]
    fn a_file_that_ends_early_has_zeros() {
        for (format, grid, matrix) in matrices(2) {
            assert!(integers(grid, &matrix).iter().all(|integer| *integer == 0), "{}", format.name);
        }
    }
}
