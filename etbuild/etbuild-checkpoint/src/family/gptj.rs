//! GPT-J: attention and network side by side behind one LayerNorm, neighbouring rotated pairs.

use super::conventions::Class;
use super::{Family, conventions, gpt2};
use crate::config::Config;
use crate::{CheckpointError, Decoder, Names, NormPlaces};

pub const FAMILY: Family = Family { architectures: &["GPTJForCausalLM"], keys: gpt2::KEYS, describe };

/// `GPTJConfig`.
const CLASS: Class = Class {
    names: Names { output: "out_proj", up: "fc_in", down: "fc_out", ..gpt2::CLASS.names },
    places: NormPlaces { before_attention: Some("ln_1"), ..NormPlaces::SHARED },
    is_interleaved: true,
    tied: false,
    longest: 2048,
    ..gpt2::CLASS
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    let rotated = config.or_default("rotary_dim", Config::optional_size, 64)?;
    decoder.rotaries.iter_mut().for_each(|rotary| rotary.pairs = rotated.unwrap_or(decoder.attention.depth) / 2);
    decoder.feed_forward.biases = true;
    decoder.head_bias = true;
    Ok(decoder)
}
