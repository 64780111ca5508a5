//! Resampling of images: the overloads with explicit sizes.

use etbuild_ir::Argument;

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

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
    let sizes: Vec<i64> = output.sizes.iter().skip(2).copied().map(i64::from).collect();
    let factors = match call.argument(factors)? {
        Argument::Floats(factors) if factors.len() == sizes.len() => {
            factors.iter().copied().map(Argument::Float).collect()
        }
        Argument::None => vec![Argument::None; sizes.len()],
        _ => return Err(Reason::Arguments),
    };
    let arguments = [call.argument(0)?.clone(), Argument::Ints(sizes)].into_iter().chain(settings).chain(factors);
    let name = format!("{}.default", call.operator.name());
    Ok(vec![editor.call(&name, arguments.collect(), output)?])
}

/// `grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)` of images.
pub fn sample(editor: &mut Editor, call: &Call) -> Rewritten {
    if editor.spec(call.value(0)?).rank() != 4 {
        return Err(Reason::Unsupported("three-dimensional `grid_sampler`"));
    }
    Ok(vec![editor.call("grid_sampler_2d.default", call.arguments.clone(), call.output()?)?])
}
