//! MiniCPM 3: latent attention, dense, with factors of the embedding, the residuals and the logits.

use super::conventions::Class;
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder};

pub const FAMILY: Family = Family { architectures: &["MiniCPM3ForCausalLM"], keys: &[], describe };

/// `MiniCPM3Config`.
const CLASS: Class = Class { tied: true, longest: 32_768, ..Class::LLAMA }.epsilon(1e-5);

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let depth = config.size("hidden_size")? / config.size("num_attention_heads")?;
    let config = config.clone().with_defaults([("v_head_dim", depth.into())]);
    let mut decoder = conventions::decoder(&config, &CLASS)?;
    conventions::latent(&mut decoder, &config, &CLASS)?;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    decoder.feed_forward.biases = config.flag("mlp_bias")?;
    decoder.embedding_scale = config.or_default("scale_emb", Config::optional_number, 12.0)?;
    let depth = config.or_default("scale_depth", Config::optional_number, 1.4)?;
    decoder.residual_scale = depth.map(|depth| depth / (decoder.layers.len() as f64).sqrt());
    let base = config.or_default("dim_model_base", Config::optional_number, 256.0)?;
    decoder.logit_scale = base.map(|base| base / decoder.width as f64);
    Ok(decoder)
}
