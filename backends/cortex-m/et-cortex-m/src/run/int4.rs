//! Convolutions with int4 weights.

use et_core::{Error, Result};

use super::tiles::{Int4Weights, Product, Tiled, Tiles};
use crate::memory::Operands;
use crate::{Place, Window};

/// The operands of a convolution but for its output.
pub fn tiles<'m, 'a>(
    [input, tile, panel]: [Place; 3],
    weights: u32,
    (window, zero): (Window, i32),
    operands: &mut Operands<'m, 'a>,
) -> Result<(Tiles<'m>, Int4Weights<'m>)>
where
    'a: 'm,
{
    let layout = operands.row().layout();
    let (bytes, scratch) = (window.int4_panel_bytes(layout)?, window.int4_scratch_bytes(layout)?);
    let panels = (window.out_channels as usize).div_ceil(layout.channels());
    let all = operands.constant::<u8>(weights, bytes.checked_mul(panels).ok_or(Error::InvalidProgram)?)?;
    let scratch = if scratch == 0 { &mut [] } else { operands.write(panel, scratch)? };
    let product = Product { input: operands.read(input, window.input_len()?)?, weights: &[], window, zero };
    Ok((Tiled::new(product, tile, operands)?, Int4Weights { bytes: all, panel: bytes.max(1), scratch }))
}
