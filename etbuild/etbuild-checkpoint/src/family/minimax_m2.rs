//! MiniMax M2: norms over all heads of queries and keys together, rotation of a part of each head, a router that corrects its choice.

use serde_json::{Value, json};

use super::conventions::Class;
use super::{Family, conventions, mixtral};
use crate::config::Config;
use crate::{CheckpointError, Decoder, Experts, HeadNorm, Routing, Shares};

pub const FAMILY: Family = Family { architectures: &["MiniMaxM2ForCausalLM"], keys: &[], describe };

/// `MiniMaxM2Config`.
const CLASS: Class =
    Class { theta: 5_000_000.0, longest: 196_608, key_heads: Some(8), depth: Some(128), ..Class::LLAMA };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(&config.clone().with_defaults(share(config)?), &CLASS)?;
    decoder.attention.head_norm = HeadNorm::Whole;
    let width = decoder.feed_forward.width;
    let experts = conventions::experts(&mut decoder, config, width, [256, 8])?;
    let correction = Some("e_score_correction_bias");
    let routing = Routing { shares: Shares::Sigmoid, correction, ..Routing::PLAIN };
    decoder.experts = Some(Experts { names: mixtral::NAMES, routing, ..experts });
    Ok(decoder)
}

/// The share of a head that turns, which scalings are made of. Published models state the elements.
fn share(config: &Config) -> Result<Option<(&'static str, Value)>, CheckpointError> {
    let Some(rotated) = config.optional_size("rotary_dim")? else { return Ok(None) };
    let depth = config.or_default("head_dim", Config::optional_size, CLASS.depth)?;
    let depth = depth.ok_or_else(|| config.mistake("head_dim", "is missing beside `rotary_dim`"))?;
    Ok(Some(("partial_rotary_factor", json!(rotated as f64 / depth as f64))))
}
