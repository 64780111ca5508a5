//! Mamba 2: state spaces whose heads have one rate each.

use super::conventions::Class;
use super::{Family, conventions, mamba};
use crate::config::{Config, NOT_IN_JSON};
use crate::{Activation, CheckpointError, Decoder, Mixer, Scan, Steps};

pub const FAMILY: Family = Family { architectures: &["Mamba2ForCausalLM"], keys: mamba::KEYS, describe };

/// `Mamba2Config`.
const CLASS: Class = Class { tied: false, ..mamba::CLASS };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = mamba::without_attention(config, &CLASS)?;
    // Steps are made of the input.
    let _ = config.value("time_step_rank");
    let scan = Scan {
        heads: config.size("num_heads")?,
        depth: config.size("head_dim")?,
        states: config.size("state_size")?,
        groups: config.size("n_groups")?,
        kernel: config.optional_size("conv_kernel")?.unwrap_or(4),
        steps: Steps::Direct { norm: Some(decoder.norm.epsilon), is_ahead: false },
        activation: decoder.feed_forward.activation,
        has_biases: config.flag("use_bias")?,
        has_convolution_biases: config.flag_or("use_conv_bias", true)?,
        stores_rates: false,
        limits: limits(config)?,
        scales: None,
        module: "mixer",
    };
    check(config, scan)?;
    decoder.layers.iter_mut().for_each(|layer| layer.mixer = Mixer::Scan(scan));
    Ok(decoder)
}

/// The state space of models in which other layers attend.
pub fn hybrid(config: &Config, decoder: &Decoder) -> Result<Scan, CheckpointError> {
    let heads = config.size("mamba_n_heads")?;
    let expanded = config.optional_size("mamba_expand")?.unwrap_or(2).checked_mul(decoder.width);
    let inner = match config.optional_size("mamba_d_ssm")? {
        Some(inner) => inner,
        None => config.computed("mamba_expand", expanded)?,
    };
    let _ = config.value("mamba_chunk_size");
    let scan = Scan {
        heads,
        depth: depth(config, inner, heads)?,
        states: config.size("mamba_d_state")?,
        groups: config.optional_size("mamba_n_groups")?.unwrap_or(1),
        kernel: config.optional_size("mamba_d_conv")?.unwrap_or(4),
        steps: Steps::Direct { norm: Some(decoder.norm.epsilon), is_ahead: false },
        activation: conventions::activation(config, "hidden_act", Activation::Silu)?,
        has_biases: config.flag("mamba_proj_bias")?,
        has_convolution_biases: config.flag_or("mamba_conv_bias", true)?,
        stores_rates: false,
        limits: limits(config)?,
        scales: None,
        module: "mamba",
    };
    check(config, scan)?;
    Ok(scan)
}

/// The elements of a head, which `mamba_d_head` repeats or leaves to the other sizes by the text `auto`.
fn depth(config: &Config, inner: usize, heads: usize) -> Result<usize, CheckpointError> {
    if !inner.is_multiple_of(heads) {
        return Err(config.mistake("mamba_n_heads", format!("does not divide {inner} elements")));
    }
    let is_text = config.value("mamba_d_head").is_some_and(serde_json::Value::is_string);
    let stated = if is_text { None } else { config.optional_size("mamba_d_head")? };
    if stated.is_some_and(|stated| stated != inner / heads) {
        return Err(config.mistake("mamba_d_head", format!("is not {inner} elements divided by {heads} heads")));
    }
    Ok(inner / heads)
}

/// The limits of steps, if any.
fn limits(config: &Config) -> Result<Option<[f64; 2]>, CheckpointError> {
    const LIMITS: &str = "time_step_limit";
    let Some(value) = config.value(LIMITS) else { return Ok(None) };
    let number = |value: &serde_json::Value| match value.get(NOT_IN_JSON) {
        Some(_) => Some(f64::INFINITY),
        None => value.as_f64(),
    };
    let ends: Option<Vec<f64>> = value.as_array().and_then(|ends| ends.iter().map(number).collect());
    match ends.as_deref() {
        Some([0.0, most]) if most.is_infinite() => Ok(None),
        Some([least, most]) if 0.0 <= *least && least <= most => Ok(Some([*least, *most])),
        _ => Err(config.mistake(LIMITS, "is not the least and the greatest step")),
    }
}

/// Whether heads fit groups.
pub fn check(config: &Config, scan: Scan) -> Result<(), CheckpointError> {
    if !scan.heads.is_multiple_of(scan.groups) {
        return Err(config.mistake("n_groups", format!("does not divide {} heads", scan.heads)));
    }
    Ok(())
}
