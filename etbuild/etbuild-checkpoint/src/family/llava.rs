//! LLaVA 1.5: a tower of CLIP or SigLIP, of which a late layer counts, a network of two layers, a decoder.

use super::{Family, conventions, vision};
use crate::config::Config;
use crate::{Activation, CheckpointError, Decoder, Mutual, Projector, Tower};

pub const FAMILY: Family = Family { architectures: &["LlavaForConditionalGeneration"], keys: &[], describe };

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = vision::text(config)?;
    let tower = feature(config, vision::tower(config)?)?;
    let activation = conventions::activation(config, "projector_hidden_act", Activation::Gelu)?;
    let has_biases = config.flag_or("multimodal_projector_bias", true)?;
    let projector = Projector::Network { activation, has_biases };
    decoder.vision = Some(vision::vision(config, tower, projector, Mutual::Nowhere)?);
    Ok(decoder)
}

/// The tower up to the layer that counts, with the tokens that count.
fn feature(config: &Config, tower: Tower) -> Result<Tower, CheckpointError> {
    const LAYER: &str = "vision_feature_layer";
    const TOKENS: &str = "vision_feature_select_strategy";
    let index = config.value(LAYER).map_or(Some(-2), serde_json::Value::as_i64);
    let all = i64::try_from(tower.layers).unwrap_or(i64::MAX);
    // The states ahead of the first layer are at the index 0.
    let layers = index.map(|index| if index < 0 { index + all + 1 } else { index });
    let layers = layers.filter(|layers| (0..=all).contains(layers)).and_then(|layers| usize::try_from(layers).ok());
    let layers = layers.ok_or_else(|| config.unsupported(LAYER, "the index of a layer"))?;
    let drops_first = match config.optional_text(TOKENS)?.as_deref() {
        None | Some("default") => true,
        Some("full") => false,
        Some(_) => return Err(config.unsupported(TOKENS, "`default`, `full`")),
    };
    Ok(Tower { layers, drops_first, has_norm_behind: false, ..tower })
}
