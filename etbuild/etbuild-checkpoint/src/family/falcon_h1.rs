//! Falcon-H1: state spaces of Mamba 2 and attention side by side in every layer, with factors of most projections.

use super::conventions::Class;
use super::{Family, bamba, conventions, mamba2};
use crate::config::Config;
use crate::{CheckpointError, Decoder, Mixer, Scan, ScanScales, Steps};

pub const FAMILY: Family = Family { architectures: &["FalconH1ForCausalLM"], keys: &[], describe };

/// `FalconH1Config`.
const CLASS: Class = Class { rotated: 1.0, longest: 8192, ..bamba::CLASS };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::biases(&mut decoder, config, false)?;
    let factor = |key: &str| Ok::<f64, CheckpointError>(config.optional_number(key)?.unwrap_or(1.0));
    decoder.embedding_scale = Some(factor("embedding_multiplier")?).filter(|factor| *factor != 1.0);
    decoder.logit_scale = Some(factor("lm_head_multiplier")?).filter(|factor| *factor != 1.0);
    // Keys that are scaled scale the scores.
    decoder.attention.scale *= factor("key_multiplier")?;
    decoder.feed_forward.scales = Some(factors(config, "mlp_multipliers")?);
    let scales = ScanScales {
        input: factor("ssm_in_multiplier")?,
        parts: factors(config, "ssm_multipliers")?,
        output: factor("ssm_out_multiplier")?,
    };
    let norm = config.flag("mamba_rms_norm")?.then_some(decoder.norm.epsilon);
    let steps = Steps::Direct { norm, is_ahead: config.flag_or("mamba_norm_before_gate", true)? };
    let scan = Scan { steps, scales: Some(scales), ..mamba2::hybrid(config, &decoder)? };
    if config.flag("projectors_bias")? != scan.has_biases {
        return Err(config.unsupported("projectors_bias", format!("`{}`, as `mamba_proj_bias`", scan.has_biases)));
    }
    let attention = [factor("attention_in_multiplier")?, factor("attention_out_multiplier")?];
    decoder.layers.iter_mut().for_each(|layer| layer.mixer = Mixer::Both(scan, attention));
    Ok(decoder)
}

/// So many factors; 1 each for an absent key.
fn factors<const N: usize>(config: &Config, key: &str) -> Result<[f64; N], CheckpointError> {
    if config.value(key).is_none() {
        return Ok([1.0; N]);
    }
    config.numbers(key)?.try_into().map_err(|_| config.mistake(key, format!("is no list of {N} numbers")))
}
