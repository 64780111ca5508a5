//! GPT-Neo: learned positions, a window in every second layer, scores that are not scaled.

use super::conventions::Class;
use super::{Family, conventions, gpt2};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, Names, Positions};

pub const FAMILY: Family = Family {
    architectures: &["GPTNeoForCausalLM"],
    keys: &[
        ("num_attention_heads", "num_heads"),
        ("num_hidden_layers", "num_layers"),
        ("hidden_act", "activation_function"),
        ("rms_norm_eps", "layer_norm_epsilon"),
        ("sliding_window", "window_size"),
        ("layer_types", "attention_layers"),
    ],
    describe,
};

/// `GPTNeoConfig`.
const CLASS: Class = Class {
    names: Names { attention: "attn.attention", output: "out_proj", ..gpt2::CLASS.names },
    longest: 2048,
    window: Some(256),
    ..gpt2::CLASS
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::without_rotary(&mut decoder);
    decoder.positions = Some(Positions { first: 0, rows: decoder.longest });
    decoder.attention.scale = 1.0;
    decoder.attention.biases = Biases { inputs: false, output: true };
    decoder.feed_forward.biases = true;
    let window = conventions::window(config, &CLASS)?;
    let kinds = config.optional_texts("layer_types")?;
    for (index, layer) in decoder.layers.iter_mut().enumerate() {
        let kind = kinds.as_ref().and_then(|kinds| kinds.get(index)).map(String::as_str);
        let is_local = kind.map_or(index % 2 == 1, |kind| kind == "local");
        layer.window = window.filter(|_| is_local);
    }
    Ok(decoder)
}
