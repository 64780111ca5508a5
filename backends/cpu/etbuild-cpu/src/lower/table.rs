//! Embedding tables that are stored as the packed weight of a linear layer: int8, int4 and blockwise int8 tables, whose gathered rows are dequantized with
//! the gathered scales, and float32 tables that a linear layer shares.

use et_core::ScalarType;
use et_cpu::{GatherColumns, Window, Write};
use etbuild_backend::{Call, floats};
use etbuild_cpu_weights::{Form, GroupedWeights, Packing, factors_of_means};
use etbuild_ir::{Argument, ConstantData, DequantizeAffine, Links, Node, ValueId};

use crate::Problem;
use crate::builder::{Builder, place};
use crate::constant;
use crate::lower::Lowered;
use crate::tensor::FLOAT;

/// An embedding table that is stored as the packed weight of a linear layer, with the lookup indices.
pub struct Table {
    /// The constant of the elements.
    elements: ValueId,
    precision: Precision,
    indices: ValueId,
    /// Rows and columns.
    sizes: [usize; 2],
    /// The offset of each block, `float32 [rows, blocks]`, if any.
    offsets: Option<ValueId>,
}

/// The precision of a table, with the constant of the scales.
#[derive(Clone, Copy)]
enum Precision {
    Float32,
    /// A scale per row.
    Int8(ValueId),
    /// A scale per block of this many elements, and the quantization range.
    Blocks(ValueId, usize, [i64; 2]),
}

impl Table {
    /// The table of `embedding(table, indices)` that is tied to a linear layer with float32 weights.
    pub fn tied(links: &Links<'_>, call: &Call<'_>) -> Result<Option<Self>, Problem> {
        let (elements, indices) = (call.value(0)?, call.value(1)?);
        let value = links.graph.value(elements);
        let fits = value.is_tied && value.spec.scalar_type == FLOAT && value.spec.is_contiguous();
        let sizes = matrix(links, elements).filter(|_| fits);
        Ok(sizes.map(|sizes| Self { elements, precision: Precision::Float32, indices, sizes, offsets: None }))
    }

    /// The lookup `dequantize_affine(embedding(integers, indices), block, embedding(scales, indices), ...)`.
    pub fn of(links: &Links<'_>, node: &Node) -> Option<Self> {
        let DequantizeAffine { integers: rows, block, scales, zero_points: None, least, most } =
            DequantizeAffine::of(node)?
        else {
            return None;
        };
        let (group, ones) = block.split_last()?;
        let ((integers, indices), (scales, same)) = (chosen(links, rows)?, chosen(links, scales)?);
        let (spec, group) = (links.graph.spec(integers), usize::try_from(*group).ok()?);
        let sizes = matrix(links, integers)?;
        let precision = match group == sizes[1] && least < -8 {
            true => Precision::Int8(scales),
            false => Precision::Blocks(scales, group, [least, most]),
        };
        let is_group = group > 0 && sizes[1].is_multiple_of(group);
        let has_panels = matches!(precision, Precision::Int8(_)) || group.is_multiple_of(8);
        let is_whole = is_group && has_panels && ones.iter().all(|one| *one == 1);
        let fits = spec.scalar_type == ScalarType::Char && spec.is_contiguous() && is_whole && indices == same;
        fits.then_some(Self { elements: integers, precision, indices, sizes, offsets: None })
    }

    /// The table with offsets that rows `[.., blocks, group]` get from a lookup in a table of their own, `[.., blocks, 1]`.
    pub fn with_offsets(self, links: &Links<'_>, offsets: ValueId, [blocks, group]: [i32; 2]) -> Option<Self> {
        let (offsets, indices) = chosen(links, offsets)?;
        let (spec, sizes) = (links.graph.spec(offsets), matrix(links, offsets)?);
        let Precision::Blocks(_, own, _) = self.precision else { return None };
        let is_table = spec.scalar_type == FLOAT && spec.is_contiguous() && indices == self.indices;
        let is_fixed = constant::name_in_adapter(links, offsets).is_none();
        let shapes = [usize::try_from(blocks).ok()?, usize::try_from(group).ok()?];
        let fits = is_table && is_fixed && sizes == [self.sizes[0], self.sizes[1] / own] && shapes == [sizes[1], own];
        fits.then_some(Self { offsets: Some(offsets), ..self })
    }

    /// Whether a value is gathered integers or scales with a table's dequantization as the only consumer.
    pub fn has(links: &Links<'_>, id: ValueId) -> bool {
        links.only_reader(id).is_some_and(|node| Self::of(links, node).is_some())
    }
}

/// The constant and the indices of a gathered value.
fn chosen(links: &Links<'_>, id: ValueId) -> Option<(ValueId, ValueId)> {
    let node = links.maker(id).filter(|node| node.operator.as_str() == "aten.embedding.default")?;
    let [Argument::Value(table), Argument::Value(indices), ..] = &node.arguments[..] else { return None };
    links.graph.constant(*table).map(|_| (*table, *indices))
}

/// Rows and columns of a matrix.
fn matrix(links: &Links<'_>, id: ValueId) -> Option<[usize; 2]> {
    let sizes = links.graph.spec(id).sizes.iter().map(|size| usize::try_from(*size).ok());
    sizes.collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// Offsets `[rows, blocks]` in the form of a linear layer's: transposed, and each times the elements of a block. So a head that shares the table
/// has the same packed weights.
fn of_products(links: &Links<'_>, id: ValueId, [blocks, group]: [usize; 2]) -> Option<ConstantData> {
    Some(ConstantData::new(factors_of_means(links.graph.constant(id)?.bytes(), blocks, group)))
}

/// Embedding lookup.
pub fn gather(builder: &mut Builder<'_>, call: &Call<'_>, table: &Table) -> Lowered {
    let Table { elements, precision, indices, sizes: [rows, columns], offsets } = *table;
    let weights = builder.links.graph.constant(elements).ok_or(Problem::Order)?.clone();
    let form = match precision {
        Precision::Float32 => Form::Floats(Vec::new()),
        Precision::Int8(scales) => Form::BytesForRows(floats(builder.links, scales).ok_or(Problem::Order)?, Vec::new()),
        Precision::Blocks(scales, group, bounds) => {
            let scales = constant::stored_floats(builder.links, scales).ok_or(Problem::Order)?;
            let weights = GroupedWeights { bytes: weights.clone(), bounds, scales, group, count: columns / group };
            let offsets = offsets.map(|id| of_products(builder.links, id, [columns / group, group]));
            let offsets = offsets.map(|offsets| offsets.ok_or(Problem::Weights)).transpose()?;
            Form::Groups(weights.packed(offsets, Vec::new()).ok_or(Problem::Weights)?.1)
        }
    };
    let indices = builder.dense(indices)?;
    let output = builder.row_major(FLOAT, &call.output_sizes()?);
    let window = Window::matrix(1, columns, rows);
    let adapter = constant::name_in_adapter(builder.links, elements);
    let form = form.narrowed(&weights, adapter.as_deref());
    let weights = builder.program.packed(Packing { window, weights, form, adapter })?;
    let gather = GatherColumns {
        weights,
        indices: place(&indices),
        output: Write(place(&output)),
        sizes: [indices.numel(), columns, rows].map(|size| size as u32),
    };
    builder.emit(gather);
    Ok(Some(output))
}
