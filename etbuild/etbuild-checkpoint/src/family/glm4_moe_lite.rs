//! GLM-4.7 Flash: latent attention, and DeepSeek's mixture of experts without groups.

use super::conventions::{Class, Mixture};
use super::{Family, conventions, deepseek_v3};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["Glm4MoeLiteForCausalLM"], keys: &[], describe };

/// `Glm4MoeLiteConfig`.
const CLASS: Class = Class { longest: 202_752, ..Class::LLAMA }.epsilon(1e-5);
/// The experts of the class.
const MIXTURE: Mixture = Mixture { dense: 1, scale: 1.8, groups: [1, 1], ..Mixture::DEEPSEEK };
/// The key of the networks of the layers.
const KINDS: &str = "mlp_layer_types";

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = deepseek_v3::described(config, &CLASS)?;
    decoder.experts = Some(conventions::deepseek_experts(&mut decoder, config, &MIXTURE)?);
    let Some(kinds) = config.optional_texts(KINDS)? else { return Ok(decoder) };
    if kinds.len() != decoder.layers.len() {
        return Err(config.mistake(KINDS, "does not name a kind for each layer"));
    }
    for (layer, kind) in decoder.layers.iter_mut().zip(&kinds) {
        layer.has_experts = match kind.as_str() {
            "sparse" => true,
            "dense" => false,
            _ => return Err(config.unsupported(KINDS, "`dense`, `sparse`")),
        };
    }
    Ok(decoder)
}
