//! Whisper: a tower over the frames of a sound, and a decoder with cross-attention.

use super::conventions::Class;
use super::{Family, conventions, hearing};
use crate::config::Config;
use crate::{Activation, Biases, CheckpointError, Cross, Decoder, Gate, Hearing, Names, NormPlaces, Positions, Reader};

pub const FAMILY: Family = Family {
    architectures: &["WhisperForConditionalGeneration"],
    keys: &[
        ("hidden_size", "d_model"),
        ("intermediate_size", "decoder_ffn_dim"),
        ("num_hidden_layers", "decoder_layers"),
        ("num_attention_heads", "decoder_attention_heads"),
        ("max_position_embeddings", "max_target_positions"),
        ("hidden_act", "activation_function"),
    ],
    describe,
};

/// `WhisperConfig`.
const CLASS: Class = Class {
    names: Names {
        embedding: "model.decoder.embed_tokens",
        positions: "model.decoder.embed_positions",
        layers: "model.decoder.layers",
        output: "out_proj",
        network: "",
        up: "fc1",
        down: "fc2",
        norm: "model.decoder.layer_norm",
        head: "proj_out",
        ..Names::LLAMA
    },
    places: NormPlaces {
        before_attention: Some("self_attn_layer_norm"),
        before_network: Some("final_layer_norm"),
        ..NormPlaces::BEFORE
    },
    gate: Gate::None,
    activation: Activation::Gelu,
    tied: true,
    longest: 448,
    ..Class::LAYER_NORM
};

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::without_rotary(&mut decoder);
    // `transformers` reads `scale_embedding`, and scales nothing.
    decoder.positions = Some(Positions { first: 0, rows: decoder.longest });
    decoder.norm.epsilon = CLASS.norm.epsilon;
    decoder.attention.biases = Biases::all(true);
    decoder.attention.has_key_bias = false;
    decoder.feed_forward.biases = true;
    let tower = hearing::tower(config, &hearing::WHISPER)?;
    decoder.cross = Some(Cross {
        attention: "encoder_attn",
        norm: "encoder_attn_layer_norm",
        positions: tower.positions,
        width: tower.width,
    });
    decoder.hearing = Some(Hearing { tower, reader: Reader::Cross, aligned: aligned(&decoder) });
    Ok(decoder)
}

/// The heads that follow the sound where `generation_config.json` names none: all of the second half of the layers, as in OpenAI's command.
fn aligned(decoder: &Decoder) -> Vec<[usize; 2]> {
    let layers = decoder.layers.len();
    let heads = |layer: usize| (0..decoder.attention.heads).map(move |head| [layer, head]);
    (layers / 2..layers).flat_map(heads).collect()
}
