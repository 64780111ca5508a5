//! GLM-4 of 2025: GLM with norms behind attention and network too.

use super::conventions::Class;
use super::{Family, glm};
use crate::config::Config;
use crate::{CheckpointError, Decoder, NormPlaces};

pub const FAMILY: Family = Family { architectures: &["Glm4ForCausalLM"], keys: &[], describe };

/// `Glm4Config`.
const CLASS: Class = Class {
    places: NormPlaces {
        behind_attention: Some("post_self_attn_layernorm"),
        behind_network: Some("post_mlp_layernorm"),
        ..NormPlaces::BEFORE
    },
    ..glm::CLASS
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    glm::described(config, &CLASS)
}
