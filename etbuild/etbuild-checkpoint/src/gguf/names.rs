//! The tensors of a GGUF file under the names of a decoder's modules.

use std::sync::Arc;

use etbuild_ir::Buffer;
use etbuild_weights::Tensor;
use etbuild_weights::gguf::{self, Kind};

use super::header::Place;
use crate::decoder::{layer_inputs, streams};
use crate::names::{norm_within, within};
use crate::shards::Tensors;
use crate::{CheckpointError, Convolution, Decoder, Experts, Gate, Mixer};

/// Adds a tensor of a file to the tensors of the model, under the decoder's name; a stack of experts as a matrix for each.
pub fn add(
    tensors: &mut Tensors,
    decoder: &Decoder,
    file: &Arc<dyn Buffer>,
    place: &Place,
) -> Result<(), CheckpointError> {
    let Some((layer, role, ending)) = of_layer(&place.name) else {
        let has = |count: usize| decoder.streams.is_some_and(|streams| streams.count == count + 1);
        if let (Some(list), [count, shape @ ..]) = (of_list(&place.name), &place.shape[..])
            && has(*count)
        {
            return Stack { list: list.to_owned(), count: *count, shape }.put(tensors, file, place, [""]);
        }
        return put(tensors, of_model(decoder, &place.name), file, place, &place.shape, 0);
    };
    let experts = decoder.experts.as_ref();
    let stack = experts.and_then(|experts| Some((experts, of_expert(experts, role)?)));
    match (stack, &place.shape[..], ending) {
        (Some((experts, name)), [count, shape @ ..], "weight") if *count == experts.count => {
            let module = within(&decoder.names.layer(layer), experts.names.module);
            let list = Stack { list: format!("{module}.{}", experts.names.list), count: *count, shape };
            match role {
                // A matrix has the rows of gate, then the rows of up.
                GATE_AND_UP => list.put(tensors, file, place, [experts.names.gate, experts.names.up]),
                _ => list.put(tensors, file, place, [name]),
            }
        }
        (_, _, "scale") => {
            let name = of_router(decoder, layer, role).unwrap_or_else(|| place.name.clone());
            put(tensors, name, file, place, &place.shape, 0)
        }
        _ => {
            let name =
                module(decoder, layer, role).map_or_else(|| place.name.clone(), |module| named(&module, ending, role));
            put(tensors, name, file, place, &place.shape, 0)
        }
    }
}

/// A stack of matrices, one for each module of a list.
struct Stack<'s> {
    /// The list of modules.
    list: String,
    /// The modules.
    count: usize,
    /// The shape of a matrix.
    shape: &'s [usize],
}

impl Stack<'_> {
    /// Adds the weights of these projections of each module, whose matrix has as many rows of each.
    fn put<const N: usize>(
        &self,
        tensors: &mut Tensors,
        file: &Arc<dyn Buffer>,
        place: &Place,
        names: [&str; N],
    ) -> Result<(), CheckpointError> {
        let all = self.shape.first().copied().unwrap_or(1);
        let (rows, mut own) = (all / N, self.shape.to_vec());
        own.iter_mut().take(1).for_each(|size| *size = rows);
        let parts = (0..self.count).flat_map(|module| names.iter().enumerate().map(move |part| (module, part)));
        for (module, (index, name)) in parts {
            let name = format!("{}.weight", within(&format!("{}.{module}", self.list), name));
            put(tensors, name, file, place, &own, module * all + index * rows)?;
        }
        Ok(())
    }
}

/// Layer, role and ending of a name such as `blk.0.attn_q.weight`.
fn of_layer(name: &str) -> Option<(usize, &str, &str)> {
    let (layer, rest) = name.strip_prefix("blk.")?.split_once('.')?;
    let (role, ending) = if matches!(rest, RATES | SKIPS) { (rest, "") } else { rest.rsplit_once('.')? };
    Some((layer.parse().ok()?, role, ending))
}

/// The list of matrices that a tensor outside the layers is a stack of.
fn of_list(name: &str) -> Option<&'static str> {
    match name {
        "altup_proj.weight" => Some(streams::PROJECTIONS),
        "altup_unembd_proj.weight" => Some(streams::BACK),
        _ => None,
    }
}

/// The name of a tensor outside the layers.
fn of_model(decoder: &Decoder, name: &str) -> String {
    let names = &decoder.names;
    let (role, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let module = match role {
        "token_embd" => names.embedding,
        // LFM2 has the norm ahead of the head under this name.
        "token_embd_norm" if names.embedding_norm.is_empty() => names.norm,
        "token_embd_norm" => names.embedding_norm,
        "position_embd" => names.positions,
        "output_norm" => names.norm,
        "output" => names.head,
        "per_layer_token_embd" => layer_inputs::TABLE,
        "per_layer_model_proj" => layer_inputs::PROJECTION,
        "per_layer_proj_norm" => layer_inputs::NORM,
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
    let is_beside = decoder.experts.as_ref().is_some_and(|experts| experts.is_beside_network);
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
        "attn_qkv" => match decoder.layers.get(index).map(|layer| layer.mixer) {
            Some(Mixer::Delta(delta)) => Some(format!("{layer}.{}.in_proj_qkv", delta.module)),
            _ => in_attention(names.fused_inputs),
        },
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
        // The network beside the experts.
        "ffn_gate_shexp" if is_beside => in_network(names.gate),
        "ffn_up_shexp" if is_beside => in_network(names.up),
        "ffn_down_shexp" if is_beside => in_network(names.down),
        // Layers that predict later tokens.
        _ if role.starts_with(LATER) => Some(format!("{layer}.{}", role.trim_start_matches(LATER))),
        _ => of_kinds(decoder, index, role)
            .or_else(|| decoder.experts.as_ref().and_then(|experts| of_mixture(experts, &layer, role))),
    }
}

/// The module of a role that layers of few families have.
fn of_kinds(decoder: &Decoder, index: usize, role: &str) -> Option<String> {
    let layer = decoder.layers.get(index)?;
    let of_mixer = match (layer.mixer, role) {
        (Mixer::Delta(delta), _) => {
            DELTA.iter().find(|(known, _)| *known == role).map(|(_, name)| (delta.module, *name))
        }
        (Mixer::Scan(scan), _) => SCAN.iter().find(|(known, _)| *known == role).map(|(_, name)| (scan.module, *name)),
        (Mixer::Convolution(Convolution { names, .. }), "shortconv.conv") => Some((names.module, names.kernel)),
        (Mixer::Convolution(Convolution { names, .. }), "shortconv.in_proj") => Some((names.module, names.input)),
        (Mixer::Convolution(Convolution { names, .. }), "shortconv.out_proj") => Some((names.module, names.output)),
        _ => None,
    };
    let of_mixer = of_mixer.map(|(module, name)| format!("{module}.{name}"));
    let norms = decoder.experts.as_ref().and_then(|experts| experts.norms);
    let of_norms = || match (norms, role) {
        (Some(norms), "pre_ffw_norm_2") => Some(norms.before),
        (Some(norms), "post_ffw_norm_2") => Some(norms.behind),
        (Some(norms), "post_ffw_norm_1") => Some(norms.behind_network),
        _ => None,
    };
    let listed = || BESIDE.iter().find(|(known, _)| *known == role).map(|(_, name)| *name).or_else(of_norms);
    let name = of_mixer.or_else(|| listed().map(str::to_owned))?;
    Some(format!("{}.{name}", decoder.names.layer(index)))
}

/// The roles of linear attention, and the modules here.
const DELTA: &[(&str, &str)] = &[
    ("attn_gate", "in_proj_z"),
    (RATES, "A_log"),
    ("ssm_alpha", "in_proj_a"),
    ("ssm_ba", "in_proj_ba"),
    ("ssm_beta", "in_proj_b"),
    ("ssm_conv1d", "conv1d"),
    ("ssm_dt", "dt_bias"),
    (SCAN_NORM, "norm"),
    ("ssm_out", "out_proj"),
];

/// The roles of state spaces of Mamba 2, and the modules here.
const SCAN: &[(&str, &str)] = &[
    (RATES, "A_log"),
    ("ssm_conv1d", "conv1d"),
    (SKIPS, "D"),
    ("ssm_dt", "dt_bias"),
    ("ssm_in", "in_proj"),
    (SCAN_NORM, "norm"),
    ("ssm_out", "out_proj"),
];

/// The roles of what layers have beside the hidden states, and the modules here.
const BESIDE: &[(&str, &str)] = &[
    ("altup_correct_coef", "altup.correction_coefs"),
    ("altup_correct_scale", "altup.correct_output_scale"),
    ("altup_predict_coef", "altup.prediction_coefs"),
    ("altup_router", "altup.modality_router"),
    ("altup_router_norm", "altup.router_norm"),
    ("inp_gate", "per_layer_input_gate"),
    ("laurel_l", "laurel.linear_left"),
    ("laurel_post_norm", "laurel.post_laurel_norm"),
    ("laurel_r", "laurel.linear_right"),
    (LAYER_SCALE, "layer_scalar"),
    ("post_norm", "post_per_layer_input_norm"),
    ("proj", "per_layer_projection"),
];

/// The module of a role in a mixture of experts.
fn of_mixture(experts: &Experts, layer: &str, role: &str) -> Option<String> {
    let names = &experts.names;
    let module = within(layer, names.module);
    let shared = |name: &str| Some(format!("{module}.{}.{name}", names.shared));
    match role {
        "ffn_gate_inp" if experts.routing.is_scaled => Some(format!("{module}.{}.proj", names.router)),
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
        "ffn_gate_exps" | GATE_AND_UP => Some(experts.names.gate),
        "ffn_up_exps" => Some(experts.names.up),
        "ffn_down_exps" => Some(experts.names.down),
        _ => None,
    }
}

/// Gate and up of all experts in one stack.
const GATE_AND_UP: &str = "ffn_gate_up_exps";
/// The factor of a layer's output.
const LAYER_SCALE: &str = "layer_output_scale";
/// The rates of linear attention and of state spaces.
const RATES: &str = "ssm_a";
/// The factors of the inputs of state spaces that are added to the outputs.
const SKIPS: &str = "ssm_d";
/// The norm of the groups of a state space.
const SCAN_NORM: &str = "ssm_norm";
/// What scaled routers have beside matrices: factors of the input, and of the shares of experts.
const ROUTER_SCALES: &[(&str, &str)] = &[("ffn_down_exps", "per_expert_scale"), ("ffn_gate_inp", "scale")];
/// The numbers that correct the choice of experts.
const CORRECTION: &str = "exp_probs_b";
/// The beginning of roles of a layer that predicts later tokens.
const LATER: &str = "nextn.";

/// The name of a tensor of a module. Sinks, corrections and other vectors are tensors without an ending.
fn named(module: &str, ending: &str, role: &str) -> String {
    let is_vector =
        matches!(role, "attn_sinks" | "altup_correct_scale" | "ssm_dt" | CORRECTION | LAYER_SCALE | RATES | SKIPS);
    if is_vector { module.to_owned() } else { format!("{module}.{ending}") }
}

/// The name of a factor of a router in a layer.
fn of_router(decoder: &Decoder, layer: usize, role: &str) -> Option<String> {
    let experts = decoder.experts.as_ref().filter(|experts| experts.routing.is_scaled)?;
    let (_, name) = ROUTER_SCALES.iter().find(|(known, _)| *known == role)?;
    let module = within(&decoder.names.layer(layer), experts.names.module);
    Some(format!("{module}.{}.{name}", experts.names.router))
}

/// Adds rows of a place, from `first` on, as a tensor of this shape.
pub fn put(
    tensors: &mut Tensors,
    name: String,
    file: &Arc<dyn Buffer>,
    place: &Place,
    shape: &[usize],
    first: usize,
) -> Result<(), CheckpointError> {
    let columns = shape.last().copied().unwrap_or(1);
    let start = place.start + first * (columns / place.format.elements * place.format.bytes);
    let is_vector = of_layer(&place.name).is_some_and(|(_, role, _)| matches!(role, RATES | SKIPS | SCAN_NORM));
    let shape = match is_vector {
        // A row for each head or group.
        true => vec![shape.iter().product()],
        // The gate of a network that every token passes is a vector in some files.
        false if place.name.contains("ffn_gate_inp_shexp") => vec![1, columns],
        false => shape.to_vec(),
    };
    match place.format.kind {
        Kind::Plain(scalar_type) => tensors.add(name, Tensor { scalar_type, shape, shard: file.clone(), start }),
        Kind::Groups(..) => {
            let rows = shape.iter().product::<usize>() / columns.max(1);
            let matrix = gguf::matrix(place.format, file.clone(), start, [rows, columns]);
            tensors.add_encoded(name, shape, matrix)
        }
    }
}
