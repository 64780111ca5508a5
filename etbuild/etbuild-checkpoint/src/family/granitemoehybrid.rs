//! Granite 4: state spaces of Mamba 2, attention in some layers, and a mixture of experts beside a network, or the network alone.

use super::conventions::Class;
use super::{Family, conventions, granite, mamba2};
use crate::config::Config;
use crate::{CheckpointError, Decoder, Experts, Gate, Mixer, Names, Storage};

pub const FAMILY: Family = Family { architectures: &["GraniteMoeHybridForCausalLM"], keys: &[], describe };

/// `GraniteMoeHybridConfig`.
const CLASS: Class = Class {
    names: Names { network: "shared_mlp", gate_and_up: "input_linear", down: "output_linear", ..Names::LLAMA },
    gate: Gate::Fused,
    ..Class::LLAMA
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = granite::described(config, &CLASS)?;
    let width = decoder.feed_forward.width;
    decoder.feed_forward.width = config.size("shared_intermediate_size")?;
    if config.optional_count("num_local_experts")? != Some(0) {
        let experts = conventions::experts(&mut decoder, config, width, [8, 2])?;
        let names = super::granitemoe::NAMES;
        decoder.experts = Some(Experts { storage: Storage::Stacked, names, is_beside_network: true, ..experts });
    }
    if config.optional_text("position_embedding_type")?.as_deref() != Some("rope") {
        conventions::without_rotary(&mut decoder);
    }
    let scan = mamba2::hybrid(config, &decoder)?;
    let kinds = conventions::kinds_of(
        config,
        decoder.layers.len(),
        &["mamba", "linear_attention", "attention", "full_attention"],
    )?;
    for (index, layer) in decoder.layers.iter_mut().enumerate() {
        let attends = kinds.as_ref().and_then(|kinds| kinds.get(index)).is_some_and(|kind| *kind > 1);
        layer.mixer = if attends { Mixer::Attention } else { Mixer::Scan(scan) };
    }
    Ok(decoder)
}
