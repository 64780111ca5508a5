//! Numbers of 8 bits (E4M3) with one scale, a scale for each row, or a scale for each block of rows and columns.

use crate::encoded::Form;
use crate::lanes::Lanes;
use crate::small_floats;

/// A matrix.
pub struct Fp8 {
    /// A byte for each element.
    pub codes: Lanes,
    /// A scale for each block, by the rows of blocks.
    pub scales: Lanes,
    /// The rows and columns of a block.
    pub block: [usize; 2],
    /// The columns of the matrix.
    pub columns: usize,
}

impl Form for Fp8 {
    fn name(&self) -> &'static str {
        "FP8"
    }

    fn identity(&self) -> String {
        let Self { codes, scales, block, columns } = self;
        format!("{} {} {} {block:?} {columns}", codes.digest(), scales.digest(), scales.0.scalar_type.name())
    }

    fn decode(&self, first: usize, numbers: &mut [f32]) {
        let table: Vec<f32> = (0..=u8::MAX).map(small_floats::e4m3).collect();
        let of_row = self.columns.div_ceil(self.block[1]);
        for (row, numbers) in (first..).zip(numbers.chunks_exact_mut(self.columns.max(1))) {
            for (column, number) in numbers.iter_mut().enumerate() {
                let code = self.codes.byte(row * self.columns + column);
                let scale = self.scales.real(row / self.block[0] * of_row + column / self.block[1]);
                *number = table.get(usize::from(code)).copied().unwrap_or_default() * scale;
            }
        }
    }
}
