//! Phi-3.5-MoE and Phi-mini-MoE: LayerNorm, and a mixture of experts whose two choices are weighed one after the other.

use super::conventions::Class;
use super::{Family, conventions, mixtral};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, Experts, Routing, Scaling, Shares};

/// The class of `transformers`, and that of the code beside the published Phi-3.5-MoE.
pub const FAMILY: Family = Family { architectures: &["PhimoeForCausalLM", "PhiMoEForCausalLM"], keys: &[], describe };

/// `PhimoeConfig`.
const CLASS: Class = Class { theta: 1_000_000.0, longest: 131_072, key_heads: Some(8), ..Class::LAYER_NORM };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    decoder.head_bias = config.flag("lm_head_bias")?;
    let width = decoder.feed_forward.width;
    let experts = conventions::experts(&mut decoder, config, width, [16, 2])?;
    if experts.chosen != 2 {
        return Err(config.unsupported("num_experts_per_tok", "`2`"));
    }
    let noise = config.or_default("router_jitter_noise", Config::optional_amount, 0.01)?.unwrap_or(0.0);
    let routing = Routing { shares: Shares::InTurns { slack: 2.0 * noise }, ..Routing::PLAIN };
    decoder.experts = Some(Experts { names: mixtral::NAMES, is_normalized: false, routing, ..experts });
    let window = conventions::window(config, &CLASS)?;
    decoder.layers.iter_mut().for_each(|layer| layer.window = window);
    magnify(&mut decoder, config)?;
    Ok(decoder)
}

/// The factors of cosines and sines, which the family states for short and long contexts in place of a common one.
fn magnify(decoder: &mut Decoder, config: &Config) -> Result<(), CheckpointError> {
    let rope = conventions::rope(config)?;
    let [of_short, of_long] = [rope.optional_number("short_mscale")?, rope.optional_number("long_mscale")?];
    for rotary in &mut decoder.rotaries {
        if let Scaling::ByPair { magnitudes, .. } = &mut rotary.scaling {
            *magnitudes = [of_short.unwrap_or(magnitudes[0]), of_long.unwrap_or(magnitudes[1])];
        }
    }
    Ok(())
}
