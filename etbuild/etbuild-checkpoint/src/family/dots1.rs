//! dots.llm1: the attention of Qwen 3, and DeepSeek's mixture of experts.

use super::conventions::{Class, Mixture};
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, HeadNorm};

pub const FAMILY: Family = Family { architectures: &["Dots1ForCausalLM"], keys: &[], describe };

/// `Dots1Config`.
const CLASS: Class = Class { window: Some(4096), ..Class::LLAMA };
/// The experts of the class.
const MIXTURE: Mixture = Mixture { dense: 0, scale: 1.0, groups: [1, 1], is_normalized: false, ..Mixture::DEEPSEEK };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.head_norm = HeadNorm::Each;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    decoder.experts = Some(conventions::deepseek_experts(&mut decoder, config, &MIXTURE)?);
    let window = conventions::window(config, &CLASS)?;
    let first = config.optional_count("max_window_layers")?.unwrap_or(62);
    conventions::slide(&mut decoder, config, window, |index| index >= first)?;
    Ok(decoder)
}
