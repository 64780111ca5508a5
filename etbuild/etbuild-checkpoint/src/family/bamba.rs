//! Bamba: state spaces of Mamba 2, and attention in some layers.

use super::conventions::Class;
use super::{Family, conventions, mamba2};
use crate::config::Config;
use crate::{CheckpointError, Decoder, Mixer, Names, NormPlaces};

pub const FAMILY: Family = Family { architectures: &["BambaForCausalLM"], keys: &[], describe };

/// `BambaConfig`.
pub const CLASS: Class = Class {
    names: Names { network: "feed_forward", norm: "model.final_layernorm", ..Names::LLAMA },
    places: NormPlaces { before_network: Some("pre_ff_layernorm"), ..NormPlaces::BEFORE },
    rotated: 0.5,
    longest: 262_144,
    key_heads: Some(8),
    ..Class::LLAMA
}
.epsilon(1e-5);

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::biases(&mut decoder, config, false)?;
    let scan = mamba2::hybrid(config, &decoder)?;
    let attending = config.optional_counts("attn_layer_indices")?.unwrap_or_default();
    for (index, layer) in decoder.layers.iter_mut().enumerate() {
        layer.mixer = if attending.contains(&index) { Mixer::Attention } else { Mixer::Scan(scan) };
    }
    Ok(decoder)
}
