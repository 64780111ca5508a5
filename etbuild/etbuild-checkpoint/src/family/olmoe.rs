//! OLMoE: a mixture of experts, norms over all heads of queries and keys together.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, Experts, HeadNorm};

pub const FAMILY: Family = Family { architectures: &["OlmoeForCausalLM"], keys: &[], describe };

/// `OlmoeConfig`.
const CLASS: Class = Class { longest: 4096, ..Class::LLAMA }.epsilon(1e-5);

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    decoder.attention.head_norm = HeadNorm::Whole;
    decoder.attention.clip = config.optional_number("clip_qkv")?;
    let width = decoder.feed_forward.width;
    let experts = conventions::experts(&mut decoder, config, width, [64, 8])?;
    decoder.experts = Some(Experts { is_normalized: config.flag("norm_topk_prob")?, ..experts });
    Ok(decoder)
}
