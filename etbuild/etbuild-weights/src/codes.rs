//! 4-bit codes of a table (NF4, FP4) in blocks of a flattened matrix, as the library bitsandbytes stores them.

use crate::encoded::Form;
use crate::lanes::Lanes;

/// A matrix of 4-bit codes, the high halves of bytes first.
pub struct Codes {
    /// The codes, two in a byte.
    pub stored: Lanes,
    /// The number of each code.
    pub table: Lanes,
    /// The largest magnitude of each block, or the code of the magnitude.
    pub most: Lanes,
    /// The numbers of the codes of the largest magnitudes.
    pub nested: Option<Nested>,
    /// The elements of a block of the flattened matrix.
    pub block: usize,
    /// The columns of the matrix.
    pub columns: usize,
}

/// Codes of the largest magnitudes.
pub struct Nested {
    /// The number of each code.
    pub table: Lanes,
    /// The factor of each block of magnitudes.
    pub most: Lanes,
    /// The magnitudes of a block.
    pub block: usize,
    /// What is added to each magnitude.
    pub offset: f32,
}

impl Codes {
    fn scale(&self, block: usize) -> f32 {
        match &self.nested {
            None => self.most.real(block),
            Some(nested) => {
                let level = nested.table.real(usize::from(self.most.byte(block)));
                level * nested.most.real(block / nested.block) + nested.offset
            }
        }
    }
}

impl Form for Codes {
    fn name(&self) -> &'static str {
        "NF4"
    }

    fn identity(&self) -> String {
        let Self { stored, table, most, nested, block, columns } = self;
        let nested = nested.as_ref().map(|nested| {
            let Nested { table, most, block, offset } = nested;
            format!("{} {} {block} {offset}", table.digest(), most.digest())
        });
        format!("{} {} {} {nested:?} {block} {columns}", stored.digest(), table.digest(), most.digest())
    }

    fn decode(&self, first: usize, numbers: &mut [f32]) {
        let start = first * self.columns;
        let (mut block, mut scale) = (usize::MAX, 0.0);
        for (index, number) in (start..).zip(numbers.iter_mut()) {
            if index / self.block != block {
                block = index / self.block;
                scale = self.scale(block);
            }
            let code = self.stored.byte(index / 2) >> (if index % 2 == 0 { 4 } else { 0 }) & 15;
            *number = self.table.real(usize::from(code)) * scale;
        }
    }
}
