//! The part of a layer in which tokens read earlier tokens.

mod convolution;
mod delta;
mod rows;
mod scan;

use etbuild_ir::ValueId;

use super::attention;
use super::parts::Parts;
use super::text::Text;
use crate::{Decoder, Mixer};

/// The mixer of layer `index`, of tokens `[1, count, width]`.
pub fn build(decoder: &Decoder, parts: &mut Parts<'_, '_>, index: usize, text: &Text, input: ValueId) -> ValueId {
    let Some(layer) = decoder.layers.get(index) else { return input };
    let module = decoder.names.layer(index);
    match layer.mixer {
        Mixer::None => input,
        Mixer::Attention => attention::build(decoder, parts, index, text, input),
        Mixer::Delta(delta) => delta::build((delta, decoder.norm.epsilon), parts, (&module, text), input),
        Mixer::Scan(scan) => scan::build(scan, parts, (&module, text), input),
        Mixer::Both(scan, [before, behind]) => {
            let made = scan::build(scan, parts, (&module, text), input);
            parts.sketch.enter(module);
            let scaled = parts.sketch.scale(input, before);
            let attended = attention::build(decoder, parts, index, text, scaled);
            let attended = parts.sketch.scale(attended, behind);
            parts.sketch.add(made, attended)
        }
        Mixer::Convolution(convolution) => convolution::build(convolution, parts, (&module, text), input),
    }
}
