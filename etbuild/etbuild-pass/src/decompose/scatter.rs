//! Writes and reductions at positions of indices, in terms of `scatter_reduce` and `index_put`.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `scatter_reduce(self, dim, index, src, reduce, include_self)`: a mean is a sum divided by a count.
pub fn reduce(editor: &mut Editor, call: &Call) -> Rewritten {
    let [input, index, source] = [call.value(0)?, call.value(2)?, call.value(3)?];
    let Argument::Text(reduction) = call.argument(4)? else { return Err(Reason::Arguments) };
    let included = call.flag(5)?;
    if editor.spec(input).rank() == 0 {
        let [input, index, source] = [editor.flattened(input)?, editor.flattened(index)?, editor.flattened(source)?];
        let reduced = reduced(editor, [input, index, source], 0, reduction, included)?;
        return Ok(vec![editor.view(reduced, &[])?]);
    }
    let dim = call.dim(1, editor.spec(input).rank())?;
    Ok(vec![reduced(editor, [input, index, source], dim, reduction, included)?])
}

/// `scatter(self, dim, index, src, reduce)` and with a number as source.
pub fn named(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, index) = (call.value(0)?, call.value(2)?);
    let source = match call.argument(3)? {
        Argument::Value(source) => *source,
        number => {
            let spec = TensorSpec { scalar_type: editor.spec(input).scalar_type, ..editor.spec(index).clone() };
            editor.full(number.clone(), spec)?
        }
    };
    let reduction = match call.argument(4)? {
        Argument::Text(name) if name == "add" => "sum",
        Argument::Text(name) if name == "multiply" => "prod",
        _ => return Err(Reason::Arguments),
    };
    let arguments = [Argument::Value(input), call.argument(1)?.clone(), Argument::Value(index)];
    let rest = [Argument::Value(source), Argument::Text(reduction.into()), Argument::Bool(true)];
    Ok(vec![editor.call("scatter_reduce.two", arguments.into_iter().chain(rest).collect(), call.output()?)?])
}

/// `index_reduce(self, dim, index, source, reduce, include_self)`: the same index for all positions of the other dimensions.
pub fn by_index(editor: &mut Editor, call: &Call) -> Rewritten {
    let [mut input, index, mut source] = [call.value(0)?, call.value(2)?, call.value(3)?];
    let Argument::Text(reduction) = call.argument(4)? else { return Err(Reason::Arguments) };
    let (rank, included) = (editor.spec(input).rank(), call.flag(5)?);
    let dim = if rank == 0 { 0 } else { call.dim(1, rank)? };
    if rank == 0 {
        (input, source) = (editor.flattened(input)?, editor.flattened(source)?);
    }
    let index = editor.flattened(index)?;
    let index = editor.along(index, dim, rank.max(1))?;
    let dims = editor.dims(source);
    let index = editor.expand_as(index, &dims)?;
    let made = reduced(editor, [input, index, source], dim, reduction, included)?;
    let sizes = call.output()?.sizes;
    Ok(vec![if rank == 0 { editor.view(made, &sizes)? } else { made }])
}

fn reduced(
    editor: &mut Editor,
    [input, index, source]: [ValueId; 3],
    dim: usize,
    reduction: &str,
    included: bool,
) -> Result<ValueId, Reason> {
    let kernel = if reduction == "mean" { "sum" } else { reduction };
    let output = editor.spec(input).clone();
    let arguments = |of: [ValueId; 3], reduction: &str, included: bool| {
        let [input, index, source] = of.map(Argument::Value);
        vec![
            input,
            Argument::Int(dim as i64),
            index,
            source,
            Argument::Text(reduction.into()),
            Argument::Bool(included),
        ]
    };
    let keep = |editor: &mut Editor, arguments: Vec<Argument>| {
        let operator = etbuild_ir::OperatorName::aten("scatter_reduce", "two");
        let made = editor.keep(Call { operator, arguments, outputs: vec![output.clone()] });
        made.first().copied().ok_or(Reason::Arguments)
    };
    let made = keep(editor, arguments([input, index, source], kernel, included))?;
    if reduction != "mean" {
        return Ok(made);
    }
    let start = editor.full(Argument::Int(i64::from(included)), output.clone())?;
    let ones = TensorSpec { scalar_type: output.scalar_type, ..editor.spec(index).clone() };
    let ones = editor.full(Argument::Int(1), ones)?;
    let counts = keep(editor, arguments([start, index, ones], "sum", true))?;
    let counts = editor.map("clamp.default", counts, vec![Argument::Int(1), Argument::None])?;
    let mode = if output.scalar_type.is_float() { Argument::None } else { Argument::Text("floor".into()) };
    editor.call("div.Tensor_mode", vec![Argument::Value(made), Argument::Value(counts), mode], output.clone())
}

/// `put(self, index, source, accumulate)`: positions in row-major order.
pub fn put(editor: &mut Editor, call: &Call) -> Rewritten {
    let [input, index, source] = [call.value(0)?, call.value(1)?, call.value(2)?];
    let dims = editor.dims(input);
    let [flat, index, source] = [editor.flattened(input)?, editor.flattened(index)?, editor.flattened(source)?];
    let indices = Argument::Values(vec![Some(index)]);
    let rest = vec![indices, Argument::Value(source), call.argument(3)?.clone()];
    let written = editor.map("index_put.default", flat, rest)?;
    Ok(vec![editor.view_as(written, &dims)?])
}

/// `max_unpool2d(self, indices, output_size)` and over three dimensions: zeros, but for the elements at flat positions.
pub fn unpool(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, index, output) = (call.value(0)?, call.value(1)?, call.output()?);
    if output.is_dynamic() {
        return Err(Reason::Dynamic);
    }
    let spatial = if call.operator.name() == "max_unpool2d" { 2 } else { 3 };
    let outer = output.rank().checked_sub(spatial).ok_or(Reason::Arguments)?;
    let rows = |sizes: &[i32]| [sizes[..outer].iter().product(), sizes[outer..].iter().product()];
    let [from, to] = [rows(&editor.static_sizes(input)?), rows(&output.sizes)];
    let (flat, index) = (editor.view(input, &from)?, editor.view(index, &from)?);
    let zeros = editor.full(Argument::Int(0), TensorSpec::contiguous(output.scalar_type, to))?;
    let arguments = vec![Argument::Int(1), Argument::Value(index), Argument::Value(flat)];
    let written = editor.map("scatter.src", zeros, arguments)?;
    Ok(vec![editor.view(written, &output.sizes)?])
}

/// `_unsafe_masked_index(self, mask, indices, fill)`: a number where the mask is false, whatever the indices there.
pub fn masked_index(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, mask, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let indices = clamped(editor, call)?;
    let read = editor.call("index.Tensor", vec![Argument::Value(input), indices], output.clone())?;
    let fill = editor.number(call.argument(3)?.clone(), output.scalar_type)?;
    Ok(vec![editor.choose(mask, read, fill, output)?])
}

/// `_unsafe_masked_index_put_accumulate(self, mask, indices, values)`: adds where the mask is true.
pub fn masked_index_put(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, mask, values, output) = (call.value(0)?, call.value(1)?, call.value(3)?, call.output()?);
    let indices = clamped(editor, call)?;
    let zero = editor.number(Argument::Int(0), output.scalar_type)?;
    let spec = editor.spec(values).clone();
    let added = editor.choose(mask, values, zero, spec)?;
    Ok(vec![editor.map("index_put.default", input, vec![indices, Argument::Value(added), Argument::Bool(true)])?])
}

/// The indices in argument 2, at most the last of each dimension of the first argument.
fn clamped(editor: &mut Editor, call: &Call) -> Result<Argument, Reason> {
    let sizes = editor.static_sizes(call.value(0)?)?;
    let Argument::Values(indices) = call.argument(2)? else { return Err(Reason::Arguments) };
    let mut made = Vec::new();
    for (index, size) in indices.iter().zip(sizes) {
        made.push(match index {
            None => None,
            Some(index) => {
                let bounds = [-i64::from(size), i64::from(size) - 1].map(Argument::Int);
                Some(editor.map("clamp.default", *index, bounds.to_vec())?)
            }
        });
    }
    Ok(Argument::Values(made))
}
