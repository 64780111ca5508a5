//! Mamba, and Falcon Mamba: selective state spaces without attention.

use serde_json::{Value, json};

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::{Config, Keys};
use crate::{CheckpointError, Decoder, Mixer, Names, NormPlaces, Scan, Steps};

pub const FAMILY: Family =
    Family { architectures: &["MambaForCausalLM"], keys: KEYS, describe: |config| describe(config, None) };
pub const FALCON: Family = Family {
    architectures: &["FalconMambaForCausalLM"],
    keys: KEYS,
    describe: |config| describe(config, Some(config.optional_number("mixer_rms_eps")?.unwrap_or(1e-6))),
};

pub const KEYS: Keys = &[("rms_norm_eps", "layer_norm_epsilon")];

/// `MambaConfig`.
pub const CLASS: Class = Class {
    names: Names {
        embedding: "backbone.embeddings",
        layers: "backbone.layers",
        norm: "backbone.norm_f",
        ..Names::LLAMA
    },
    places: NormPlaces { before_attention: Some("norm"), before_network: None, ..NormPlaces::BEFORE },
    tied: true,
    // A state of one size has no longest text.
    longest: 1 << 20,
    ..Class::LLAMA
}
.epsilon(1e-5);

/// Keys about training, and about the kernels of other programs.
const WITHOUT_EFFECT: &[&str] = &[
    "chunk_size",
    "expand",
    "intermediate_size",
    "rescale_prenorm_residual",
    "residual_in_fp32",
    "time_step_floor",
    "time_step_init_scheme",
    "time_step_max",
    "time_step_min",
    "time_step_scale",
    "use_associative_scan",
    "use_falcon_mambapy",
    "use_mambapy",
];

fn describe(config: &Config, norm: Option<f64>) -> Result<Decoder, CheckpointError> {
    let mut decoder = without_attention(config, &CLASS)?;
    let rank = match config.value("time_step_rank") {
        None | Some(Value::String(_)) => decoder.width.div_ceil(16),
        Some(_) => config.size("time_step_rank")?,
    };
    let scan = Scan {
        heads: inner(config, decoder.width)?,
        depth: 1,
        states: config.optional_size("state_size")?.unwrap_or(16),
        groups: 1,
        kernel: config.optional_size("conv_kernel")?.unwrap_or(4),
        steps: Steps::Narrow { rank, norm },
        activation: decoder.feed_forward.activation,
        has_biases: config.flag("use_bias")?,
        has_convolution_biases: config.flag_or("use_conv_bias", true)?,
        stores_rates: false,
        limits: None,
        scales: None,
        module: "mixer",
    };
    decoder.layers.iter_mut().for_each(|layer| layer.mixer = Mixer::Scan(scan));
    Ok(decoder)
}

/// The elements between the projections of the mixer.
fn inner(config: &Config, width: usize) -> Result<usize, CheckpointError> {
    let inner = config.optional_number("expand")?.unwrap_or(2.0) * width as f64;
    // A conversion to an integer ends at the greatest.
    config.computed("expand", Some(inner as usize))
}

/// A decoder whose layers have no feed-forward networks, and of which none attends.
pub fn without_attention(config: &Config, class: &Class) -> Result<Decoder, CheckpointError> {
    WITHOUT_EFFECT.iter().for_each(|key| _ = config.value(key));
    let defaults = [("num_attention_heads", json!(1)), ("intermediate_size", json!(1)), ("head_dim", json!(2))];
    let mut decoder = conventions::decoder(&config.clone().with_defaults(defaults), class)?;
    conventions::without_rotary(&mut decoder);
    decoder.layers.iter_mut().for_each(|layer| layer.has_network = false);
    Ok(decoder)
}
