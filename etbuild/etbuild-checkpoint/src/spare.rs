//! Tensors of published checkpoints that no computation needs: they are left out, and a sentence says so.

use std::collections::BTreeMap;

use etbuild_weights::Tensor;

use crate::shards::Tensors;
use crate::{Decoder, Names};

/// Endings of tensors of quantized checkpoints that are for kernels with fewer bits than the program's.
const KERNELS: &[(&str, &str)] = &[
    ("._weight_act_quant_scale", ACTIVATIONS),
    ("._weight_act_quant_zero_point", ACTIVATIONS),
    (".activation_scale", ACTIVATIONS),
    (".input_scale", ACTIVATIONS),
    (".input_zero_point", ACTIVATIONS),
    (".k_scale", CACHE),
    (".k_zero_point", CACHE),
    (".kv_scale", CACHE),
    (".output_scale", CACHE),
    (".output_zero_point", CACHE),
    (".q_scale", CACHE),
    (".v_scale", CACHE),
    (".v_zero_point", CACHE),
];

const ACTIVATIONS: &str = "scales of activations";
const CACHE: &str = "scales of a KV cache of 8 bits";
const BIASES: &str = "biases of zeros";
const LATER: &str = "tensors for the prediction of later tokens";

const ENCODERS: &str = "tensors of encoders of pictures and sound, so that the model answers texts alone";

const HEAD: &str = "matrices of heads, which embeddings do not need";

const SOUND: &str = "tensors of an encoder of sound, so that the model does not hear";

const KEYS: &str = "tensors for keys and values of layers that read the KV caches of others";
const SCALES: &str = "scales that the configuration switches off";

/// Where the encoders are that a model for texts is left without, by the names here.
const OF_ENCODERS: &[&str] = &["embed_vision.", "model.embed_vision.", "vision.projector.", "vision.tower."];
/// The same of encoders of sound alone.
const OF_SOUND: &[&str] = &["audio_tower.", "embed_audio.", "model.audio_tower.", "model.embed_audio."];
/// Modules that predict later tokens from a text's hidden states (multi-token prediction), ahead of the names of their tensors.
const PREDICTORS: &[&str] = &["mtp.", "model.mtp.", "model.mtp_layers."];
/// What a layer that predicts later tokens has and no other layer: the projection of hidden states and embeddings side by side.
const PREDICTOR: &str = "eh_proj.weight";

/// Takes out what no computation needs. Returns how many tensors of each kind that were.
pub fn take(
    decoder: &Decoder,
    tensors: &mut Tensors,
    (is_quantized, is_embedder): (bool, bool),
) -> BTreeMap<&'static str, usize> {
    let heads = [decoder.names.head_matrix(), Names::LLAMA.head_matrix()];
    let kind = |name: &str| {
        let of_kernel = || KERNELS.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, kind)| *kind);
        let is_of = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        let is_bias = || has_spare_bias(decoder, tensors, name);
        match is_quantized {
            _ if is_embedder && heads.iter().any(|head| head == name) => Some(HEAD),
            _ if predicts(decoder, tensors, name) => Some(LATER),
            _ if of_shared_cache(decoder, name) => Some(KEYS),
            _ if of_unscaled(decoder, name) => Some(SCALES),
            _ if decoder.is_for_texts && (is_of(OF_ENCODERS) || is_of(OF_SOUND)) => Some(ENCODERS),
            _ if decoder.vision.is_some() && is_of(OF_SOUND) => Some(SOUND),
            true => of_kernel().or_else(|| is_bias().then_some(BIASES)),
            false => None,
        }
    };
    let spare: Vec<(String, &str)> =
        tensors.all_names().filter_map(|name| Some((name.to_owned(), kind(name)?))).collect();
    let mut counts = BTreeMap::new();
    for (name, kind) in spare {
        tensors.discard(&name);
        *counts.entry(kind).or_default() += 1;
    }
    counts
}

/// What was taken out, in words.
pub fn told(counts: &BTreeMap<&'static str, usize>) -> Option<String> {
    let kinds: Vec<String> = counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    (!kinds.is_empty()).then(|| format!("left out: {}", kinds.join(", ")))
}

/// Whether a tensor is of a module that predicts later tokens: one beside the layers, or a layer behind the last.
fn predicts(decoder: &Decoder, tensors: &Tensors, name: &str) -> bool {
    let behind = || {
        let (index, _) = in_layer(decoder, name)?;
        (index >= decoder.layers.len()).then(|| format!("{}.{PREDICTOR}", decoder.names.layer(index)))
    };
    PREDICTORS.iter().any(|start| name.starts_with(start)) || behind().is_some_and(|mark| tensors.has(&mark))
}

/// Whether a tensor makes keys or values of a layer that has no KV cache of its own.
fn of_shared_cache(decoder: &Decoder, name: &str) -> bool {
    let Some((index, rest)) = in_layer(decoder, name) else { return false };
    let reads = decoder.layers.get(index).is_some_and(|layer| layer.shared_cache.is_some());
    let ([_, key, value], [_, norm]) = (decoder.names.inputs, decoder.names.head_norms);
    let module = rest.strip_prefix(decoder.names.attention).and_then(|rest| rest.strip_prefix('.')?.split('.').next());
    reads && module.is_some_and(|module| [key, value, norm, "v_norm"].contains(&module))
}

/// Whether a tensor scales the active stream of a model that does not.
fn of_unscaled(decoder: &Decoder, name: &str) -> bool {
    decoder.streams.is_some_and(|streams| !streams.scales_active) && name.ends_with(".altup.correct_output_scale")
}

/// The layer of a tensor, and the name within.
fn in_layer<'n>(decoder: &Decoder, name: &'n str) -> Option<(usize, &'n str)> {
    let (index, rest) = name.strip_prefix(decoder.names.layers)?.strip_prefix('.')?.split_once('.')?;
    Some((index.parse().ok()?, rest))
}

/// Whether a tensor is a bias of zeros of a quantized linear layer without a bias, as the first tools for GPTQ wrote.
fn has_spare_bias(decoder: &Decoder, tensors: &Tensors, name: &str) -> bool {
    let Some(module) = name.strip_suffix(".bias") else { return false };
    tensors.has_encoded(&format!("{module}.weight"))
        && !has_bias(decoder, module)
        && tensors.get(name).is_some_and(Tensor::is_zero)
}

/// Whether the decoder has the bias of a projection.
fn has_bias(decoder: &Decoder, module: &str) -> bool {
    let (names, attention) = (&decoder.names, &decoder.attention);
    let name = module.rsplit('.').next().unwrap_or_default();
    let [query, key, value] = names.inputs;
    if name == names.output && module.contains(names.attention) {
        attention.biases.output
    } else if name == key {
        attention.biases.inputs && attention.has_key_bias
    } else if [query, value, names.fused_inputs].contains(&name) {
        attention.biases.inputs
    } else {
        decoder.feed_forward.biases || decoder.experts.as_ref().is_some_and(|experts| experts.has_biases)
    }
}
