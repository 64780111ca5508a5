//! The tensors of a GGUF file under the names of a decoder's modules.

use std::sync::Arc;

use etbuild_ir::Buffer;

use super::blocks::{self, Kind};
use super::header::Place;
use crate::names::{norm_within, within};
use crate::shards::{Tensor, Tensors};
use crate::{CheckpointError, Decoder, Experts, Gate};

/// Adds a tensor of a file to the tensors of the model, under the decoder's name; a stack of experts as a matrix for each.
pub fn add(
    tensors: &mut Tensors,
    decoder: &Decoder,
    file: &Arc<dyn Buffer>,
    place: &Place,
) -> Result<(), CheckpointError> {
    let Some((layer, role, ending)) = of_layer(&place.name) else {
        return put(tensors, of_model(decoder, &place.name), file, place, &place.shape, 0);
    };
    let experts = decoder.experts.as_ref();
    let stack = experts.and_then(|experts| Some((experts, of_expert(experts, role)?)));
    match (stack, &place.shape[..], ending) {
        (Some((experts, name)), [count, shape @ ..], "weight") if *count == experts.count => {
            let rows = shape.first().copied().unwrap_or(1);
            let list = format!("{}.{}.{}", decoder.names.layer(layer), experts.names.module, experts.names.list);
            (0..*count).try_for_each(|expert| {
                put(tensors, format!("{list}.{expert}.{name}.weight"), file, place, shape, expert * rows)
            })
        }
        _ => {
            let name =
                module(decoder, layer, role).map_or_else(|| place.name.clone(), |module| named(&module, ending, role));
            put(tensors, name, file, place, &place.shape, 0)
        }
    }
}

/// Layer, role and ending of a name such as `blk.0.attn_q.weight`.
fn of_layer(name: &str) -> Option<(usize, &str, &str)> {
    let (layer, rest) = name.strip_prefix("blk.")?.split_once('.')?;
    let (role, ending) = rest.rsplit_once('.')?;
    Some((layer.parse().ok()?, role, ending))
}

/// The name of a tensor outside the layers.
fn of_model(decoder: &Decoder, name: &str) -> String {
    let names = &decoder.names;
    let (role, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let module = match role {
        "token_embd" => names.embedding,
        "token_embd_norm" => names.embedding_norm,
        "position_embd" => names.positions,
        "output_norm" => names.norm,
        "output" => names.head,
        _ => return name.to_owned(),
    };
    format!("{module}.{ending}")
}

/// The module of a role in a layer.
fn module(decoder: &Decoder, index: usize, role: &str) -> Option<String> {
    let (names, places) = (&decoder.names, &decoder.norm_places);
    let layer = names.layer(index);
    let in_attention = |name: &str| Some(format!("{layer}.{}.{name}", names.attention));
    let in_network = |name: &str| Some(within(&within(&layer, names.network), name));
    let [query, key, value] = names.inputs;
    let has_experts = decoder.layers.get(index).is_some_and(|layer| layer.has_experts);
    match role {
        "attn_norm" => norm_within(&layer, places.before_attention),
        // Some converters call the norm ahead of the network by its place behind attention.
        "post_attention_norm" => norm_within(&layer, places.behind_attention.or(places.before_network)),
        "ffn_norm" => norm_within(&layer, places.before_network),
        "post_ffw_norm" => norm_within(&layer, places.behind_network),
        "attn_q" => in_attention(query),
        "attn_k" => in_attention(key),
        "attn_v" => in_attention(value),
        "attn_qkv" => in_attention(names.fused_inputs),
        "attn_output" => in_attention(names.output),
        "attn_q_norm" => in_attention(names.head_norms[0]),
        "attn_k_norm" => in_attention(names.head_norms[1]),
        "attn_sinks" => in_attention("sinks"),
        "attn_q_a" => in_attention("q_a_proj"),
        "attn_q_a_norm" => in_attention("q_a_layernorm"),
        "attn_q_b" => in_attention("q_b_proj"),
        "attn_kv_a_mqa" => in_attention("kv_a_proj_with_mqa"),
        "attn_kv_a_norm" => in_attention("kv_a_layernorm"),
        "attn_kv_b" => in_attention("kv_b_proj"),
        "attn_k_b" => in_attention("k_b_proj"),
        "attn_v_b" => in_attention("v_b_proj"),
        "ffn_gate" => in_network(names.gate),
        "ffn_up" if decoder.feed_forward.gate == Gate::Fused && !has_experts => in_network(names.gate_and_up),
        "ffn_up" => in_network(names.up),
        "ffn_down" => in_network(names.down),
        // Layers that predict later tokens.
        _ if role.starts_with(LATER) => Some(format!("{layer}.{}", role.trim_start_matches(LATER))),
        _ => decoder.experts.as_ref().and_then(|experts| of_mixture(experts, &layer, role)),
    }
}

/// The module of a role in a mixture of experts.
fn of_mixture(experts: &Experts, layer: &str, role: &str) -> Option<String> {
    let names = &experts.names;
    let module = format!("{layer}.{}", names.module);
    let shared = |name: &str| Some(format!("{module}.{}.{name}", names.shared));
    match role {
        "ffn_gate_inp" => Some(format!("{module}.{}", names.router)),
        CORRECTION => experts.routing.correction.map(|name| format!("{module}.{name}")),
        "ffn_gate_inp_shexp" => Some(format!("{module}.{}", names.shared_gate)),
        "ffn_gate_shexp" => shared("gate_proj"),
        "ffn_up_shexp" => shared("up_proj"),
        "ffn_down_shexp" => shared("down_proj"),
        // Biases of all experts.
        _ => of_expert(experts, role).map(|name| format!("{module}.{}.{name}", names.list)),
    }
}

/// The name of a projection of experts.
fn of_expert(experts: &Experts, role: &str) -> Option<&'static str> {
    match role {
        "ffn_gate_exps" => Some(experts.names.gate),
        "ffn_up_exps" => Some(experts.names.up),
        "ffn_down_exps" => Some(experts.names.down),
        _ => None,
    }
}

/// The numbers that correct the choice of experts.
const CORRECTION: &str = "exp_probs_b";
/// The beginning of roles of a layer that predicts later tokens.
const LATER: &str = "nextn.";

/// The name of a tensor of a module. Sinks and corrections are tensors without an ending.
fn named(module: &str, ending: &str, role: &str) -> String {
    if matches!(role, "attn_sinks" | CORRECTION) { module.to_owned() } else { format!("{module}.{ending}") }
}

/// Adds rows of a place, from `first` on, as a tensor of this shape.
fn put(
    tensors: &mut Tensors,
    name: String,
    file: &Arc<dyn Buffer>,
    place: &Place,
    shape: &[usize],
    first: usize,
) -> Result<(), CheckpointError> {
    let columns = shape.last().copied().unwrap_or(1);
    let start = place.start + first * (columns / place.format.elements * place.format.bytes);
    // The gate of a network that every token passes is a vector in some files.
    let shape = if place.name.contains("ffn_gate_inp_shexp") { vec![1, columns] } else { shape.to_vec() };
    match place.format.kind {
        Kind::Plain(scalar_type) => tensors.add(name, Tensor { scalar_type, shape, shard: file.clone(), start }),
        Kind::Groups(..) => {
            let rows = shape.iter().product::<usize>() / columns.max(1);
            let matrix = blocks::matrix(place.format, file.clone(), start, [rows, columns]);
            tensors.add_encoded(name, shape, matrix)
        }
    }
}
