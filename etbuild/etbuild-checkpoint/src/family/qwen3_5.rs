//! Qwen 3.5: the layers of Qwen3-Next with a matrix for each projection of linear attention, before a feed-forward network or experts.

use super::conventions::Class;
use super::{Family, qwen3_next};
use crate::config::Config;
use crate::{CheckpointError, Decoder, DeltaInputs, Experts};

pub const FAMILY: Family = Family { architectures: &["Qwen3_5ForCausalLM"], keys: &[], describe };
pub const MIXTURE: Family = Family { architectures: &["Qwen3_5MoeForCausalLM"], keys: &[], describe: describe_mixture };

/// `Qwen3_5TextConfig`.
const CLASS: Class = Class { key_heads: Some(4), ..qwen3_next::CLASS };

/// `Qwen3_5MoeTextConfig`.
const OF_MIXTURE: Class = Class { key_heads: Some(2), ..CLASS };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    qwen3_next::hybrid(config, &CLASS, DeltaInputs::Separate)
}

fn describe_mixture(config: &Config) -> Result<Decoder, CheckpointError> {
    // Every layer has experts alone.
    const KEY: &str = "intermediate_size";
    let config = &config.clone().with_defaults([(KEY, config.size("hidden_size")?.into())]);
    let mut decoder = qwen3_next::hybrid(config, &OF_MIXTURE, DeltaInputs::Separate)?;
    let experts = qwen3_next::experts(&mut decoder, config, [256, 8])?;
    decoder.experts = Some(Experts { is_normalized: true, ..experts });
    Ok(decoder)
}
