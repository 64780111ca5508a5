//! LFM2: short convolutions, and attention with normalized heads in some layers; experts in larger models.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{
    CheckpointError, Convolution, ConvolutionNames, Decoder, ExpertNames, Experts, HeadNorm, Mixer, Names, NormPlaces,
    Routing, Shares,
};

pub const FAMILY: Family =
    Family { architectures: &["Lfm2ForCausalLM"], keys: &[("rms_norm_eps", "norm_eps")], describe };

pub const MIXTURE: Family =
    Family { architectures: &["Lfm2MoeForCausalLM"], keys: FAMILY.keys, describe: describe_mixture };

/// `Lfm2Config` and `Lfm2MoeConfig`.
const CLASS: Class = Class {
    names: NAMES,
    places: NormPlaces {
        before_attention: Some("operator_norm"),
        before_network: Some("ffn_norm"),
        ..NormPlaces::BEFORE
    },
    theta: 1_000_000.0,
    longest: 128_000,
    tied: true,
    key_heads: Some(8),
    ..Class::LLAMA
}
.epsilon(1e-5);

const NAMES: Names = Names {
    output: "out_proj",
    head_norms: ["q_layernorm", "k_layernorm"],
    network: "feed_forward",
    gate: "w1",
    up: "w3",
    down: "w2",
    norm: "model.embedding_norm",
    ..Names::LLAMA
};

const CONVOLUTION: ConvolutionNames =
    ConvolutionNames { module: "conv", input: "in_proj", kernel: "conv", output: "out_proj" };

/// The experts, in the place of the network.
const EXPERTS: ExpertNames =
    ExpertNames { module: "feed_forward", gate: "w1", up: "w3", down: "w2", ..ExpertNames::QWEN };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = decoder(config)?;
    decoder.feed_forward.width = network_width(config, decoder.feed_forward.width)?;
    Ok(decoder)
}

fn describe_mixture(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = decoder(config)?;
    let experts = conventions::experts(&mut decoder, config, config.size("moe_intermediate_size")?, [32, 4])?;
    let dense = config.optional_count("num_dense_layers")?.unwrap_or(2);
    for (index, layer) in decoder.layers.iter_mut().enumerate() {
        layer.has_experts = index >= dense;
    }
    let correction = config.flag_or("use_expert_bias", true)?.then_some("expert_bias");
    let scale = config.optional_number("routed_scaling_factor")?.filter(|scale| *scale != 1.0);
    decoder.experts = Some(Experts {
        is_normalized: config.flag_or("norm_topk_prob", true)?,
        names: EXPERTS,
        routing: Routing { shares: Shares::Sigmoid, correction, scale, ..Routing::PLAIN },
        ..experts
    });
    Ok(decoder)
}

fn decoder(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    decoder.tied = config.flag_or("tie_embedding", decoder.tied)?;
    decoder.attention.head_norm = HeadNorm::Each;
    let convolution = Convolution {
        kernel: config.optional_size("conv_L_cache")?.unwrap_or(3),
        has_biases: config.flag("conv_bias")?,
        names: CONVOLUTION,
    };
    let attends = attends(config, decoder.layers.len())?;
    for (layer, attends) in decoder.layers.iter_mut().zip(attends) {
        layer.mixer = if attends { Mixer::Attention } else { Mixer::Convolution(convolution) };
    }
    Ok(decoder)
}

/// The elements between the projections of the network: two thirds of a size, times a factor, up to a multiple.
fn network_width(config: &Config, size: usize) -> Result<usize, CheckpointError> {
    let size = config.optional_size("block_ff_dim")?.unwrap_or(size);
    let is_adjusted = config.flag_or("block_auto_adjust_ff_dim", true)?;
    let factor = config.optional_number("block_ffn_dim_multiplier")?.unwrap_or(1.0);
    let step = config.optional_size("block_multiple_of")?.unwrap_or(256);
    if !is_adjusted {
        return Ok(size);
    }
    // A conversion to an integer ends at the greatest.
    let adjusted = (factor * (2 * size / 3) as f64) as usize;
    config.computed("block_ffn_dim_multiplier", adjusted.checked_next_multiple_of(step))
}

/// Whether each layer attends: by `layer_types`, or by the list of those that do.
fn attends(config: &Config, layers: usize) -> Result<Vec<bool>, CheckpointError> {
    if let Some(kinds) = conventions::kinds_of(config, layers, &["conv", "full_attention"])? {
        return Ok(kinds.into_iter().map(|kind| kind == 1).collect());
    }
    let listed = config.optional_counts("full_attn_idxs")?;
    Ok((0..layers).map(|layer| listed.as_ref().is_none_or(|listed| listed.contains(&layer))).collect())
}
