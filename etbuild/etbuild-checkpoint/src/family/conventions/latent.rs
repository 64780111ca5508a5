//! The keys of multi-head latent attention.

use super::{Class, rope, rotary};
use crate::config::Config;
use crate::{CheckpointError, Decoder, Latent};

/// The epsilon of RMSNorm of latents; other norms have the epsilon of `config.json`.
const EPSILON: f64 = 1e-6;

/// Gives a decoder multi-head latent attention: heads of queries with elements that are rotated and others, keys of one head.
pub fn latent(decoder: &mut Decoder, config: &Config, class: &Class) -> Result<(), CheckpointError> {
    let latent = Latent {
        query_rank: config.optional_size("q_lora_rank")?,
        rank: config.size("kv_lora_rank")?,
        plain: config.size("qk_nope_head_dim")?,
        rotated: config.size("qk_rope_head_dim")?,
        value: config.size("v_head_dim")?,
        epsilon: EPSILON,
        is_split: false,
    };
    // The sum of two other keys, in newer configurations.
    if config.optional_size("qk_head_dim")?.is_some_and(|depth| depth != latent.plain + latent.rotated) {
        return Err(config.mistake("qk_head_dim", "is not the sum of `qk_nope_head_dim` and `qk_rope_head_dim`"));
    }
    let rope = rope(config)?;
    decoder.rotaries = vec![rotary(config, &rope, latent.rotated, class)?];
    let stretch = temperature(&rope)?;
    let attention = &mut decoder.attention;
    attention.scale = ((latent.plain + latent.rotated) as f64).powf(-0.5) * stretch * stretch;
    attention.key_heads = 1;
    attention.depth = latent.rank + latent.rotated;
    attention.latent = Some(latent);
    Ok(())
}

/// What a stretched context multiplies queries and keys by (YaRN).
fn temperature(rope: &Config) -> Result<f64, CheckpointError> {
    let kind = rope.optional_text("rope_type")?.or(rope.optional_text("type")?);
    if kind.is_none_or(|kind| kind == "default") {
        return Ok(1.0);
    }
    let (scale, factor) = (rope.optional_number("mscale_all_dim")?, rope.optional_number("factor")?.unwrap_or(1.0));
    Ok(scale.map_or(1.0, |scale| if factor <= 1.0 { 1.0 } else { 0.1 * scale * factor.ln() + 1.0 }))
}
