//! Quantized weights: integer constants, followed by dequantize nodes.

use std::collections::BTreeMap;

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, Graph, TensorSpec, ValueId};

use super::builder::Builder;
use crate::options::{Options, Scheme};
use crate::parameters::Bounds;
use crate::run::float_constant;
use crate::source::Sources;
use crate::weight::Grid;
use crate::{Keeper, Moments, Work};

/// The weights of a graph, and the constants derived from weights.
pub struct Weights<'a> {
    options: &'a Options,
    keeper: &'a dyn Keeper,
    moments: &'a Moments,
    sources: Sources,
    /// Tables and matrices with the same constant share the quantized groups.
    grouped: BTreeMap<(ValueId, i64, usize), Groups>,
}

/// Integers with a scale per group of a row.
#[derive(Clone, Copy)]
pub struct Groups {
    /// `int8 [rows, length]`.
    pub integers: ValueId,
    /// `float32 [rows, length / size]`.
    pub scales: ValueId,
    /// The number of neighbours per scale.
    pub size: usize,
}

impl<'a> Weights<'a> {
    /// No weights quantized so far.
    pub fn new(graph: &Graph, options: &'a Options, (keeper, moments): (&'a dyn Keeper, &'a Moments)) -> Self {
        Self { options, keeper, moments, sources: Sources::of(graph), grouped: BTreeMap::new() }
    }

    /// The stored constants behind weights.
    pub const fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Quantizes a constant weight and dequantizes the stored integers; `None` for a constant without float elements.
    pub fn stored(
        &mut self,
        builder: &mut Builder,
        id: ValueId,
        channel: usize,
        scheme: Scheme,
        least: &[f32],
    ) -> Option<ValueId> {
        match (scheme, self.options.group_size) {
            (Scheme::Float | Scheme::Stored, _) => None,
            (Scheme::Int8 | Scheme::DynamicInt8 | Scheme::W8A8 | Scheme::W8A16 | Scheme::Int16x8, _) => {
                self.per_channel(builder, id, channel, (Bounds::WEIGHT8, least))
            }
            (Scheme::W4A16, _) if builder.graph.spec(id).rank() != 2 || channel != 0 => {
                self.per_channel(builder, id, channel, (Bounds::WEIGHT8, least))
            }
            (Scheme::W4A16, None) | (Scheme::Int8x4, _) => {
                self.per_channel(builder, id, channel, (Bounds::WEIGHT4, least))
            }
            (Scheme::W4A16, Some(_)) => self.per_group(builder, id, Bounds::WEIGHT4),
            (Scheme::Int8Weights, Some(_)) if builder.graph.spec(id).rank() == 2 && channel == 0 => {
                self.per_group(builder, id, Bounds::WEIGHT8)
            }
            (Scheme::Int8Weights, _) => self.per_channel(builder, id, channel, (Bounds::WEIGHT8, &[])),
            (Scheme::Int4Weights | Scheme::Dynamic8Weight4, _) => self.per_group(builder, id, Bounds::WEIGHT4),
        }
    }

    fn per_channel(
        &self,
        builder: &mut Builder,
        id: ValueId,
        channel: usize,
        (bounds, least): (Bounds, &[f32]),
    ) -> Option<ValueId> {
        let spec = builder.graph.spec(id).clone();
        let (outer, rest) = spec.sizes.split_at_checked(channel)?;
        let (channels, inner) = rest.split_first()?;
        let product = |sizes: &[i32]| sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).product::<usize>();
        let sizes = [product(outer), usize::try_from(*channels).ok()?, product(inner)];
        let grid = Grid { least: least.to_vec(), ..Grid::new(bounds, self.options.observer) };
        let scales = TensorSpec::contiguous(ScalarType::Float, [*channels]);
        let work = self.compensated(builder, id, self.work(builder, id, sizes, grid)?);
        let [integers, scales] = self.constants(builder, id, &work, [builder.like(id, ScalarType::Char), scales])?;
        let zero_points = TensorSpec::contiguous(ScalarType::Long, [*channels]);
        let zeros = vec![0; zero_points.nbytes()];
        let zero_points = builder.constant(
            self.sources.constant(&builder.graph, id)?,
            "zero_points",
            zero_points,
            ConstantData::new(zeros),
        );
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

    fn per_group(&mut self, builder: &mut Builder, id: ValueId, bounds: Bounds) -> Option<ValueId> {
        let [_, length] = builder.graph.spec(id).sizes[..] else { return None };
        self.in_groups(builder, id, bounds, self.options.group_of(usize::try_from(length).ok()?))
    }

    fn in_groups(&mut self, builder: &mut Builder, id: ValueId, bounds: Bounds, size: usize) -> Option<ValueId> {
        let spec = builder.graph.spec(id).clone();
        let groups = self.groups(builder, id, bounds, size)?;
        let [real] = builder.call("torchao.dequantize_affine.default", groups.dequantizing(2, bounds), [spec]);
        Some(real)
    }

    /// Quantizes a matrix that is also an embedding table, with the groups of [`Self::row_groups`].
    pub fn by_rows(&mut self, builder: &mut Builder, id: ValueId, scheme: Scheme) -> Option<ValueId> {
        let (bounds, size) = self.row_form(builder, id, scheme)?;
        self.in_groups(builder, id, bounds, size)
    }

    /// The integers and scales that an embedding table shares with a GEMM of this scheme.
    pub fn row_groups(&mut self, builder: &mut Builder, id: ValueId, scheme: Scheme) -> Option<(Groups, Bounds)> {
        let (bounds, size) = self.row_form(builder, id, scheme)?;
        Some((self.groups(builder, id, bounds, size)?, bounds))
    }

    /// The integer range and the group size; a group is a row for per-channel schemes.
    fn row_form(&self, builder: &Builder, id: ValueId, scheme: Scheme) -> Option<(Bounds, usize)> {
        let [_, length] = builder.graph.spec(id).sizes[..] else { return None };
        let length = usize::try_from(length).ok()?;
        Some(match (scheme, self.options.group_size) {
            (Scheme::Int4Weights | Scheme::Dynamic8Weight4, _) => (Bounds::WEIGHT4, self.options.group_of(length)),
            (Scheme::Int8Weights, Some(_)) => (Bounds::WEIGHT8, self.options.group_of(length)),
            _ => (Bounds::WEIGHT8, length),
        })
    }

    /// The groups of a matrix or table.
    fn groups(&mut self, builder: &mut Builder, id: ValueId, bounds: Bounds, size: usize) -> Option<Groups> {
        let key = (self.sources.constant(&builder.graph, id)?, bounds.lowest, size);
        if let Some(made) = self.grouped.get(&key) {
            return Some(*made);
        }
        let [rows, length] = builder.graph.spec(id).sizes[..] else { return None };
        let count = length / i32::try_from(size).ok()?;
        let blocks = usize::try_from(rows).ok()? * usize::try_from(count).ok()?;
        let most = self.options.most_multiples();
        let grid = Grid::of_groups((bounds, most), self.options.observer, usize::try_from(count).ok()?);
        let work = self.work(builder, id, [1, blocks, size], grid)?;
        let work = self.compensated(builder, id, work);
        let specs = [builder.like(id, ScalarType::Char), TensorSpec::contiguous(ScalarType::Float, [rows, count])];
        let [integers, scales] = self.constants(builder, id, &work, specs)?;
        let made = Groups { integers, scales, size };
        self.grouped.insert(key, made);
        Some(made)
    }

    /// The quantization of the elements behind a value.
    pub fn work(&self, builder: &Builder, id: ValueId, sizes: [usize; 3], grid: Grid) -> Option<Work> {
        let (data, scalar_type) = self.sources.elements(&builder.graph, id)?;
        Work::new(data, scalar_type, sizes, grid)
    }

    /// The quantization with compensated errors, where the moments of the activations are known.
    fn compensated(&self, builder: &Builder, id: ValueId, work: Work) -> Work {
        let constant = self.sources.constant(&builder.graph, id);
        let moments = constant.and_then(|id| self.moments.get(builder.qualified_name(id)));
        match (moments, &builder.graph.spec(id).sizes[..]) {
            (Some(moments), [_, columns]) => work.compensated(moments, usize::try_from(*columns).unwrap_or(0)),
            _ => work,
        }
    }

    /// Quantizes a value and adds integers and scales as constants.
    pub fn constants(
        &self,
        builder: &mut Builder,
        id: ValueId,
        work: &Work,
        specs: [TensorSpec; 2],
    ) -> Option<[ValueId; 2]> {
        let (of, [integers, scales]) = (self.sources.constant(&builder.graph, id)?, specs);
        let made = self.keeper.keep(builder.qualified_name(of), work);
        Some([
            builder.constant(of, "integers", integers, made.integers),
            builder.constant(of, "scales", scales, made.scales),
        ])
    }
}

impl Groups {
    /// The arguments of the dequantize node for integers of rank `rank`: all rows, or gathered rows.
    pub fn dequantizing(self, rank: usize, bounds: Bounds) -> Vec<Argument> {
        let block = (1..rank).map(|_| 1).chain([self.size as i64]).collect();
        vec![
            Argument::Value(self.integers),
            Argument::Ints(block),
            Argument::Value(self.scales),
            Argument::None,
            Argument::Type(ScalarType::Char),
            Argument::Int(bounds.lowest),
            Argument::Int(bounds.highest),
            Argument::Type(ScalarType::Float),
        ]
    }
}

/// The largest magnitude of an int32 bias: half of the range, which leaves room for the accumulator.
const LARGEST_BIAS: f32 = (1_u32 << 30) as f32;

/// The smallest scale per channel for which the bias fits in int32 at the scale `weight scale x activation scale`.
/// Matters for channels with weights near 0.
pub fn least_scales(builder: &Builder, bias: Option<ValueId>, activation_scale: f32) -> Vec<f32> {
    let bias = bias.and_then(|bias| float_constant(&builder.graph, bias)).unwrap_or_default();
    let least = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes).abs() / activation_scale / LARGEST_BIAS;
    bias.as_chunks::<4>().0.iter().map(least).collect()
}
