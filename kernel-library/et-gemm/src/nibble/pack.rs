//! The packed form of weights of half a byte: panels of columns.
//!
//! A panel is a row of what a zero point of one adds to each column before it is scaled (`f32`), a row of bias (`f32`) where
//! there is one, and for each group a row of scales (`float16`) and a row for each eight elements. Such a row has four bytes a
//! column: the first four elements in their low halves, the next four in the high ones, all plus eight. All is little-endian.

use et_core::Half;

/// What is packed, lengths checked.
pub struct Packing<'a> {
    /// Weights from -8 to 7: `[columns, inner]`.
    pub weights: &'a [i8],
    /// Scales: `[columns, groups]`.
    pub scales: &'a [f32],
    /// A real bias for each column, or nothing.
    pub bias: &'a [f32],
    /// Elements of a column.
    pub inner: usize,
    /// Elements of a group.
    pub group: usize,
}

impl Packing<'_> {
    /// Bytes of a column.
    pub const fn column_size(inner: usize, group: usize, is_biased: bool) -> usize {
        Self::header(is_biased) + inner / group * 2 + inner / 2
    }

    /// Bytes of a column before its groups.
    pub const fn header(is_biased: bool) -> usize {
        if is_biased { 8 } else { 4 }
    }

    /// Writes a panel of `width` columns, of which `columns` from `first` on exist. The others are zero.
    pub fn write(&self, first: usize, columns: usize, width: usize, panel: &mut [u8]) {
        panel.fill(0);
        let (header, groups) = panel.split_at_mut(Self::header(!self.bias.is_empty()) * width);
        for lane in 0..columns {
            let column = first + lane;
            if let Some(bias) = self.bias.get(column) {
                header[4 * (width + lane)..][..4].copy_from_slice(&bias.to_le_bytes());
            }
            let mut zero = 0.0;
            for (index, bytes) in groups.chunks_exact_mut((2 + self.group / 2) * width).enumerate() {
                zero += self.write_group(column, index, lane, width, bytes);
            }
            header[4 * lane..][..4].copy_from_slice(&zero.to_le_bytes());
        }
    }

    /// Reads the column at place `lane` of a panel of `width` columns.
    pub fn read(panel: &[u8], (width, lane): (usize, usize), is_biased: bool, elements: &mut [f32], group: usize) {
        let groups = panel[Self::header(is_biased) * width..].chunks_exact((2 + group / 2) * width);
        for (bytes, elements) in groups.zip(elements.chunks_exact_mut(group)) {
            let (scales, rows) = bytes.split_at(2 * width);
            let scale = Half(u16::from_le_bytes([scales[2 * lane], scales[2 * lane + 1]])).to_f32();
            for (row, eight) in rows.chunks_exact(4 * width).zip(elements.chunks_exact_mut(8)) {
                for index in 0..4 {
                    let pair = row[4 * lane + index];
                    let number = |half: u8| scale * (f32::from(half) - 8.0);
                    (eight[index], eight[4 + index]) = (number(pair & 15), number(pair >> 4));
                }
            }
        }
    }

    /// Writes a group of a column; gives its scaled sum.
    fn write_group(&self, column: usize, index: usize, lane: usize, width: usize, bytes: &mut [u8]) -> f32 {
        let scale = Half::from_f32(self.scales[column * (self.inner / self.group) + index]);
        let weights = &self.weights[column * self.inner + index * self.group..][..self.group];
        let (scales, rows) = bytes.split_at_mut(2 * width);
        scales[2 * lane..][..2].copy_from_slice(&scale.0.to_le_bytes());
        let mut sum = 0;
        for (row, eight) in rows.chunks_exact_mut(4 * width).zip(weights.as_chunks::<8>().0) {
            let halves = halves(eight);
            let pairs = (halves | halves >> 28) as u32;
            row[4 * lane..][..4].copy_from_slice(&pairs.to_le_bytes());
            sum += (halves.wrapping_mul(EACH) >> 56) as i32 - 8 * 8;
        }
        scale.to_f32() * sum as f32
    }
}

/// A one in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Eight weights with eight added, a byte each, the first lowest. Those beyond the ends become the ends.
fn halves(eight: &[i8; 8]) -> u64 {
    let weights = u64::from_le_bytes(eight.map(i8::cast_unsigned));
    // Eight is added to seven bits of each byte, so that nothing is carried, and the eighth bit by itself.
    let halves = ((weights & !(EACH << 7)) + (EACH << 3)) ^ (weights & (EACH << 7));
    if halves & (EACH * 0xf0) == 0 {
        return halves;
    }
    u64::from_le_bytes(eight.map(|weight| (weight.clamp(-8, 7) + 8).cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_is_added_to_each_weight() {
        let halves_of = |eight: [i8; 8]| halves(&eight).to_le_bytes();
        assert_eq!(halves_of([-8, -1, 0, 7, 1, -7, 6, 2]), [0, 7, 8, 15, 9, 1, 14, 10]);
        assert_eq!(halves_of([-128, -9, 8, 127, 0, 0, -8, 7]), [0, 0, 15, 15, 8, 8, 0, 15]);
    }
}
