//! Quantization: a change of a value's encoding, which the producer and the readers of the value have mostly taken into account.

use etbuild_backend::{Call, Refusal, RefusalKind, dequantizes_constants};

use crate::builder::{Builder, Form};
use crate::encoding::{self, Encoding};

use super::Done;

fn no_scale() -> Refusal {
    Refusal::new(RefusalKind::Quantization, "the scale is not that of 8-bit or 16-bit integers known at build time")
}

/// The operand in another encoding.
pub fn quantize(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let affine = encoding::quantizes(call.node).ok_or_else(no_scale)?;
    let order = builder.form(input)?.order;
    let form = Form { encoding: Encoding::Integer(affine), order };
    let tensor = builder.read(input, form)?;
    builder.store(output, form, tensor);
    Ok(())
}

/// The integers themselves, which readers take as such or as fp16.
pub fn dequantize(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    if dequantizes_constants(builder.links, call.node) {
        return Ok(());
    }
    let (input, output) = (call.value(0)?, call.output()?);
    let affine = encoding::dequantizes(call.node).ok_or_else(no_scale)?;
    if let Some(write) = builder.links.maker(input).map(|node| builder.write(node)).transpose()?.flatten() {
        // Attention reads the KV cache itself.
        return builder.check_encoding(write, affine);
    }
    let Form { encoding, order } = builder.form(input)?;
    if encoding != Encoding::Integer(affine) {
        return Err(Refusal::new(RefusalKind::Quantization, "a tensor is dequantized with another scale"));
    }
    let form = Form { encoding, order };
    let tensor = builder.read(input, form)?;
    builder.store(output, form, tensor);
    Ok(())
}

/// A dequantized constant, which its readers look up.
pub fn constant(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    if dequantizes_constants(builder.links, call.node) {
        return Ok(());
    }
    Err(Refusal::new(RefusalKind::Constant, "the dequantized tensor is not a constant"))
}
