//! A layer of a decoder.

use etbuild_ir::ValueId;

use super::hidden::Hidden;
use super::parts::Parts;
use super::streams;
use super::text::Text;
use super::{cross, experts, feed_forward, layer_inputs, mixer};
use crate::constant::Part;
use crate::names::norm_within;
use crate::{Decoder, ExpertNorms, Layer, Mixer, NormPlaces};

/// Layer `index`.
pub fn build(decoder: &Decoder, parts: &mut Parts<'_, '_>, index: usize, text: &Text, hidden: Hidden) -> Hidden {
    let module = decoder.names.layer(index);
    let state = match decoder.streams {
        Some(streams) => {
            let predicted = streams::predict(decoder, streams, parts, &module, hidden.state);
            let made = residuals(decoder, parts, index, text, predicted.active);
            let corrected = streams::correct(decoder, streams, parts, &module, predicted, made);
            streams::add_inputs(decoder, streams, parts, index, Hidden { state: corrected, ..hidden })
        }
        None => {
            let made = residuals(decoder, parts, index, text, hidden.state);
            layer_inputs::add(decoder, parts, index, Hidden { state: made, ..hidden })
        }
    };
    if !decoder.has_layer_scales {
        return Hidden { state, ..hidden };
    }
    parts.sketch.enter(module.as_str());
    let factor = parts.weights.vector(&format!("{module}.layer_scalar"), Part::all(1), 0.0);
    let factor = parts.sketch.constant(&factor);
    Hidden { state: parts.sketch.multiply(state, factor), ..hidden }
}

/// The outputs of attention and of the feed-forward network are added to the input, `[1, count, width]`.
pub fn residuals(decoder: &Decoder, parts: &mut Parts<'_, '_>, index: usize, text: &Text, input: ValueId) -> ValueId {
    let module = decoder.names.layer(index);
    let NormPlaces { before_attention, behind_attention, before_network, behind_network, is_parallel } =
        decoder.norm_places;
    let has_mixer = decoder.layers.get(index).is_none_or(|layer| layer.mixer != Mixer::None);
    let (mut read, mut between) = (input, input);
    if has_mixer {
        read = norm(decoder, parts, &module, before_attention, input);
        let made = mixer::build(decoder, parts, index, text, read);
        between = add(decoder, parts, &module, behind_attention, [input, made]);
    }
    if let Some(streams) = decoder.streams {
        between = streams::beside_attention(decoder, streams, parts, &module, [read, between]);
    }
    if let Some(cross) = decoder.cross {
        let read = norm(decoder, parts, &module, Some(cross.norm), between);
        let made = cross::read(decoder, cross, parts, [index, text.count], read);
        between = add(decoder, parts, &module, None, [between, made]);
    }
    let Some(layer) = decoder.layers.get(index).filter(|layer| layer.has_network) else { return between };
    let read = match (is_parallel, before_network) {
        (true, None) => read,
        (true, name) => norm(decoder, parts, &module, name, input),
        (false, name) => norm(decoder, parts, &module, name, between),
    };
    let made = network(decoder, parts, (&module, layer), [between, read]);
    add(decoder, parts, &module, behind_network, [between, made])
}

/// The output of the feed-forward network, or of experts, of hidden states and of the same normalized.
fn network(
    decoder: &Decoder,
    parts: &mut Parts<'_, '_>,
    (module, layer): (&str, &Layer),
    [between, read]: [ValueId; 2],
) -> ValueId {
    let plain =
        |parts: &mut Parts<'_, '_>| feed_forward::build(decoder, layer, parts.sketch, parts.weights, module, read);
    let Some(experts) = decoder.experts.as_ref().filter(|_| layer.has_experts) else { return plain(parts) };
    let mixture = |parts: &mut Parts<'_, '_>, routed, read| {
        experts::build(decoder, experts, parts.sketch, parts.weights, module, [routed, read])
    };
    match experts.norms {
        Some(ExpertNorms { before, behind, behind_network }) => {
            let beside = plain(parts);
            let beside = norm(decoder, parts, module, Some(behind_network), beside);
            let read = norm(decoder, parts, module, Some(before), between);
            let made = mixture(parts, between, read);
            let made = norm(decoder, parts, module, Some(behind), made);
            parts.sketch.add(beside, made)
        }
        None => {
            let made = mixture(parts, read, read);
            let beside = experts.is_beside_network.then(|| plain(parts));
            beside.map_or(made, |beside| parts.sketch.add(made, beside))
        }
    }
}

/// What a part of the layer made, normalized and scaled, added to the part's input.
fn add(
    decoder: &Decoder,
    parts: &mut Parts<'_, '_>,
    module: &str,
    behind: Option<&str>,
    [to, made]: [ValueId; 2],
) -> ValueId {
    let made = norm(decoder, parts, module, behind, made);
    let made = decoder.residual_scale.map_or(made, |scale| parts.sketch.scale(made, scale));
    parts.sketch.add(to, made)
}

/// Hidden states behind the normalization of this name, or as they are in a layer without the normalization.
fn norm(decoder: &Decoder, parts: &mut Parts<'_, '_>, module: &str, name: Option<&str>, value: ValueId) -> ValueId {
    norm_within(module, name).map_or(value, |module| parts.normalize(&module, decoder.norm, value))
}
