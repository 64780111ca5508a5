//! Embedding bags: `(weight, indices, offsets, scale_grad, mode, sparse, per_sample_weights, include_last_offset, padding_idx)`.

use et_core::ScalarType;
use et_cpu::{BagReduction, EmbeddingBag, Write};
use etbuild_backend::{Call, RefusalKind};

use crate::Problem;
use crate::builder::{Builder, place};
use crate::capability::{Checked, ensure};
use crate::lower::Lowered;
use crate::tensor::FLOAT;

/// Checks that the table is f32, and that nothing reads the results besides the reduced rows.
pub fn check(call: &Call<'_>) -> Checked {
    let others = call.node.outputs.iter().skip(1);
    let are_unread = others.into_iter().all(|id| call.links.read_count(*id) == 0);
    ensure(are_unread, RefusalKind::Argument, "the bags, sizes or places of its rows are read")?;
    let types = [0, 1, 2].map(|index| call.value(index).map(|id| call.graph.spec(id).scalar_type));
    let weights = call.optional_value(6)?.map(|id| call.graph.spec(id).scalar_type);
    let agrees =
        types == [Ok(FLOAT), Ok(ScalarType::Long), Ok(ScalarType::Long)] && weights.is_none_or(|of| of == FLOAT);
    ensure(agrees, RefusalKind::Type, "its table is not float32, or its indices are not int64")
}

/// The reduced rows of each bag.
pub fn lower(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let [table, indices, offsets] = [0, 1, 2].map(|index| builder.dense(call.value(index)?));
    let (table, indices, offsets) = (table?, indices?, offsets?);
    let output = builder.row_major(FLOAT, &call.output_sizes()?);
    let ([rows, width], [bags, _]) = (&table.sizes[..], &output.sizes[..]) else { return Err(Problem::Arguments) };
    let weights = call.optional_value(6)?;
    let bag = EmbeddingBag {
        table: place(&table),
        indices: place(&indices),
        offsets: place(&offsets),
        weights: builder.optional(weights)?,
        output: Write(place(&output)),
        rows: *rows as u32,
        width: *width as u32,
        count: indices.numel() as u32,
        bags: *bags as u32,
        has_end: call.flag(7)?,
        skipped: call.int(8)?.map_or(Ok(-1), i32::try_from).map_err(|_| Problem::Large)?,
        reduction: match call.int(4)? {
            Some(1) => BagReduction::Mean,
            Some(2) => BagReduction::Max,
            _ => BagReduction::Sum,
        },
    };
    builder.emit(bag);
    Ok(Some(output))
}
