//! Blockwise weights: integers with the scales, and perhaps the offsets, of blocks, and the packed format that holds these exactly.

use std::ops::Range;

use et_gemm::{BlockFormat, Scales, Width};
use etbuild_ir::ConstantData;
use etbuild_weights::reals;
use rayon::prelude::*;

/// Blockwise weights `[columns, inner]`, with a scale per block.
#[derive(Clone, Debug)]
pub struct GroupedWeights {
    /// A weight per byte, in row-major order.
    pub bytes: ConstantData,
    /// The least and the greatest weight of the quantization range.
    pub bounds: [i64; 2],
    /// The f32 scale tensor `[columns, inner / group]`.
    pub scales: ConstantData,
    /// Block size: elements of K that share a scale.
    pub group: usize,
    /// Blocks of a column.
    pub count: usize,
}

impl GroupedWeights {
    /// The packed weights, in the smallest format that holds scales and offsets exactly; `None` if no format has kernels.
    pub fn packed(self, offsets: Option<ConstantData>, bias: Vec<f32>) -> Option<(ConstantData, Box<Groups>)> {
        let width = width_of(self.bounds, offsets.is_some(), self.group)?;
        let least = if width == Width::Int8 { 0 } else { self.bounds[0] as i8 };
        let offsets = offsets.map(|elements| Offsets { elements, least });
        let (is_biased, has_offsets, group) = (!bias.is_empty(), offsets.is_some(), self.group);
        let formats = SCALES.map(|scales| BlockFormat { group, width, is_biased, has_offsets, scales });
        let inner = group * self.count;
        let mut fitting: Vec<BlockFormat> = formats.into_iter().filter(|format| format.fits(inner)).collect();
        fitting.sort_by_key(|format| format.scale_bytes(MANY));
        let format = fitting.into_iter().find(|format| self.holds(*format, offsets.as_ref()))?;
        self.scales.release();
        offsets.iter().for_each(|offsets| offsets.elements.release());
        Some((self.bytes, Box::new(Groups { format, scales: self.scales, offsets, bias })))
    }

    /// Whether a format holds all scales and offsets exactly.
    fn holds(&self, format: BlockFormat, offsets: Option<&Offsets>) -> bool {
        let holds =
            |numbers: &[f32]| numbers.chunks(self.count.max(1)).all(|column| format.scales.holds(column, self.group));
        let scales = self.scales.bytes().par_chunks(COLUMNS * self.count.max(1) * size_of::<f32>());
        let columns = self.scales.bytes().len() / size_of::<f32>() / self.count.max(1);
        let parts = (0..columns.div_ceil(COLUMNS)).into_par_iter().map(|part| part * COLUMNS);
        scales.all(|part| holds(&reals::floats(part)))
            && offsets.is_none_or(|offsets| {
                parts.all(|first| {
                    let columns = first..columns.min(first + COLUMNS);
                    offsets.of_columns(columns, (&self.scales, self.group, self.count)).is_some_and(|part| holds(&part))
                })
            })
    }
}

/// A number of blocks that fills spans, by which formats of scales are compared.
const MANY: usize = 64;

/// The formats of scales.
const SCALES: [Scales; 4] = [Scales::Steps, Scales::SuperBlocks, Scales::Halves, Scales::Floats];

/// The columns whose numbers are checked together.
const COLUMNS: usize = 64;

/// Offsets of blocks. Packed int4 and int6 with offsets are unsigned: the least integer is subtracted from the integers of the model, and its
/// product with the scale is added to the offset. Nothing is rounded where 24 bits hold the sum, as with the K-quants of llama.cpp.
#[derive(Clone, Debug, PartialEq)]
pub struct Offsets {
    /// The offsets, each times the elements of a block: `float32 [blocks, columns]`.
    pub elements: ConstantData,
    /// What packing subtracts from the integers.
    pub least: i8,
}

impl Offsets {
    /// The offsets of packed integers, `[columns, blocks]`, of some columns of a matrix with `count` blocks of `group` elements a column;
    /// `scales` are those of all columns.
    pub fn of_columns(
        &self,
        columns: Range<usize>,
        (scales, group, count): (&ConstantData, usize, usize),
    ) -> Option<Vec<f32>> {
        let size = size_of::<f32>();
        let all = self.elements.bytes().len() / size / count.max(1);
        let scales = scales.bytes().get(columns.start * count * size..columns.end * count * size)?;
        let mut numbers: Vec<f32> =
            reals::floats(scales).into_iter().map(|scale| scale * f32::from(self.least)).collect();
        for block in 0..count {
            let row = (block * all + columns.start) * size..(block * all + columns.end) * size;
            for (column, number) in reals::floats(self.elements.bytes().get(row)?).into_iter().enumerate() {
                numbers[column * count + block] += number / group as f32;
            }
        }
        Some(numbers)
    }
}

/// Offsets of blocks by row, `[rows, blocks]`, as factors of the means of blocks of `group` elements: transposed, and each times the elements
/// of a block.
pub fn factors_of_means(offsets: &[u8], blocks: usize, group: usize) -> Vec<u8> {
    let offsets = reals::floats(offsets);
    let of_block = |block: usize| offsets.iter().skip(block).step_by(blocks);
    let factors: Vec<f32> = (0..blocks).flat_map(of_block).map(|offset| offset * group as f32).collect();
    reals::stored(&factors)
}

/// Blockwise weights beside the integers.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// The packed format.
    pub format: BlockFormat,
    /// The scales, `float32 [columns, inner / group]`.
    pub scales: ConstantData,
    /// The offsets, in a format with offsets.
    pub offsets: Option<Offsets>,
    /// A bias for each column, or none.
    pub bias: Vec<f32>,
}

/// The narrowest type of weights that has a quantization range. int4 and int6 with offsets can have any range of their size.
fn width_of([least, most]: [i64; 2], has_offsets: bool, group: usize) -> Option<Width> {
    let has = |bits: i64| match has_offsets {
        true => most - least < 1 << bits,
        false => least >= -(1 << (bits - 1)) && most < 1 << (bits - 1),
    };
    if least < -128 || most > 127 {
        return None;
    }
    let has_sixteen = group.is_multiple_of(Width::Int6.step());
    Some(match () {
        () if has(4) => Width::Int4,
        () if has(6) && has_sixteen => Width::Int6,
        () => Width::Int8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_means_are_by_block() {
        let factors = factors_of_means(&reals::stored(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 3, 8);
        assert_eq!(reals::floats(&factors), [8.0, 32.0, 16.0, 40.0, 24.0, 48.0]);
    }

    #[test]
    fn scales_have_the_smallest_exact_format() {
        let form = |bounds, [group, count]: [usize; 2], scales: &[f32], has_offsets: bool| {
            let data = |factor: f32| -> ConstantData {
                ConstantData::new(scales.iter().flat_map(|scale| (scale * factor).to_le_bytes()).collect::<Vec<u8>>())
            };
            let offsets = has_offsets.then(|| data(group as f32));
            let bytes = ConstantData::new(Vec::new());
            let weights = GroupedWeights { bytes, bounds, scales: data(1.0), group, count };
            let format = weights.packed(offsets, Vec::new()).unwrap().1.format;
            (format.width, format.scales)
        };
        let (int4, int8, sizes) = ([-8, 7], [-128, 127], [8, 2]);
        assert_eq!(form(int4, sizes, &[0.5, 127.5, 25.5, 25.5], false), (Width::Int4, Scales::Steps));
        assert_eq!(form(int8, sizes, &[0.5, 127.5, 25.5, 25.5], false), (Width::Int8, Scales::Halves));
        assert_eq!(form(int4, sizes, &[0.5, 127.5, 0.3125, 25.5], false), (Width::Int4, Scales::Halves));
        assert_eq!(form(int4, sizes, &[0.5, 127.5, 0.33, 25.5], false), (Width::Int4, Scales::Floats));
        assert_eq!(form([-16, 15], [16, 2], &[0.5, 0.33], false), (Width::Int6, Scales::Floats));
        assert_eq!(form([-32, 31], [128, 2], &[0.3, -0.6], false), (Width::Int6, Scales::SuperBlocks));
        assert_eq!(form([-8, 7], [128, 2], &[0.375, -0.75], true), (Width::Int4, Scales::Halves));
        assert_eq!(form([-8, 7], [64, 4], &[3.0e-6, -6.0e-6, 9.0e-6, 0.0], true), (Width::Int4, Scales::SuperBlocks));
        assert_eq!(form([0, 15], [128, 2], &[0.3, -0.61803], true), (Width::Int4, Scales::Floats));
        assert_eq!(form([0, 15], [128, 2], &[0.3, -0.6], false), (Width::Int6, Scales::SuperBlocks));
        assert_eq!(form([0, 31], [128, 2], &[0.3, -0.6], true), (Width::Int6, Scales::SuperBlocks));
    }
}
