//! gpt-oss: a mixture of experts with a clamped gate, attention sinks, a window in every second layer.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Clamped, Decoder, ExpertNames, Experts, Storage};

pub const FAMILY: Family = Family { architectures: &["GptOssForCausalLM"], keys: &[], describe };

/// `GptOssConfig`.
const CLASS: Class = Class {
    theta: 150_000.0,
    longest: 131_072,
    window: Some(128),
    key_heads: Some(8),
    depth: Some(64),
    ..Class::LLAMA
}
.epsilon(1e-5);

/// Gate and up are one tensor of all experts.
const NAMES: ExpertNames =
    ExpertNames { router: "router", gate: "gate_up_proj", up: "gate_up_proj", ..ExpertNames::QWEN };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    // The class has a YaRN of its own for configurations without a word about RoPE; published ones have some.
    if config.value("rope_parameters").or(config.value("rope_scaling")).is_none() {
        return Err(config.mistake("rope_parameters", "is missing"));
    }
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.biases = Biases::all(config.flag_or("attention_bias", true)?);
    decoder.attention.has_sinks = true;
    let number = |key, default| Ok::<_, CheckpointError>(config.optional_number(key)?.unwrap_or(default));
    let clamped = Clamped { slope: number("swiglu_alpha", 1.702)?, most: number("swiglu_limit", 7.0)? };
    let width = decoder.feed_forward.width;
    let experts = conventions::experts(&mut decoder, config, width, [128, 4])?;
    decoder.experts = Some(Experts {
        storage: Storage::Interleaved,
        names: NAMES,
        has_biases: true,
        clamped: Some(clamped),
        ..experts
    });
    let window = conventions::window(config, &CLASS)?;
    conventions::slide(&mut decoder, config, window, |index| index % 2 == 0)?;
    Ok(decoder)
}
