//! Hunyuan with a mixture of experts, and a network that every token passes.

use super::{Family, conventions, hunyuan};
use crate::config::Config;
use crate::{CheckpointError, Decoder, ExpertNames, Experts};

pub const FAMILY: Family = Family { architectures: &["HunYuanMoEV1ForCausalLM"], keys: &[], describe };

/// The names of the checkpoints.
const NAMES: ExpertNames =
    ExpertNames { router: "gate.wg", shared: "shared_mlp", shared_gate: "", ..ExpertNames::QWEN };

/// The key of the number of experts that every token passes.
const SHARED: &str = "num_shared_expert";

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = hunyuan::describe(config)?;
    let width = of_each(config, "moe_intermediate_size")?.unwrap_or(decoder.feed_forward.width);
    let count = of_each(config, "num_experts")?.unwrap_or(1);
    let chosen = of_each(config, "moe_topk")?.unwrap_or(1);
    let shared = of_each(config, SHARED)?.unwrap_or(1).checked_mul(width);
    let shared = config.computed(SHARED, shared)?;
    config.refuse("use_cla")?;
    // The number of experts may be a list, which the usual keys do not read.
    let plain =
        config.clone().with_keys(&[("num_experts", ""), ("num_local_experts", ""), ("num_experts_per_tok", "")]);
    let experts = conventions::experts(&mut decoder, &plain, width, [count, chosen])?;
    decoder.experts = Some(Experts { names: NAMES, shared: Some(shared), ..experts });
    Ok(decoder)
}

/// A size, or a list of the same size for each layer, if present.
fn of_each(config: &Config, key: &str) -> Result<Option<usize>, CheckpointError> {
    if !config.value(key).is_some_and(serde_json::Value::is_array) {
        return config.optional_size(key);
    }
    let sizes = config.optional_counts(key)?.unwrap_or_default();
    let first = sizes.first().copied().filter(|first| sizes.iter().all(|size| size == first));
    let one = first.ok_or_else(|| config.unsupported(key, "one size for all layers"))?;
    config.computed(key, Some(one)).map(Some)
}
