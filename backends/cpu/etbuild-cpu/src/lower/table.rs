//! Embedding tables that are stored as the packed weight of a linear layer: int8, int4 and blockwise int8 tables, whose gathered rows are dequantized with
//! the gathered scales, and float32 tables that a linear layer shares.

use et_core::ScalarType;
use et_cpu::{GatherColumns, Window, Write};
use etbuild_ir::{Argument, DequantizeAffine, Links, Node, ValueId};

use crate::Problem;
use crate::builder::{Builder, place};
use crate::constant;
use crate::groups::GroupedWeights;
use crate::lower::Lowered;
use crate::pack::{Form, Packing};
use crate::tensor::FLOAT;
use etbuild_backend::{Call, floats};

/// An embedding table that is stored as the packed weight of a linear layer, with the lookup indices.
pub struct Table {
    /// The constant of the elements.
    elements: ValueId,
    precision: Precision,
    indices: ValueId,
    /// Rows and columns.
    sizes: [usize; 2],
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
        Ok(sizes.map(|sizes| Self { elements, precision: Precision::Float32, indices, sizes }))
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
        fits.then_some(Self { elements: integers, precision, indices, sizes })
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

/// Embedding lookup.
pub fn gather(builder: &mut Builder<'_>, call: &Call<'_>, table: &Table) -> Lowered {
    let Table { elements, precision, indices, sizes: [rows, columns] } = *table;
    let weights = builder.links.graph.constant(elements).ok_or(Problem::Order)?.clone();
    let form = match precision {
        Precision::Float32 => Form::Floats(Vec::new()),
        Precision::Int8(scales) => Form::BytesForRows(floats(builder.links, scales).ok_or(Problem::Order)?, Vec::new()),
        Precision::Blocks(scales, group, bounds) => {
            let scales = constant::stored_floats(builder.links, scales).ok_or(Problem::Order)?;
            let weights = GroupedWeights { bytes: weights.clone(), bounds, scales, group, count: columns / group };
            Form::Groups(weights.packed(None, Vec::new(), 1).ok_or(Problem::Weights)?.1)
        }
    };
    let indices = builder.dense(indices)?;
    let output = builder.row_major(FLOAT, &call.output_sizes()?);
    let window = Window::matrix(1, columns, rows);
    let adapter = constant::name_in_adapter(builder.links, elements);
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
