//! Quantized int8 or int4 embedding tables tied to a linear layer: integer rows and scale rows are gathered and dequantized.

use et_core::ScalarType;
use et_cpu::{GatherColumns, Window, Write};
use et_gemm::Int4Format;
use etbuild_ir::{Argument, DequantizeAffine, Links, Node, ValueId};

use crate::Problem;
use crate::builder::{Builder, place};
use crate::constant;
use crate::lower::Lowered;
use crate::pack::{Form, Packing};
use crate::tensor::FLOAT;
use etbuild_backend::{Call, floats};

/// An embedding table with the lookup indices.
pub struct Table {
    integers: ValueId,
    scales: ValueId,
    /// The block size of int4 weights; `None` for int8 weights with per-row scales.
    group: Option<usize>,
    indices: ValueId,
    /// Rows and columns.
    sizes: [usize; 2],
}

impl Table {
    /// The lookup `dequantize_affine(embedding(integers, indices), block, embedding(scales, indices), ...)`.
    pub fn of(links: &Links<'_>, node: &Node) -> Option<Self> {
        let DequantizeAffine { integers: rows, block, scales, zero_points: None, least, .. } =
            DequantizeAffine::of(node)?
        else {
            return None;
        };
        let (group, ones) = block.split_last()?;
        let ((integers, indices), (scales, same)) = (chosen(links, rows)?, chosen(links, scales)?);
        let (spec, group) = (links.graph.spec(integers), usize::try_from(*group).ok()?);
        let sizes = spec.sizes.iter().map(|size| usize::try_from(*size).ok()).collect::<Option<Vec<_>>>()?;
        let sizes: [usize; 2] = sizes.try_into().ok()?;
        let is_group = match least {
            -8 => group > 0 && group.is_multiple_of(8) && sizes[1].is_multiple_of(group),
            _ => least < -8 && group == sizes[1],
        };
        let is_whole = is_group && ones.iter().all(|one| *one == 1);
        let group = (least == -8).then_some(group);
        let fits = spec.scalar_type == ScalarType::Char && spec.is_contiguous() && is_whole && indices == same;
        fits.then_some(Self { integers, scales, group, indices, sizes })
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

/// Embedding lookup.
pub fn gather(builder: &mut Builder<'_>, call: &Call<'_>, table: Table) -> Lowered {
    let Table { integers, scales, group, indices, sizes: [rows, columns] } = table;
    let weights = builder.links.graph.constant(integers).ok_or(Problem::Order)?.clone();
    let indices = builder.dense(indices)?;
    let output = builder.row_major(FLOAT, &call.output_sizes()?);
    let form = match group {
        Some(group) => {
            let scales = constant::stored_floats(builder.links, scales).ok_or(Problem::Order)?;
            let kind = constant::form_of_scales(&scales, columns / group);
            let form = Int4Format { group, is_biased: false, scales: kind };
            Form::Groups(form, scales, Vec::new())
        }
        None => {
            let scales = floats(builder.links, scales).ok_or(Problem::Order)?;
            Form::BytesForRows(scales, Vec::new())
        }
    };
    let window = Window::matrix(1, columns, rows);
    let weights = builder.program.packed(Packing { window, weights, form, adapter: None })?;
    let gather = GatherColumns {
        weights,
        indices: place(&indices),
        output: Write(place(&output)),
        sizes: [indices.numel(), columns, rows].map(|size| size as u32),
    };
    builder.emit(gather);
    Ok(Some(output))
}
