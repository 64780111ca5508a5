//! The configuration keys that families with an audio encoder share.

use super::conventions::activation;
use crate::config::Config;
use crate::{Activation, CheckpointError, SoundTower};

/// The keys of a tower's configuration.
pub struct TowerKeys {
    width: &'static str,
    heads: &'static str,
    inner: &'static str,
    layers: &'static str,
    /// The default of `num_mel_bins`.
    bands: usize,
}

/// `WhisperConfig`, which has the keys of the decoder beside those of the tower.
pub const WHISPER: TowerKeys = TowerKeys {
    width: "d_model",
    heads: "encoder_attention_heads",
    inner: "encoder_ffn_dim",
    layers: "encoder_layers",
    bands: 80,
};

/// `VoxtralEncoderConfig`.
pub const VOXTRAL: TowerKeys = TowerKeys {
    width: "hidden_size",
    heads: "num_attention_heads",
    inner: "intermediate_size",
    layers: "num_hidden_layers",
    bands: 128,
};

/// The states of a window in all configuration classes.
const POSITIONS: usize = 1500;

/// The tower of a configuration.
pub fn tower(config: &Config, keys: &TowerKeys) -> Result<SoundTower, CheckpointError> {
    let tower = SoundTower {
        bands: config.optional_size("num_mel_bins")?.unwrap_or(keys.bands),
        positions: config.optional_size("max_source_positions")?.unwrap_or(POSITIONS),
        width: config.size(keys.width)?,
        heads: config.size(keys.heads)?,
        inner: config.size(keys.inner)?,
        layers: config.size(keys.layers)?,
        activation: activation(config, "activation_function", Activation::Gelu)?,
    };
    if tower.width.is_multiple_of(tower.heads) {
        Ok(tower)
    } else {
        Err(config.mistake(keys.heads, "does not divide the width"))
    }
}
