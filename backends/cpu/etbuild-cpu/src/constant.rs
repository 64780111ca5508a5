//! Values known when a partition is lowered: constants and dequantized constants.

use et_core::ScalarType;
use etbuild_backend::{ByteWeights, constant_of, floats, integers};
use etbuild_cpu_weights::GroupedWeights;
use etbuild_ir::{ConstantData, DequantizeAffine, Links, ValueId, ValueKind, is_of_adapter};
use etbuild_weights::{reals, strided};

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
    let bytes = strided::row_major(data.bytes(), spec.scalar_type.size(), &tensor.sizes, &tensor.strides)?;
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

/// The blockwise weights of a value dequantized by `(bytes, block, scales, zero_points, type, least, most, ...)`.
pub fn grouped_weights(links: &Links<'_>, id: ValueId) -> Option<GroupedWeights> {
    let node = DequantizeAffine::of(links.maker(id)?)?;
    let DequantizeAffine { integers: bytes, block: [1, group], scales, zero_points, least, most } = node else {
        return None;
    };
    let group = usize::try_from(*group).ok()?;
    let is_symmetric = match zero_points {
        Some(id) => integers(links, id)?.iter().all(|point| *point == 0),
        None => true,
    };
    let spec = links.graph.spec(bytes);
    let is_byte = spec.scalar_type == ScalarType::Char && least >= -128 && most <= 127;
    let fits = is_byte && spec.is_contiguous() && is_symmetric && group % 8 == 0;
    let bytes = links.graph.constant(bytes).filter(|_| fits)?;
    let count = usize::try_from(*links.graph.spec(scales).sizes.last()?).ok()?;
    let (scales, bounds) = (stored_floats(links, scales)?, [least, most]);
    Some(GroupedWeights { bytes: bytes.clone(), bounds, scales, group, count })
}

/// The elements of a floating-point constant as f32.
pub fn stored_floats(links: &Links<'_>, id: ValueId) -> Option<ConstantData> {
    match links.graph.spec(id).scalar_type {
        ScalarType::Float => links.graph.constant(id).cloned(),
        _ => Some(ConstantData::new(reals::stored(&floats(links, id)?))),
    }
}
