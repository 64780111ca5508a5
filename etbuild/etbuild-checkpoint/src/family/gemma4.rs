//! Gemma 4: heads of their own in layers with global attention, KV caches that layers share, embeddings for each layer, experts.

use serde_json::json;

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Attention, CheckpointError, Decoder, ExpertNames, ExpertNorms, Experts, FeedForward, Routing, Storage};

pub const FAMILY: Family = Family {
    architectures: &["Gemma4ForCausalLM"],
    keys: &[("hidden_act", "hidden_activation"), ("num_experts_per_tok", "top_k_experts")],
    describe,
};

/// `Gemma4TextConfig`.
const CLASS: Class = Class { norm: Class::LLAMA.norm, longest: 131_072, window: Some(512), ..Class::GEMMA };

/// The rotary embedding of layers with global attention.
const GLOBAL: Class = Class { theta: 1_000_000.0, rotated: 0.25, ..CLASS };

/// The elements of a head of layers with global attention.
const GLOBAL_DEPTH: usize = 512;

/// Router and experts are parts of the layer.
const EXPERTS: ExpertNames = ExpertNames { module: "", router: "router", ..ExpertNames::STACKED };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let ropes = json!({
        "sliding_attention": {"rope_type": "default", "rope_theta": CLASS.theta},
        "full_attention": {"rope_type": "proportional", "rope_theta": GLOBAL.theta, "partial_rotary_factor": GLOBAL.rotated},
    });
    let config = &config.clone().with_defaults([("rope_parameters", ropes)]);
    let (mut decoder, mut local) = conventions::small_gemma(config, &CLASS, 6)?;
    // The class has global attention in the last layer, whatever the configuration says.
    if let (Some(layer), Some(local)) = (decoder.layers.last_mut(), local.last_mut()) {
        (layer.window, layer.is_global, *local) = (None, true, false);
    }
    decoder.has_layer_scales = true;
    let global = global(config, &decoder)?;
    let kinds = [(&GLOBAL, global.depth), (&CLASS, decoder.attention.depth)];
    conventions::rotate_by_kind(&mut decoder, config, kinds, "", &local)?;
    decoder.global_attention = Some(global);
    conventions::share_caches(&mut decoder, config, 0)?;
    widen(&mut decoder, config)?;
    decoder.layer_inputs = conventions::layer_inputs(config)?;
    if config.flag("enable_moe_block")? {
        decoder.experts = Some(experts(config, &mut decoder)?);
    }
    Ok(decoder)
}

/// The attention of global layers: newer configurations state it for each layer, older ones once.
fn global(config: &Config, decoder: &Decoder) -> Result<Attention, CheckpointError> {
    let values_are_keys = config.flag("attention_k_eq_v")?;
    let first = decoder.layers.iter().position(|layer| layer.is_global).unwrap_or(0);
    let layers = config.optional_map("per_layer_config")?;
    let own = layers.as_ref().map(|layers| layers.optional_map(&first.to_string())).transpose()?.flatten();
    let (depth, key_heads) = match (&layers, own) {
        (Some(_), Some(own)) => (own.optional_size("head_dim")?, own.optional_size("num_key_value_heads")?),
        (Some(_), None) => (None, None),
        (None, _) => {
            let key_heads = config.optional_size("num_global_key_value_heads")?.filter(|_| values_are_keys);
            (config.optional_size("global_head_dim")?.or(Some(GLOBAL_DEPTH)), key_heads)
        }
    };
    let local = &decoder.attention;
    Ok(Attention {
        depth: depth.unwrap_or(local.depth),
        key_heads: key_heads.unwrap_or(local.key_heads),
        values_are_keys,
        ..local.clone()
    })
}

/// Doubles the networks of layers without a KV cache of their own, where the configuration says so.
fn widen(decoder: &mut Decoder, config: &Config) -> Result<(), CheckpointError> {
    if !config.flag("use_double_wide_mlp")? {
        return Ok(());
    }
    let wide = FeedForward { width: 2 * decoder.feed_forward.width, ..decoder.feed_forward };
    for layer in decoder.layers.iter_mut().filter(|layer| layer.shared_cache.is_some()) {
        layer.network = Some(wide);
    }
    Ok(())
}

fn experts(config: &Config, decoder: &mut Decoder) -> Result<Experts, CheckpointError> {
    let width = config.size("moe_intermediate_size")?;
    let counts = [config.size("num_experts")?, config.size("num_experts_per_tok")?];
    let norms = ExpertNorms {
        before: "pre_feedforward_layernorm_2",
        behind: "post_feedforward_layernorm_2",
        behind_network: "post_feedforward_layernorm_1",
    };
    Ok(Experts {
        storage: Storage::StackedList,
        names: EXPERTS,
        norms: Some(norms),
        routing: Routing { is_scaled: true, ..Routing::PLAIN },
        ..conventions::experts(decoder, config, width, counts)?
    })
}
