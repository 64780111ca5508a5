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

/// `grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)` of images.
pub fn sample(editor: &mut Editor, call: &Call) -> Rewritten {
    if editor.spec(call.value(0)?).rank() != 4 {
        return Err(Reason::Unsupported("three-dimensional `grid_sampler`"));
    }
    Ok(vec![editor.call("grid_sampler_2d.default", call.arguments.clone(), call.output()?)?])
}
