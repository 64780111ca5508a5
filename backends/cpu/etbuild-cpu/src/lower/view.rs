//! Views: strides change, elements stay.

use etbuild_ir::ValueId;

use crate::Problem;
use crate::builder::Builder;
use crate::lower::Lowered;
use crate::lower::table::{self, Table};
use crate::lower::text::gather;
use crate::tensor::Tensor;
use etbuild_backend::{Call, dim};

/// Reshape; copied where strides cannot express the shape.
pub fn view(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (tensor, sizes) = (builder.stored(call.value(0)?)?, call.output_sizes()?);
    builder.viewed(tensor, &sizes).map(Some)
}

/// Permuted dimensions.
pub fn permute(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let tensor = builder.stored(call.value(0)?)?;
    let dims: Result<Vec<usize>, _> = call.ints(1)?.iter().map(|number| dim(*number, tensor.rank())).collect();
    Ok(Some(tensor.permuted(&dims?)))
}

/// One index of a dimension.
pub fn select(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let tensor = builder.stored(call.value(0)?)?;
    let along = call.dim(1, tensor.rank())?;
    let index = dim(call.int(2)?.ok_or(Problem::Arguments)?, tensor.sizes[along])?;
    Ok(Some(tensor.selected(along, index)))
}

/// A range of a dimension.
pub fn slice(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (tensor, sizes) = (builder.stored(call.value(0)?)?, call.output_sizes()?);
    let along = call.dim(1, tensor.rank())?;
    let size = tensor.sizes[along] as i64;
    let start = call.int(2)?.unwrap_or(0);
    let start = if start < 0 { start.saturating_add(size) } else { start }.clamp(0, size);
    let step = usize::try_from(call.int(4)?.unwrap_or(1)).map_err(|_| Problem::Arguments)?;
    Ok(Some(tensor.sliced(along, start as usize, sizes[along], step)))
}

/// Broadcast dimensions.
pub fn expand(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (tensor, sizes) = (builder.stored(call.value(0)?)?, call.output_sizes()?);
    Ok(Some(tensor.expanded(&sizes)))
}

/// The tensor itself.
pub fn identity(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    builder.stored(call.value(0)?).map(Some)
}

/// Concatenation: each input tensor is copied to a slice of the output tensor.
pub fn cat(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (sizes, ids) = (call.output_sizes()?, call.values(0)?);
    let along = call.dim(1, sizes.len())?;
    let parts: Vec<Tensor> = alike(builder, &ids)?;
    let first = parts.first().ok_or(Problem::Arguments)?;
    let whole = Tensor { qparams: first.qparams, ..builder.row_major(first.scalar_type, &sizes) };
    let mut start = 0;
    for part in parts {
        let size = part.sizes.get(along).copied().unwrap_or(0);
        if part.numel() > 0 {
            builder.copy(&part, &whole.sliced(along, start, size, 1));
            start += size;
        }
    }
    Ok(Some(whole))
}

/// Tensors with equal dtype and qparams: unchanged if equal, else dequantized to f32.
fn alike(builder: &mut Builder<'_>, ids: &[ValueId]) -> Result<Vec<Tensor>, Problem> {
    let stored = ids.iter().map(|id| builder.stored(*id)).collect::<Result<Vec<_>, _>>()?;
    if stored.windows(2).all(|pair| pair[0].qparams == pair[1].qparams) {
        return Ok(stored);
    }
    ids.iter().map(|id| builder.tensor(*id)).collect()
}

/// Rolls a tensor: elements that leave at the end of a dimension reenter at the beginning, by two copies per
/// dimension.
pub fn roll(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let tensor = builder.stored(call.value(0)?)?;
    let (shifts, dims) = (call.ints(1)?, call.ints(2)?);
    if shifts.len() != dims.len() {
        return Err(Problem::Arguments);
    }
    let mut pieces = vec![(tensor.clone(), vec![0; tensor.rank()])];
    for (shift, along) in shifts.iter().zip(dims) {
        let along = dim(*along, tensor.rank())?;
        pieces = pieces.into_iter().flat_map(|piece| rolled(piece, along, *shift)).collect();
    }
    let whole = Tensor { qparams: tensor.qparams, ..builder.row_major(tensor.scalar_type, &tensor.sizes) };
    for (piece, start) in pieces {
        let place = |place: Tensor, along: usize| place.sliced(along, start[along], piece.sizes[along], 1);
        let target = (0..tensor.rank()).fold(whole.clone(), place);
        builder.copy(&piece, &target);
    }
    Ok(Some(whole))
}

/// The two slices of a rolled tensor, each with the output position.
fn rolled((piece, start): (Tensor, Vec<usize>), along: usize, shift: i64) -> Vec<(Tensor, Vec<usize>)> {
    let size = piece.sizes[along];
    let moved = usize::try_from(shift.rem_euclid(size.max(1) as i64)).unwrap_or(0);
    let part = |from: usize, length: usize, to: usize| {
        let mut start = start.clone();
        start[along] = to;
        (piece.sliced(along, from, length, 1), start)
    };
    let parts = [part(0, size - moved, moved), part(size - moved, moved, 0)];
    parts.into_iter().filter(|(piece, _)| piece.sizes[along] > 0).collect()
}

/// Embedding lookup; rows of a quantized table are gathered by the dequantization, rows of a tied table from the packed weight.
pub fn embedding(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    if Table::has(builder.links, call.output()?) {
        return Ok(None);
    }
    if let Some(table) = Table::tied(builder.links, &call)? {
        return table::gather(builder, &call, &table);
    }
    let (table, indices) = (builder.dense(call.value(0)?)?, builder.dense(call.value(1)?)?);
    gather(builder, &call, &table, 0, &indices)
}
