//! Granite: Llama's architecture with factors of the embedding, the scores, the residuals and the logits.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["GraniteForCausalLM"], keys: &[], describe };

/// A decoder of Granite, dense.
pub fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    described(config, &Class::LLAMA)
}

/// A decoder of a class with Granite's factors, dense.
pub fn described(config: &Config, class: &Class) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, class)?;
    conventions::biases(&mut decoder, config, false)?;
    decoder.embedding_scale = config.optional_number("embedding_multiplier")?;
    decoder.residual_scale = config.optional_number("residual_multiplier")?;
    decoder.attention.scale = config.optional_number("attention_multiplier")?.unwrap_or(1.0);
    decoder.logit_scale = config.optional_number("logits_scaling")?.map(f64::recip);
    Ok(decoder)
}
