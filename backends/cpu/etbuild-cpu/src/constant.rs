//! Values known when a partition is lowered: constants and dequantized constants.

use et_core::{Half, ScalarType};
use et_gemm::{BlockFormat, Scales, Width, step_of};
use etbuild_backend::{ByteWeights, constant_of, floats, floats_of, integers};
use etbuild_ir::{ConstantData, DequantizeAffine, Links, ValueId, ValueKind, is_of_adapter};
use rayon::prelude::*;

use crate::tensor::{Buffer, Tensor};

/// The name of a LoRA adapter's constant.
pub fn name_in_adapter(links: &Links<'_>, id: ValueId) -> Option<String> {
    match &links.graph.value(id).kind {
        ValueKind::Constant { qualified_name, .. } if is_of_adapter(qualified_name) => Some(qualified_name.clone()),
        _ => None,
    }
}

/// The elements in row-major order.
pub fn row_major(links: &Links<'_>, id: ValueId) -> Option<ConstantData> {
    let (data, spec) = (constant_of(links, id)?, links.graph.spec(id));
    if spec.is_contiguous() {
        return Some(data);
    }
    let tensor = Tensor::of_spec(Buffer(0), spec);
    let width = spec.scalar_type.size();
    let mut bytes = Vec::with_capacity(data.bytes().len());
    for index in 0..tensor.numel() {
        let start = tensor.place_of(index) * width;
        bytes.extend_from_slice(data.bytes().get(start..start + width)?);
    }
    Some(ConstantData::new(bytes))
}

/// The int8 weights of a symmetrically dequantized value: per-tensor, per-channel along the first dimension, or per-row.
pub fn byte_weights(links: &Links<'_>, id: ValueId) -> Option<ByteWeights> {
    ByteWeights::of(links, id).or_else(|| by_row(links, id))
}

/// The int8 weights of `dequantize_affine(bytes, block, scales, zero_points, type, least, most, ...)` where a row is a block.
fn by_row(links: &Links<'_>, id: ValueId) -> Option<ByteWeights> {
    let node = DequantizeAffine::of(links.maker(id)?)?;
    let DequantizeAffine { integers, block, scales, zero_points: None, least, .. } = node else { return None };
    let ([1, group], [_, columns]) = (block, &links.graph.spec(integers).sizes[..]) else { return None };
    // A smaller quantization range means int4.
    let fits = *group == i64::from(*columns) && least < -8;
    ByteWeights::new(links, integers, floats(links, scales).filter(|_| fits)?, &[])
}

/// Blockwise int4 or int8 weights `[columns, inner]`, with a scale per block.
#[derive(Clone, Debug)]
pub struct GroupedWeights {
    /// A weight per byte, in row-major order.
    pub bytes: ConstantData,
    /// The type of the weights.
    pub width: Width,
    /// The f32 scale tensor `[columns, inner / group]`.
    pub scales: ConstantData,
    /// Block size: elements of K that share a scale.
    pub group: usize,
    /// Blocks of a column.
    pub count: usize,
}

impl GroupedWeights {
    /// The packing format; the scales decide the format of the block scales.
    pub fn form(&self, is_biased: bool) -> BlockFormat {
        let scales = form_of_scales(self.width, &self.scales, self.count);
        BlockFormat { group: self.group, width: self.width, is_biased, scales }
    }
}

/// The smallest format that holds the scales exactly: integer steps where the weights are int4 and the `count` scales of each column are
/// multiples of a step, FP16 where the scales are FP16 numbers, else f32.
pub fn form_of_scales(width: Width, scales: &ConstantData, count: usize) -> Scales {
    let columns = scales.bytes().par_chunks(count.max(1) * size_of::<f32>());
    let are_halves = |column: &[u8]| floats_of(column).iter().all(|scale| Half::from_f32(*scale).to_f32() == *scale);
    let form = if width == Width::Int4 && columns.clone().all(|column| step_of(&floats_of(column)).is_some()) {
        Scales::Steps
    } else if columns.all(are_halves) {
        Scales::Halves
    } else {
        Scales::Floats
    };
    scales.release();
    form
}

/// The blockwise weights of a value dequantized by `(bytes, block, scales, zero_points, type, least, most, ...)`.
pub fn grouped_weights(links: &Links<'_>, id: ValueId) -> Option<GroupedWeights> {
    let node = DequantizeAffine::of(links.maker(id)?)?;
    let DequantizeAffine { integers: bytes, block: [1, group], scales, zero_points, least, most } = node else {
        return None;
    };
    let width = width_of(least, most)?;
    let group = usize::try_from(*group).ok()?;
    let is_symmetric = match zero_points {
        Some(id) => integers(links, id)?.iter().all(|point| *point == 0),
        None => true,
    };
    let spec = links.graph.spec(bytes);
    let fits = spec.scalar_type == ScalarType::Char && spec.is_contiguous() && is_symmetric && group % 8 == 0;
    let bytes = links.graph.constant(bytes).filter(|_| fits)?;
    let count = usize::try_from(*links.graph.spec(scales).sizes.last()?).ok()?;
    Some(GroupedWeights { bytes: bytes.clone(), width, scales: stored_floats(links, scales)?, group, count })
}

/// The narrowest type of weights that has a quantization range.
pub const fn width_of(least: i64, most: i64) -> Option<Width> {
    match (least, most) {
        (-8.., ..=7) => Some(Width::Int4),
        (-128.., ..=127) => Some(Width::Int8),
        _ => None,
    }
}

/// The elements of a floating-point constant as f32.
pub fn stored_floats(links: &Links<'_>, id: ValueId) -> Option<ConstantData> {
    match links.graph.spec(id).scalar_type {
        ScalarType::Float => links.graph.constant(id).cloned(),
        _ => Some(ConstantData::new(floats(links, id)?.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_the_smallest_exact_format() {
        let form = |width, scales: &[f32]| {
            let bytes: Vec<u8> = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
            form_of_scales(width, &ConstantData::new(bytes), 2)
        };
        assert_eq!(form(Width::Int4, &[0.5, 127.5, 25.5, 25.5]), Scales::Steps);
        assert_eq!(form(Width::Int8, &[0.5, 127.5, 25.5, 25.5]), Scales::Halves);
        assert_eq!(form(Width::Int4, &[0.5, 127.5, 0.3125, 25.5]), Scales::Halves);
        assert_eq!(form(Width::Int4, &[0.5, 127.5, 0.33, 25.5]), Scales::Floats);
    }
}
