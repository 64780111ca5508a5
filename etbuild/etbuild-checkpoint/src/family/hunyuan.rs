//! Hunyuan, dense: heads are normalized behind the rotary embedding.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, HeadNorm, Names};

pub const FAMILY: Family = Family { architectures: &["HunYuanDenseV1ForCausalLM"], keys: &[], describe };

/// `HunYuanDenseV1Config`.
const CLASS: Class =
    Class { names: Names { head_norms: ["query_layernorm", "key_layernorm"], ..Names::LLAMA }, ..Class::LLAMA }
        .epsilon(1e-5);

/// A decoder of Hunyuan, dense.
pub fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    decoder.attention.head_norm = HeadNorm::EachRotated;
    Ok(decoder)
}
