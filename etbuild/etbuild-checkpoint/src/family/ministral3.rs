//! Ministral 3: Mistral's architecture with YaRN, and queries that grow with the position.

use serde_json::json;

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{AttentionTemperature, CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["Ministral3ForCausalLM"], keys: &[], describe };

/// `Ministral3Config`.
const CLASS: Class =
    Class { longest: 262_144, theta: 1_000_000.0, key_heads: Some(8), depth: Some(128), ..Class::LLAMA }.epsilon(1e-5);

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let config = &with_rope(config);
    let mut decoder = conventions::decoder(config, &CLASS)?;
    let rope = conventions::rope(config)?;
    decoder.attention.temperature = match rope.optional_number("llama_4_scaling_beta")? {
        Some(slope) => Some(AttentionTemperature { slope, period: period(&rope)? }),
        None => None,
    };
    let window = conventions::window(config, &CLASS)?;
    decoder.layers.iter_mut().for_each(|layer| layer.window = window);
    Ok(decoder)
}

/// The tokens of the first context.
fn period(rope: &Config) -> Result<usize, CheckpointError> {
    const KEY: &str = "original_max_position_embeddings";
    rope.optional_tokens(KEY)?.ok_or_else(|| rope.mistake(KEY, "is missing"))
}

/// The configuration with the scaling that the class has where no key states one.
fn with_rope(config: &Config) -> Config {
    let is_stated = ["rope_parameters", "rope_scaling"].iter().any(|key| config.value(key).is_some());
    let absent = json!({
        "rope_type": "yarn", "rope_theta": 1_000_000.0, "factor": 16.0, "original_max_position_embeddings": 16_384,
        "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1,
    });
    config.clone().with_defaults((!is_stated).then_some(("rope_parameters", absent)))
}
