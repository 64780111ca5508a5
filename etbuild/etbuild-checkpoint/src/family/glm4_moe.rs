//! GLM-4.5 and 4.6: grouped-query attention, and DeepSeek's mixture of experts without groups.

use super::conventions::{Class, Mixture};
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, HeadNorm};

pub const FAMILY: Family = Family { architectures: &["Glm4MoeForCausalLM"], keys: &[], describe };

/// `Glm4MoeConfig`.
const CLASS: Class = Class { rotated: 0.5, longest: 131_072, key_heads: Some(8), ..Class::LLAMA }.epsilon(1e-5);
/// The experts of the class.
const MIXTURE: Mixture = Mixture { dense: 1, scale: 1.0, groups: [1, 1], ..Mixture::DEEPSEEK };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.biases = Biases { inputs: config.flag("attention_bias")?, output: false };
    if config.flag("use_qk_norm")? {
        decoder.attention.head_norm = HeadNorm::Each;
    }
    decoder.experts = Some(conventions::deepseek_experts(&mut decoder, config, &MIXTURE)?);
    Ok(decoder)
}
