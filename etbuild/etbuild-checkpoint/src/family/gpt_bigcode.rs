//! StarCoder 1 and SantaCoder: GPT-2 with one head of keys for all heads of queries.

use super::{Family, gpt2};
use crate::config::Config;
use crate::{CheckpointError, Decoder, Inputs};

pub const FAMILY: Family = Family { architectures: &["GPTBigCodeForCausalLM"], keys: gpt2::KEYS, describe };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = gpt2::described(config)?;
    if config.flag_or("multi_query", true)? {
        decoder.attention.key_heads = 1;
    } else {
        decoder.attention.inputs = Inputs::FusedByHead;
    }
    Ok(decoder)
}
