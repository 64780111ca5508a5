//! Convolutions over one to three dimensions, plain or transposed, as `aten.convolution`.

use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `conv2d(input, weight, bias, stride, padding, dilation, groups)`.
pub fn convolution(editor: &mut Editor, call: &Call) -> Rewritten {
    let dims = spatial_dims(editor, call)?;
    let settings = Settings {
        stride: call.ints_per_dim(3, dims)?,
        padding: call.ints_per_dim(4, dims)?,
        dilation: call.ints_per_dim(5, dims)?,
        transposed: false,
        output_padding: Argument::Ints(vec![0; dims]),
        groups: call.int(6)?,
    };
    emit(editor, call, call.value(0)?, settings)
}

/// `conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)`.
pub fn transposed(editor: &mut Editor, call: &Call) -> Rewritten {
    let dims = spatial_dims(editor, call)?;
    let settings = Settings {
        stride: call.ints_per_dim(3, dims)?,
        padding: call.ints_per_dim(4, dims)?,
        output_padding: call.ints_per_dim(5, dims)?,
        transposed: true,
        groups: call.int(6)?,
        dilation: call.ints_per_dim(7, dims)?,
    };
    emit(editor, call, call.value(0)?, settings)
}

/// `conv2d` with padding `valid` (no padding) or `same` (keeps the size; an odd element goes to the end).
pub fn named_padding(editor: &mut Editor, call: &Call) -> Rewritten {
    let dims = spatial_dims(editor, call)?;
    let same = match call.argument(4)? {
        Argument::Text(text) if text == "same" => true,
        Argument::Text(text) if text == "valid" => false,
        _ => return Err(Reason::Arguments),
    };
    let dilation = call.ints_per_dim(5, dims)?;
    let totals = if same { total_padding(editor, call, &dilation)? } else { vec![0; dims] };
    let input = pad_behind(editor, call.value(0)?, &totals)?;
    let settings = Settings {
        stride: call.ints_per_dim(3, dims)?,
        padding: Argument::Ints(totals.iter().map(|total| total / 2).collect()),
        dilation,
        transposed: false,
        output_padding: Argument::Ints(vec![0; dims]),
        groups: call.int(6)?,
    };
    emit(editor, call, input, settings)
}

struct Settings {
    stride: Argument,
    padding: Argument,
    dilation: Argument,
    transposed: bool,
    output_padding: Argument,
    groups: i64,
}

/// The convolution of a batch. An input without batch dimension gets a batch of 1.
fn emit(editor: &mut Editor, call: &Call, input: ValueId, settings: Settings) -> Rewritten {
    let dims = spatial_dims(editor, call)?;
    let output = call.output()?;
    let batched = editor.spec(input).rank() == dims + 2;
    let with_batch = |dims: Vec<Dim>| std::iter::once(Dim::from(1)).chain(dims).collect::<Vec<_>>();
    let (input, made) = if batched {
        (input, output.clone())
    } else {
        let dims = with_batch(editor.dims(input));
        (editor.view_as(input, &dims)?, Dim::spec(output.scalar_type, &with_batch(Dim::of(&output))))
    };
    let arguments = vec![
        Argument::Value(input),
        call.argument(1)?.clone(),
        call.argument(2)?.clone(),
        settings.stride,
        settings.padding,
        settings.dilation,
        Argument::Bool(settings.transposed),
        settings.output_padding,
        Argument::Int(settings.groups),
    ];
    let convolved = editor.call("convolution.default", arguments, made)?;
    if batched {
        return Ok(vec![convolved]);
    }
    let dims = editor.dims(convolved).split_off(1);
    Ok(vec![editor.view_as(convolved, &dims)?])
}

fn spatial_dims(editor: &Editor, call: &Call) -> Result<usize, Reason> {
    editor.spec(call.value(1)?).rank().checked_sub(2).filter(|dims| *dims > 0).ok_or(Reason::Arguments)
}

fn total_padding(editor: &Editor, call: &Call, dilation: &Argument) -> Result<Vec<i64>, Reason> {
    let Argument::Ints(dilation) = dilation else { return Err(Reason::Arguments) };
    let kernel = editor.sizes(call.value(1)?);
    let total = |(dilation, size): (&i64, &i32)| dilation.checked_mul(i64::from(*size) - 1).filter(|total| *total >= 0);
    dilation.iter().zip(kernel.iter().skip(2)).map(total).collect::<Option<_>>().ok_or(Reason::Arguments)
}

/// Pads each dimension with an odd total by 1 at the end.
fn pad_behind(editor: &mut Editor, input: ValueId, totals: &[i64]) -> Result<ValueId, Reason> {
    if totals.iter().all(|total| total % 2 == 0) {
        return Ok(input);
    }
    let mut output = editor.spec(input).clone();
    for (dim, total) in (0..output.rank()).rev().zip(totals.iter().rev()) {
        output.grow(dim, (total % 2) as i32).ok_or(Reason::Arguments)?;
    }
    let pads = totals.iter().rev().flat_map(|total| [0, total % 2]).collect();
    let arguments = vec![Argument::Value(input), Argument::Ints(pads), Argument::Float(0.0)];
    editor.call("constant_pad_nd.default", arguments, output)
}
