//! Weights as constants of integers before a dequantization.

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, TensorSpec, ValueId};

use super::builder::Builder;
use crate::options::{Options, Scheme};
use crate::parameters::Bounds;
use crate::run::float_constant;
use crate::weight::{self, Choice, Quantized};

/// What a constant weight is after its round trip; `None` for one that has no elements of `float32`.
pub fn stored(
    builder: &mut Builder,
    id: ValueId,
    channel: usize,
    scheme: Scheme,
    (options, least): (&Options, &[f32]),
) -> Option<ValueId> {
    let made = match scheme {
        Scheme::Float => None,
        Scheme::Int8 | Scheme::DynamicInt8 => per_channel(builder, id, channel, (options, least)),
        Scheme::Int8Weights => match options.group_size {
            Some(size) if builder.graph.spec(id).rank() == 2 && channel == 0 => {
                per_group(builder, id, size, Bounds::WEIGHT8, options)
            }
            _ => per_channel(builder, id, channel, (options, &[])),
        },
        Scheme::Int4Weights | Scheme::Dynamic8Weight4 => {
            per_group(builder, id, options.group_size.unwrap_or(Options::GROUP), Bounds::WEIGHT4, options)
        }
    };
    builder.graph.constant(id).into_iter().for_each(ConstantData::release);
    made
}

/// The largest integer that a bias may become: half of what 32 bits hold, for what is added to it.
const LARGEST_BIAS: f32 = (1_u32 << 30) as f32;

/// The least scale of each channel's weights with which the bias, in steps of that times the scale of the activations, is an
/// integer of 32 bits. It matters for channels whose weights are all nearly 0.
pub fn least_scales(builder: &Builder, bias: Option<ValueId>, activation_scale: f32) -> Vec<f32> {
    let bias = bias.and_then(|bias| float_constant(&builder.graph, bias)).unwrap_or_default();
    let least = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes).abs() / activation_scale / LARGEST_BIAS;
    bias.as_chunks::<4>().0.iter().map(least).collect()
}

fn per_channel(
    builder: &mut Builder,
    id: ValueId,
    channel: usize,
    (options, least): (&Options, &[f32]),
) -> Option<ValueId> {
    let spec = builder.graph.spec(id).clone();
    let product = |sizes: &[i32]| sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).product::<usize>();
    let (outer, rest) = spec.sizes.split_at_checked(channel)?;
    let (channels, inner) = rest.split_first()?;
    let sizes = [product(outer), usize::try_from(*channels).ok()?, product(inner)];
    let bounds = Bounds::WEIGHT8;
    let choice = Choice { least, ..Choice::new(bounds, options.observer) };
    let found = weight::by_channels(float_constant(&builder.graph, id)?, sizes, choice)?;
    let scales = TensorSpec::contiguous(ScalarType::Float, [*channels]);
    let zero_points = TensorSpec::contiguous(ScalarType::Long, [*channels]);
    let [integers, scales, zero_points] = constants(builder, id, &found, scales, zero_points);
    let arguments = vec![
        Argument::Value(integers),
        Argument::Value(scales),
        Argument::Value(zero_points),
        Argument::Int(channel as i64),
        Argument::Int(bounds.lowest),
        Argument::Int(bounds.highest),
        Argument::Type(ScalarType::Char),
        Argument::None,
    ];
    let [real] = builder.call("quantized_decomposed.dequantize_per_channel.default", arguments, [spec]);
    Some(real)
}

/// Groups of a row; the whole row is one where its length is no multiple of the size.
fn per_group(builder: &mut Builder, id: ValueId, size: usize, bounds: Bounds, options: &Options) -> Option<ValueId> {
    let spec = builder.graph.spec(id).clone();
    let [rows, length] = spec.sizes[..] else { return None };
    let length = usize::try_from(length).ok()?;
    let size = if size > 0 && length.is_multiple_of(size) { size } else { length };
    let found = weight::by_blocks(float_constant(&builder.graph, id)?, size, Choice::new(bounds, options.observer))?;
    let groups = |scalar_type| TensorSpec::contiguous(scalar_type, [rows, (length / size) as i32]);
    let (scales, zero_points) = (groups(ScalarType::Float), groups(ScalarType::Char));
    let [integers, scales, zero_points] = constants(builder, id, &found, scales, zero_points);
    let arguments = vec![
        Argument::Value(integers),
        Argument::Ints(vec![1, size as i64]),
        Argument::Value(scales),
        Argument::Value(zero_points),
        Argument::Type(ScalarType::Char),
        Argument::Int(bounds.lowest),
        Argument::Int(bounds.highest),
        Argument::Type(ScalarType::Float),
    ];
    let [real] = builder.call("torchao.dequantize_affine.default", arguments, [spec]);
    Some(real)
}

/// The integers, the scales, and zero points that are all 0.
fn constants(
    builder: &mut Builder,
    id: ValueId,
    found: &Quantized,
    scales: TensorSpec,
    zero_points: TensorSpec,
) -> [ValueId; 3] {
    let spec = builder.like(id, ScalarType::Char);
    let zeros = vec![0; zero_points.nbytes()];
    [
        builder.constant(id, "integers", spec, found.bytes()),
        builder.constant(id, "scales", scales, found.scale_bytes()),
        builder.constant(id, "zero_points", zero_points, zeros),
    ]
}
