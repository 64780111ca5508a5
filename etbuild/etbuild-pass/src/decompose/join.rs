//! Concatenation and padding.

use etbuild_ir::{Argument, TensorSpec};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `stack(tensors, dim)`: a new dimension for each tensor, then `cat`.
pub fn stack(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let dim = call.dim(1, output.rank())?;
    let mut single = output.clone();
    single.set_size(dim, 1).ok_or(Reason::Arguments)?;
    let parts = call.values(0)?.into_iter().map(|part| editor.view_like(part, &single)).collect::<Result<_, _>>()?;
    Ok(vec![editor.cat(parts, dim, output)?])
}

/// `concat(tensors, dim)`.
pub fn concat(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.call("cat.default", call.arguments.clone(), call.output()?)?])
}

/// `pad(self, pad, mode, value)` with a constant, reflection or replication.
pub fn pad(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, pads, output) = (call.argument(0)?.clone(), call.argument(1)?.clone(), call.output()?);
    let Argument::Text(mode) = call.argument(2)? else { return Err(Reason::Arguments) };
    if mode == "constant" {
        let value = match call.argument(3)? {
            Argument::None => Argument::Float(0.0),
            value => value.clone(),
        };
        return Ok(vec![editor.call("constant_pad_nd.default", vec![input, pads, value], output)?]);
    }
    if mode == "circular" {
        return super::circular_pad::pad(editor, call);
    }
    let name = match (mode.as_str(), call.ints(1)?.len()) {
        ("reflect", 2) => "reflection_pad1d.default",
        ("reflect", 4) => "reflection_pad2d.default",
        ("reflect", 6) => "reflection_pad3d.default",
        ("replicate", 2) => "replication_pad1d.default",
        ("replicate", 4) => "replication_pad2d.default",
        ("replicate", 6) => "replication_pad3d.default",
        _ => return Err(Reason::Unsupported("this padding mode")),
    };
    Ok(vec![editor.call(name, vec![input, pads], output)?])
}

/// `hstack`, `vstack`, `dstack` and `column_stack`: concatenation along a dimension that every operand has, or gets.
pub fn side_by_side(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let (dim, rank) = match call.operator.name() {
        "vstack" | "row_stack" => (0, 2),
        "dstack" => (2, 3),
        _ => (usize::from(output.rank() > 1), 1),
    };
    let mut parts = Vec::new();
    for part in call.values(0)? {
        let mut dims = editor.dims(part);
        if call.operator.name() == "column_stack" && dims.len() < 2 {
            dims = vec![Dim::product(&dims), 1.into()];
        }
        while dims.len() < rank {
            let behind = call.operator.name() == "dstack" && dims.len() == 2;
            dims.insert(if behind { 2 } else { 0 }, 1.into());
        }
        parts.push(editor.view_as(part, &dims)?);
    }
    Ok(vec![editor.cat(parts, dim, output)?])
}

/// `_chunk_cat(tensors, dim, num_chunks)`: the chunks of every operand, padded to a multiple and flattened, side by side.
pub fn chunks(editor: &mut Editor, call: &Call) -> Rewritten {
    let (count, output) = (call.int(2)?, call.output()?);
    let mut parts = Vec::new();
    let mut dim = 0;
    for part in call.values(0)? {
        let mut sizes = editor.static_sizes(part)?;
        dim = call.dim(1, sizes.len())?;
        let size = i64::from(*sizes.get(dim).ok_or(Reason::Arguments)?);
        let chunk = (size + count - 1) / count.max(1);
        let missing = chunk * count - size;
        let whole = i32::try_from(chunk * count).map_err(|_| Reason::Arguments)?;
        *sizes.get_mut(dim).ok_or(Reason::Arguments)? = whole;
        let mut pads = vec![0; 2 * (sizes.len() - dim)];
        pads.last_mut().into_iter().for_each(|behind| *behind = missing);
        let padded = TensorSpec::contiguous(editor.spec(part).scalar_type, sizes.clone());
        let arguments = vec![Argument::Value(part), Argument::Ints(pads), Argument::Int(0)];
        let part = if missing > 0 { editor.call("constant_pad_nd.default", arguments, padded)? } else { part };
        let rows = i32::try_from(count).map_err(|_| Reason::Arguments)?;
        let rest = sizes[dim..].iter().product::<i32>() / rows.max(1);
        let part = editor.view(part, &[&sizes[..dim], &[rows, rest]].concat())?;
        parts.push(editor.convert(part, output.scalar_type)?);
    }
    Ok(vec![editor.cat(parts, dim + 1, output)?])
}

/// `pad_sequence(sequences, batch_first, padding_value, padding_side)`: sequences of the longest length along a new dimension.
pub fn padded(editor: &mut Editor, call: &Call) -> Rewritten {
    let (sequences, output) = (call.values(0)?, call.output()?);
    let is_left = matches!(call.argument(3)?, Argument::Text(side) if side == "left");
    let batch_dim = i64::from(!call.flag(1)?);
    let longest = *output.sizes.get(1 - batch_dim as usize).ok_or(Reason::Arguments)?;
    let mut padded = Vec::new();
    for sequence in sequences {
        let mut spec = editor.spec(sequence).clone();
        let length = *editor.static_sizes(sequence)?.first().ok_or(Reason::Arguments)?;
        spec.set_size(0, longest).ok_or(Reason::Arguments)?;
        let missing = i64::from(longest - length);
        let mut pads = vec![0; 2 * spec.rank()];
        let end = pads.len() - if is_left { 2 } else { 1 };
        pads[end] = missing;
        let arguments = vec![Argument::Value(sequence), Argument::Ints(pads), call.argument(2)?.clone()];
        padded.push(editor.call("constant_pad_nd.default", arguments, spec)?);
    }
    Ok(vec![editor.call("stack.default", vec![Argument::values(padded), Argument::Int(batch_dim)], output)?])
}
