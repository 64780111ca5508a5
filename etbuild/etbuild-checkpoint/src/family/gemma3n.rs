//! Gemma 3n, text: four streams of hidden states, embeddings for each layer, KV caches that layers share, gates of few elements.

use serde_json::Value;

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder, FeedForward, Streams};

pub const FAMILY: Family =
    Family { architectures: &["Gemma3nForCausalLM"], keys: &[("hidden_act", "hidden_activation")], describe };

/// `Gemma3nTextConfig`, and the rotary embedding of layers with global attention.
const CLASS: Class = Class {
    norm: Class::LLAMA.norm,
    theta: 1_000_000.0,
    longest: 32_768,
    window: Some(512),
    key_heads: Some(2),
    logit_cap: Some(30.0),
    ..Class::GEMMA
};

/// The rotary embedding of layers with a window.
const LOCAL: Class = Class { theta: 10_000.0, ..CLASS };

/// The layers of a deeper model whose gates have few elements, and the share of the others.
const SPARSE: (usize, f64) = (10, 0.95);

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    const WIDTH: &str = "intermediate_size";
    let widths = match config.value(WIDTH) {
        Some(Value::Array(_)) => config.optional_counts(WIDTH)?,
        _ => None,
    };
    let common =
        widths.as_ref().and_then(|widths| widths.first()).map(|width| config.with_value(WIDTH, (*width).into()));
    let (mut decoder, local) = conventions::small_gemma(common.as_ref().unwrap_or(config), &CLASS, 5)?;
    let kinds = [&CLASS, &LOCAL].map(|class| (class, decoder.attention.depth));
    conventions::rotate_by_kind(&mut decoder, config, kinds, "rope_local_base_freq", &local)?;
    conventions::share_caches(&mut decoder, config, 15)?;
    decoder.layer_inputs = conventions::layer_inputs(config, 256)?;
    decoder.streams = Some(streams(config)?);
    networks(&mut decoder, config, widths.as_deref())?;
    Ok(decoder)
}

fn streams(config: &Config) -> Result<Streams, CheckpointError> {
    const ACTIVE: &str = "altup_active_idx";
    let count = config.optional_size("altup_num_inputs")?.unwrap_or(4);
    let active = config.optional_count(ACTIVE)?.unwrap_or(0);
    if active >= count {
        return Err(config.mistake(ACTIVE, format!("is none of {count} streams")));
    }
    let rank = config.optional_size("laurel_rank")?.unwrap_or(64);
    Ok(Streams { count, active, scales_active: config.flag_or("altup_correct_scale", true)?, rank })
}

/// The width of each network, and the share of the gate's elements that become 0.
fn networks(decoder: &mut Decoder, config: &Config, widths: Option<&[usize]>) -> Result<(), CheckpointError> {
    const SHARES: &str = "activation_sparsity_pattern";
    let (count, network) = (decoder.layers.len(), decoder.feed_forward);
    let (first, share) = SPARSE;
    let sparse = if count > first { first } else { 0 };
    let shares = config.optional_shares(SHARES)?;
    let shares = shares.unwrap_or_else(|| (0..count).map(|index| if index < sparse { share } else { 0.0 }).collect());
    if shares.len() != count {
        return Err(config.mistake(SHARES, "does not have a number for each layer"));
    }
    if widths.is_some_and(|widths| widths.len() != count) {
        return Err(config.mistake("intermediate_size", "does not have a size for each layer"));
    }
    for (index, (layer, share)) in decoder.layers.iter_mut().zip(shares).enumerate() {
        let width = widths.and_then(|widths| widths.get(index)).copied().unwrap_or(network.width);
        layer.network = Some(FeedForward { width, cutoff: Some(share).filter(|share| *share > 0.0), ..network });
    }
    Ok(())
}
