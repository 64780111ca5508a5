//! Resampling of images: the overloads with explicit sizes.

use etbuild_ir::{Argument, TensorSpec};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `upsample_nearest1d.vec(input, output_size, scale_factors)`, and over three dimensions `(self, output_size,
/// scales...)`.
pub fn nearest(editor: &mut Editor, call: &Call) -> Rewritten {
    plain(editor, call, vec![], 2)
}

/// `upsample_linear1d.vec(input, output_size, align_corners, scale_factors)`, over three dimensions and with
/// antialiasing `(self, output_size, align_corners, scales...)`.
pub fn linear(editor: &mut Editor, call: &Call) -> Rewritten {
    plain(editor, call, vec![call.argument(2)?.clone()], 3)
}

fn plain(editor: &mut Editor, call: &Call, settings: Vec<Argument>, factors: usize) -> Rewritten {
    let output = call.output()?;
    let rank = output.rank().checked_sub(2).ok_or(Reason::Arguments)?;
    let given = match call.argument(factors)? {
        Argument::Floats(factors) if factors.len() == rank => factors.clone(),
        Argument::None => vec![],
        _ => return Err(Reason::Arguments),
    };
    let sizes = sizes(editor, call, &given, &output)?;
    let factors = match given.len() {
        0 => vec![Argument::None; rank],
        _ => given.into_iter().map(Argument::Float).collect(),
    };
    let arguments = [call.argument(0)?.clone(), sizes].into_iter().chain(settings).chain(factors);
    let name = format!("{}.default", call.operator.name());
    Ok(vec![editor.call(&name, arguments.collect(), output)?])
}

/// The output sizes: static, given, or the input sizes times factors.
fn sizes(editor: &mut Editor, call: &Call, factors: &[f64], output: &TensorSpec) -> Result<Argument, Reason> {
    let scaled = Dim::of(output).split_off(2);
    if !scaled.iter().any(|dim| dim.is_dynamic()) {
        return Ok(Argument::Ints(scaled.iter().map(|dim| i64::from(dim.most)).collect()));
    }
    if factors.is_empty() {
        return Ok(call.argument(1)?.clone());
    }
    let dims = editor.dims(call.value(0)?).split_off(2);
    editor.scaled_sizes(&dims, factors, &scaled)
}

/// `grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)` of images or volumes.
pub fn sample(editor: &mut Editor, call: &Call) -> Rewritten {
    let name =
        if editor.spec(call.value(0)?).rank() == 4 { "grid_sampler_2d.default" } else { "grid_sampler_3d.default" };
    Ok(vec![editor.call(name, call.arguments.clone(), call.output()?)?])
}

/// `_upsample_nearest_exact1d.vec(input, output_size, scale_factors)` and over two or three dimensions: the element
/// nearest to the centre of each output position, with positions in `float32` like PyTorch's.
pub fn nearest_to_centre(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut made, output) = (call.value(0)?, call.output()?);
    let sizes = editor.static_sizes(made)?;
    let factors = match call.argument(2)? {
        Argument::Floats(factors) => factors.clone(),
        _ => vec![],
    };
    for dim in 2..output.rank() {
        let (from, to) = (sizes.get(dim).copied().ok_or(Reason::Arguments)?, output.sizes[dim]);
        let step = match factors.get(dim - 2) {
            Some(factor) if *factor > 0.0 => (1.0 / factor) as f32,
            _ => from as f32 / to as f32,
        };
        let place = |index: i32| (((index as f32 + 0.5) * step).floor() as i64).min(i64::from(from) - 1);
        made = editor.select_many(made, dim, &(0..to).map(place).collect::<Vec<_>>())?;
    }
    Ok(vec![made])
}
