//! Convolutions with int4 weights.

use et_core::{Error, Result};

use super::tiles::{Product, Tiled, Tiles};
use crate::memory::Operands;
use crate::row::int4::{panel_bytes, scratch_bytes};
use crate::{Place, Window};

/// The weights of a convolution.
pub struct Weights<'m> {
    /// int4 weights of all panels.
    pub bytes: &'m [u8],
    /// The bytes of a panel.
    pub panel: usize,
    /// Scratch for the int8 weights of a panel.
    pub scratch: &'m mut [i8],
}

/// The operands of a convolution but for its output.
pub fn tiles<'m, 'a>(
    [input, tile, panel]: [Place; 3],
    weights: u32,
    (window, zero): (Window, i32),
    operands: &mut Operands<'m, 'a>,
) -> Result<(Tiles<'m>, Weights<'m>)>
where
    'a: 'm,
{
    let layout = operands.row().layout();
    let (bytes, scratch) = (panel_bytes(layout, &window)?, scratch_bytes(layout, &window)?);
    let panels = (window.out_channels as usize).div_ceil(layout.channels());
    let all = operands.constant::<u8>(weights, bytes.checked_mul(panels).ok_or(Error::InvalidProgram)?)?;
    let scratch = if scratch == 0 { &mut [] } else { operands.write(panel, scratch)? };
    let product = Product { input: operands.read(input, window.input_len()?)?, weights: &[], window, zero };
    Ok((Tiled::new(product, tile, operands)?, Weights { bytes: all, panel: bytes.max(1), scratch }))
}
