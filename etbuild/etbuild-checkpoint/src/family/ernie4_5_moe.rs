//! ERNIE 4.5 with a mixture of experts, whose router corrects its choice.

use super::conventions::Class;
use super::{Family, conventions, ernie4_5};
use crate::config::Config;
use crate::{CheckpointError, Decoder, ExpertNames, Experts, Routing};

pub const FAMILY: Family = Family {
    architectures: &["Ernie4_5_MoeForCausalLM"],
    keys: &[("num_experts", "moe_num_experts"), ("num_experts_per_tok", "moe_k")],
    describe,
};

/// `Ernie4_5_MoeConfig`.
const CLASS: Class = Class { key_heads: Some(4), depth: None, ..ernie4_5::CLASS };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = ernie4_5::described(config, &CLASS)?;
    decoder.head_bias = config.flag("use_bias")?;
    let width = config.optional_size("moe_intermediate_size")?.unwrap_or(1536);
    let experts = conventions::experts(&mut decoder, config, width, [64, 6])?;
    decoder.experts = Some(Experts {
        names: ExpertNames::DEEPSEEK,
        shared: conventions::shared_width(config, "moe_num_shared_experts", 2, width)?,
        routing: Routing { correction: Some("moe_statics.e_score_correction_bias"), ..Routing::PLAIN },
        ..experts
    });
    let first = config.optional_count("moe_layer_start_index")?.unwrap_or(1);
    let step = config.optional_size("moe_layer_interval")?.unwrap_or(1);
    // An end of -1 is the last layer.
    let last = config.value("moe_layer_end_index").and_then(serde_json::Value::as_i64).filter(|last| *last >= 0);
    let last = last.map_or(usize::MAX, |last| usize::try_from(last).unwrap_or(usize::MAX));
    for (index, layer) in decoder.layers.iter_mut().enumerate() {
        layer.has_experts = (index + 1) % step == 0 && (first..=last).contains(&index);
    }
    // The least sum of shares is below any sum of probabilities.
    let _ = config.value("moe_norm_min");
    Ok(decoder)
}
