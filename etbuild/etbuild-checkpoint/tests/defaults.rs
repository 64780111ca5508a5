//! Configurations that lack keys: the values are the defaults of the configuration classes of `transformers`.

use etbuild_checkpoint::{CheckpointError, Decoder, Scaling, describe};

/// The keys without a default, for 30 layers of 96 elements.
const SIZES: &str = r#""vocab_size": 1000, "hidden_size": 96, "intermediate_size": 200, "num_hidden_layers": 30,
    "num_attention_heads": 32"#;

fn read(class: &str, rest: &str) -> Result<Decoder, CheckpointError> {
    describe(format!(r#"{{"architectures": ["{class}"], {SIZES}{rest}}}"#).as_bytes())
}

/// The values of a description that have defaults.
#[derive(Debug, PartialEq)]
struct Values {
    epsilon: f64,
    longest: usize,
    key_heads: usize,
    depth: usize,
    /// The windows of the first and the last layer.
    windows: [Option<usize>; 2],
    caps: [Option<f64>; 2],
    thetas: Vec<f64>,
}

fn values(class: &str, rest: &str) -> Values {
    let decoder = read(class, rest).unwrap();
    Values {
        epsilon: decoder.norm.epsilon,
        longest: decoder.longest,
        key_heads: decoder.attention.key_heads,
        depth: decoder.attention.depth,
        windows: [decoder.layers[0].window, decoder.layers[29].window],
        caps: [decoder.attention.cap, decoder.logit_cap],
        thetas: decoder.rotaries.iter().map(|rotary| rotary.theta).collect(),
    }
}

fn llama() -> Values {
    Values {
        epsilon: 1e-6,
        longest: 2048,
        key_heads: 32,
        depth: 3,
        windows: [None; 2],
        caps: [None; 2],
        thetas: vec![10_000.0],
    }
}

#[test]
fn absent_keys_have_the_defaults_of_the_class() {
    let mistral = Values { longest: 131_072, key_heads: 8, windows: [Some(4096); 2], ..llama() };
    let qwen = Values { longest: 32_768, ..llama() };
    let phi = Values { epsilon: 1e-5, longest: 4096, ..llama() };
    let gemma = Values { key_heads: 4, depth: 256, windows: [Some(4096), None], ..llama() };
    let gemma2 = Values { longest: 8192, caps: [Some(50.0), Some(30.0)], ..gemma };
    let thetas = vec![1_000_000.0, 10_000.0];
    let gemma3 = Values { longest: 131_072, caps: [None; 2], thetas, windows: gemma2.windows, ..llama() };
    let gemma3 = Values { key_heads: 4, depth: 256, ..gemma3 };
    assert_eq!(values("LlamaForCausalLM", ""), llama());
    assert_eq!(values("MistralForCausalLM", ""), mistral);
    assert_eq!(values("Qwen2ForCausalLM", ""), qwen);
    assert_eq!(values("Qwen3ForCausalLM", ""), Values { depth: 128, ..qwen });
    assert_eq!(values("Phi3ForCausalLM", ""), phi);
    assert_eq!(values("Gemma2ForCausalLM", ""), gemma2);
    assert_eq!(values("Gemma3ForCausalLM", ""), gemma3);
}

#[test]
fn null_is_a_value_and_no_absent_key() {
    let rest = r#", "attn_logit_softcapping": null, "final_logit_softcapping": null, "sliding_window": null"#;
    let gemma = values("Gemma2ForCausalLM", rest);
    assert_eq!((gemma.caps, gemma.windows), ([None; 2], [None; 2]));
    assert_eq!(values("MistralForCausalLM", r#", "sliding_window": null"#).windows, [None; 2]);
}

#[test]
fn qwen_has_28_layers_without_a_window_by_default() {
    let decoder = read("Qwen2ForCausalLM", r#", "use_sliding_window": true"#).unwrap();
    let windows: Vec<_> = decoder.layers.iter().map(|layer| layer.window).collect();
    assert_eq!(windows, [[None; 28].as_slice(), &[Some(4096); 2]].concat());
}

#[test]
fn phi_has_a_first_context_by_default() {
    let rope = r#", "rope_scaling": {"type": "su", "short_factor": [1], "long_factor": [2]}, "head_dim": 2"#;
    let decoder = read("Phi3ForCausalLM", rope).unwrap();
    assert!(matches!(decoder.rotaries[0].scaling, Scaling::ByPair { original: 4096, .. }));
}

#[test]
fn a_gemma_with_parameters_of_one_kind_of_layers_keeps_both() {
    let rope =
        r#", "rope_parameters": {"full_attention": {"rope_type": "linear", "rope_theta": 500.0, "factor": 8.0}}"#;
    let decoder = read("Gemma3ForCausalLM", rope).unwrap();
    assert_eq!((decoder.rotaries[0].theta, decoder.rotaries[1].theta), (500.0, 10_000.0));
    assert_eq!(decoder.rotaries[0].scaling, Scaling::Linear { factor: 8.0 });
}

#[test]
fn an_absent_size_and_an_encoder_are_errors_that_name_the_key() {
    let key = |found: Result<Decoder, CheckpointError>| match found {
        Err(CheckpointError::Key { key, .. }) => key,
        other => panic!("{other:?}"),
    };
    assert_eq!(key(describe(br#"{"architectures": ["LlamaForCausalLM"]}"#)), "hidden_size");
    for class in ["GemmaForCausalLM", "Gemma2ForCausalLM", "Gemma3ForCausalLM"] {
        let found = read(class, r#", "use_bidirectional_attention": true"#);
        assert!(
            matches!(&found, Err(CheckpointError::Unsupported { key, .. }) if key == "use_bidirectional_attention"),
            "{found:?}"
        );
    }
}
