//! DeepSeek V3 and R1, Kimi K2: latent attention, and a mixture of experts whose router corrects its choice.

use super::conventions::{Class, Mixture};
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["DeepseekV3ForCausalLM"], keys: &[], describe };

/// `DeepseekV3Config`.
const CLASS: Class = Class { longest: 4096, ..Class::LLAMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = described(config, &CLASS)?;
    decoder.experts = Some(conventions::deepseek_experts(&mut decoder, config, &Mixture::DEEPSEEK)?);
    Ok(decoder)
}

/// A decoder with latent attention, whose rotated pairs are neighbours unless `rope_interleave` says otherwise.
pub fn described(config: &Config, class: &Class) -> Result<Decoder, CheckpointError> {
    let class = Class { is_interleaved: config.flag_or("rope_interleave", true)?, ..*class };
    let mut decoder = conventions::decoder(config, &class)?;
    conventions::latent(&mut decoder, config, &class)?;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    Ok(decoder)
}
