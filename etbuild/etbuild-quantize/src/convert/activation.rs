//! Quantize and dequantize nodes of activations.

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, TensorSpec, ValueId};

use super::builder::Builder;
use crate::parameters::{Bounds, Parameters, SMALLEST_SCALE};
use crate::run::float_constant;

/// The integers of a tensor: the bounds and the type.
pub type Integers = (Bounds, ScalarType);

pub const INT8: Integers = (Bounds::ACTIVATION, ScalarType::Char);

/// Quantizes and dequantizes a tensor with static qparams.
pub fn round_trip(builder: &mut Builder, id: ValueId, parameters: Parameters, integers: Integers) -> ValueId {
    let (real, quantized) = (builder.graph.spec(id).clone(), quantized(builder, id, parameters, integers));
    back(builder, real, quantized, parameters, integers)
}

/// The integers of a tensor with static qparams.
pub fn quantized(builder: &mut Builder, id: ValueId, parameters: Parameters, integers: Integers) -> ValueId {
    let spec = builder.like(id, integers.1);
    let arguments = with_parameters(id, parameters, integers);
    let [quantized] = builder.call("quantized_decomposed.quantize_per_tensor.default", arguments, [spec]);
    quantized
}

/// Quantizes a constant and dequantizes the stored integers.
pub fn stored(builder: &mut Builder, id: ValueId, parameters: Parameters, integers: Integers) -> Option<ValueId> {
    let (elements, _) = float_constant(&builder.graph, id)?.as_chunks::<4>();
    let integer = |bytes: &[u8; 4]| parameters.quantize(f32::from_le_bytes(*bytes), integers.0).to_le_bytes();
    let width = integers.1.size();
    let bytes: Vec<u8> = elements.iter().flat_map(|bytes| integer(bytes).into_iter().take(width)).collect();
    let spec = builder.like(id, integers.1);
    let stored = builder.constant(id, "integers", spec, ConstantData::new(bytes));
    let real = builder.graph.spec(id).clone();
    Some(back(builder, real, stored, parameters, integers))
}

/// The real numbers of integers, a tensor like `real`.
pub fn back(
    builder: &mut Builder,
    real: TensorSpec,
    stored: ValueId,
    parameters: Parameters,
    integers: Integers,
) -> ValueId {
    let arguments = with_parameters(stored, parameters, integers).into_iter().chain([Argument::None]).collect();
    let [real] = builder.call("quantized_decomposed.dequantize_per_tensor.default", arguments, [real]);
    real
}

fn with_parameters(id: ValueId, Parameters { scale, zero_point }: Parameters, integers: Integers) -> Vec<Argument> {
    let parameters = [Argument::Float(f64::from(scale)), Argument::Int(zero_point)];
    [Argument::Value(id)].into_iter().chain(parameters).chain(ends(integers)).collect()
}

/// The arguments for the integer range and the type.
fn ends((bounds, scalar_type): Integers) -> [Argument; 3] {
    [Argument::Int(bounds.lowest), Argument::Int(bounds.highest), Argument::Type(scalar_type)]
}

/// Quantizes and dequantizes a tensor with per-tensor qparams computed at run time.
pub fn dynamic(builder: &mut Builder, id: ValueId) -> ValueId {
    let [lowest, highest, scalar_type] = ends(INT8);
    let smallest = Argument::Float(f64::from(SMALLEST_SCALE));
    let arguments = vec![Argument::Value(id), lowest, highest, smallest, scalar_type];
    let specs = [ScalarType::Double, ScalarType::Long].map(|scalar_type| TensorSpec::contiguous(scalar_type, [1]));
    let parameters = builder.call("quantized_decomposed.choose_qparams.tensor", arguments, specs);
    let with = |id: ValueId| [id].into_iter().chain(parameters).map(Argument::Value).chain(ends(INT8));
    let integers = builder.like(id, ScalarType::Char);
    let arguments = with(id).collect();
    let [quantized] = builder.call("quantized_decomposed.quantize_per_tensor.tensor", arguments, [integers]);
    let (arguments, spec) = (with(quantized).chain([Argument::None]).collect(), builder.graph.spec(id).clone());
    let [real] = builder.call("quantized_decomposed.dequantize_per_tensor.tensor", arguments, [spec]);
    real
}

/// Quantizes and dequantizes a tensor with per-token qparams computed at run time: a token is a row of the last
/// dimension.
pub fn by_rows(builder: &mut Builder, id: ValueId) -> ValueId {
    let row = builder.graph.spec(id).sizes.last().copied().map_or(1, i64::from);
    affine(builder, id, ("ASYMMETRIC", row), Bounds::ACTIVATION)
}

/// Quantizes and dequantizes a tensor with qparams of each block of `block` elements of a row, computed at run time: zero points are 0.
pub fn by_blocks(builder: &mut Builder, id: ValueId, block: i64) -> ValueId {
    affine(builder, id, ("SYMMETRIC", block), Bounds::SYMMETRIC8)
}

/// Quantizes and dequantizes a tensor with qparams of each block of a row, by a mapping of torchao.
fn affine(builder: &mut Builder, id: ValueId, (mapping, block): (&str, i64), bounds: Bounds) -> ValueId {
    let spec = builder.graph.spec(id).clone();
    let rank = spec.rank();
    let row = spec.sizes.last().copied().map_or(1, i64::from);
    let blocks: Vec<i64> = (1..rank).map(|_| 1).chain([block]).collect();
    let [lowest, highest, scalar_type] = ends((bounds, ScalarType::Char));
    let arguments = vec![
        Argument::Value(id),
        Argument::Text(mapping.to_owned()),
        Argument::Ints(blocks.clone()),
        scalar_type.clone(),
        lowest.clone(),
        highest.clone(),
        Argument::None,
        Argument::None,
        scalar_type.clone(),
        Argument::Bool(false),
    ];
    // The dimension of the blocks is removed where a row is one.
    let last = (row != block).then_some(row.checked_div(block).unwrap_or(1) as i32);
    let rows = |scalar_type| {
        let sizes = |sizes: &[i32]| {
            sizes.get(..rank.saturating_sub(1)).unwrap_or_default().iter().copied().chain(last).collect::<Vec<i32>>()
        };
        TensorSpec::contiguous(scalar_type, sizes(&spec.sizes)).with_least(sizes(&spec.least))
    };
    let specs = [rows(ScalarType::Float), rows(ScalarType::Char)];
    let [scale, zero_point] = builder.call("torchao.choose_qparams_affine.default", arguments, specs);
    let with = |id: ValueId| {
        let [scale, zero_point] = [scale, zero_point].map(Argument::Value);
        vec![Argument::Value(id), Argument::Ints(blocks.clone()), scale, zero_point, scalar_type.clone()]
    };
    let ends = [lowest, highest];
    let integers = builder.like(id, ScalarType::Char);
    let arguments = with(id).into_iter().chain(ends.clone()).collect();
    let [quantized] = builder.call("torchao.quantize_affine.default", arguments, [integers]);
    let arguments = with(quantized).into_iter().chain(ends).chain([Argument::Type(ScalarType::Float)]).collect();
    let [real] = builder.call("torchao.dequantize_affine.default", arguments, [spec]);
    real
}
