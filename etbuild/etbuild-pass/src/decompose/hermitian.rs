//! Inverse transforms of real signals: half of the bins of `fft_hfft`'s inverse.

use etbuild_ir::Argument;

use super::fourier::{fitted, normalization, part_of, positions};
use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `fft_ihfft(self, n, dim, norm)`, `fft_ihfft2` and `fft_ihfftn`: the conjugate of half of the bins along the last dimension,
/// and inverse transforms along the others.
pub fn real_to_half_signal(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = editor.convert(call.value(0)?, part_of(call.output()?.scalar_type))?;
    let (input, dims) = fitted(editor, call, input)?;
    let norm = normalization(call, ["forward", "ortho", "backward"])?;
    let (last, others) = dims.split_last().ok_or(Reason::Arguments)?;
    let arguments = vec![Argument::Value(input), positions(&[*last]), norm.clone(), Argument::Bool(true)];
    let half = editor.call("_fft_r2c.default", arguments, call.output()?)?;
    let turned = editor.apply("_conj_physical", half)?;
    if others.is_empty() {
        return Ok(vec![turned]);
    }
    Ok(vec![editor.map("_fft_c2c.default", turned, vec![positions(others), norm, Argument::Bool(false)])?])
}
