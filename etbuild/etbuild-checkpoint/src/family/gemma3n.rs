//! Gemma 3n, text: four streams of hidden states, embeddings for each layer, KV caches that layers share, gates of few elements.

use serde_json::Value;

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Cutoff, Decoder, FeedForward, Streams};

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

/// More streams than any model has, each of which has a matrix.
const MOST_STREAMS: usize = 64;
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
    decoder.layer_inputs = conventions::layer_inputs(config)?;
    decoder.streams = Some(streams(config)?);
    networks(&mut decoder, config, widths.as_deref())?;
    Ok(decoder)
}

fn streams(config: &Config) -> Result<Streams, CheckpointError> {
    const ACTIVE: &str = "altup_active_idx";
    const COUNT: &str = "altup_num_inputs";
    let count = config.optional_size(COUNT)?.unwrap_or(4);
    if count > MOST_STREAMS {
        return Err(config.mistake(COUNT, format!("is more than {MOST_STREAMS}")));
    }
    let active = config.optional_count(ACTIVE)?.unwrap_or(0);
    if active >= count {
        return Err(config.mistake(ACTIVE, format!("is none of {count} streams")));
    }
    let rank = config.optional_size("laurel_rank")?.unwrap_or(64);
    Ok(Streams { count, active, scales_active: config.flag_or("altup_correct_scale", true)?, rank })
}

/// The width and the cutoff of each network.
fn networks(decoder: &mut Decoder, config: &Config, widths: Option<&[usize]>) -> Result<(), CheckpointError> {
    let (count, network) = (decoder.layers.len(), decoder.feed_forward);
    if widths.is_some_and(|widths| widths.len() != count) {
        return Err(config.mistake("intermediate_size", "does not have a size for each layer"));
    }
    for (index, (layer, cutoff)) in decoder.layers.iter_mut().zip(cutoffs(config, count)?).enumerate() {
        let width = widths.and_then(|widths| widths.get(index)).copied().unwrap_or(network.width);
        layer.network = Some(FeedForward { width, cutoff, ..network });
    }
    Ok(())
}

/// The cutoff of each of `count` gates: by the shares of elements that become 0, or in GGUF by standard deviations, where null is none.
fn cutoffs(config: &Config, count: usize) -> Result<Vec<Option<Cutoff>>, CheckpointError> {
    const SHARES: &str = "activation_sparsity_pattern";
    const DEVIATIONS: &str = "activation_sparsity_scale";
    let by_share = |share: f64| (share > 0.0).then_some(Cutoff::Share(share));
    let (first, share) = SPARSE;
    let usual = || (0..count).map(|index| by_share(if index < first && count > first { share } else { 0.0 })).collect();
    let deviations = config.value(DEVIATIONS).and_then(Value::as_array);
    let (key, cutoffs): (&str, Vec<Option<Cutoff>>) = match (deviations, config.optional_shares(SHARES)?) {
        (Some(all), _) => (DEVIATIONS, all.iter().map(|number| number.as_f64().map(Cutoff::Deviations)).collect()),
        (None, Some(shares)) => (SHARES, shares.into_iter().map(by_share).collect()),
        (None, None) => (SHARES, usual()),
    };
    if cutoffs.len() != count {
        return Err(config.mistake(key, "does not have a number for each layer"));
    }
    Ok(cutoffs)
}
