//! The part of a layer in which tokens read earlier tokens.

mod convolution;
mod delta;
mod rows;
mod scan;

use etbuild_ir::ValueId;

use super::attention::{self, Text};
use super::parts::Parts;
use super::weights::Weights;
use crate::sketch::Sketch;
use crate::{Decoder, Mixer};

/// The mixer of layer `index`, of tokens `[1, count, width]`.
pub fn build(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    index: usize,
    text: &Text,
    input: ValueId,
) -> ValueId {
    let Some(layer) = decoder.layers.get(index) else { return input };
    match layer.mixer {
        Mixer::Attention => attention::build(decoder, sketch, weights, index, text, input),
        Mixer::Delta(delta) => {
            let (module, epsilon) = (decoder.names.layer(index), decoder.norm.epsilon);
            delta::build((delta, epsilon), &mut Parts { sketch, weights }, (&module, text), input)
        }
        Mixer::Scan(scan) => {
            let module = decoder.names.layer(index);
            scan::build(scan, &mut Parts { sketch, weights }, (&module, text), input)
        }
        Mixer::Convolution(convolution) => {
            let module = decoder.names.layer(index);
            convolution::build(convolution, &mut Parts { sketch, weights }, (&module, text), input)
        }
    }
}
