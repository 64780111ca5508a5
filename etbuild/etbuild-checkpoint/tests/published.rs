//! Configurations as published models have them, in the forms of older and newer releases of Hugging Face's library.

use etbuild_checkpoint::{
    Activation, Biases, CheckpointError, Cutoff, Gate, Groups, HeadNorm, Inputs, LayerInputs, NormPlaces, Routing,
    Scaling, Shares, describe, unread_keys,
};

const COMMON: &str = r#""vocab_size": 1000, "hidden_size": 96, "intermediate_size": 200, "num_hidden_layers": 7,
    "num_attention_heads": 6, "num_key_value_heads": 2, "max_position_embeddings": 131072, "rms_norm_eps": 1e-05"#;

fn config(architecture: &str, rest: &str) -> Vec<u8> {
    format!(r#"{{"architectures": ["{architecture}"], {COMMON}, {rest}}}"#).into_bytes()
}

#[test]
fn llama_stretches_long_wavelengths() {
    let rope = r#"{"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
        "original_max_position_embeddings": 8192, "rope_type": "llama3"}"#;
    let rest = format!(r#""rope_scaling": {rope}, "rope_theta": 500000.0, "tie_word_embeddings": true"#);
    let decoder = describe(&config("LlamaForCausalLM", &rest)).unwrap();
    let scaling = Scaling::ByWavelength { factor: 32.0, high: 4.0, low: 1.0, original: 8192.0 };
    let rotary = &decoder.rotaries[0];
    assert_eq!((rotary.theta, rotary.pairs, &rotary.scaling), (500_000.0, 8, &scaling));
    assert_eq!((decoder.tied, decoder.attention.biases, decoder.norm.epsilon), (true, Biases::NONE, 1e-5));
}

#[test]
fn phi_turns_a_part_of_each_head_and_has_factors_for_two_contexts() {
    let rest = r#""rope_scaling": {"type": "longrope", "short_factor": [1, 1, 1, 1, 1, 1], "long_factor": [1, 2, 3, 4, 5, 6]},
        "partial_rotary_factor": 0.75, "original_max_position_embeddings": 4096, "sliding_window": 262144"#;
    let decoder = describe(&config("Phi3ForCausalLM", rest)).unwrap();
    let Scaling::ByPair { original, magnitudes: [magnitude, _], .. } = decoder.rotaries[0].scaling else { panic!() };
    assert_eq!((decoder.rotaries[0].pairs, original), (6, 4096));
    assert!((magnitude - (1.0 + 32.0_f64.ln() / 4096.0_f64.ln()).sqrt()).abs() < 1e-12);
    assert_eq!((decoder.attention.inputs, decoder.feed_forward.gate), (Inputs::Fused, Gate::Fused));
}

#[test]
fn gemma_3_of_both_forms_is_one_model() {
    let shared = r#""head_dim": 16, "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 256,
        "sliding_window": 512, "attn_logit_softcapping": null"#;
    let old = format!(r#"{shared}, "rope_local_base_freq": 10000, "rope_theta": 1000000, "sliding_window_pattern": 6"#);
    let kinds = [r#""sliding_attention""#; 5].join(", ");
    let ropes = r#"{"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        "full_attention": {"rope_type": "default", "rope_theta": 1000000.0}}"#;
    let types = format!(r#"[{kinds}, "full_attention", "sliding_attention"]"#);
    let new = format!(r#"{shared}, "rope_parameters": {ropes}, "layer_types": {types}"#);
    let [old, new] = [old, new].map(|rest| describe(&config("Gemma3ForCausalLM", &rest)).unwrap());
    assert_eq!(old, new);
    let windows: Vec<_> = old.layers.iter().map(|layer| (layer.window, layer.rotary)).collect();
    assert_eq!(windows[4..], [(Some(512), Some(1)), (None, Some(0)), (Some(512), Some(1))]);
    assert_eq!((old.attention.head_norm, old.norm_places), (HeadNorm::Each, NormPlaces::AROUND));
    assert_eq!((old.feed_forward.activation, old.tied, old.norm.less_one), (Activation::GeluTanh, true, true));
    assert_eq!((old.attention.scale, old.attention.cap), (0.0625, None));
}

#[test]
fn qwen_uses_its_window_only_where_it_says_so() {
    let rest = |uses: bool| format!(r#""use_sliding_window": {uses}, "sliding_window": 64, "max_window_layers": 5"#);
    let windows = |uses| {
        let decoder = describe(&config("Qwen2ForCausalLM", &rest(uses))).unwrap();
        decoder.layers.iter().filter(|layer| layer.window == Some(64)).count()
    };
    assert_eq!((windows(false), windows(true)), (0, 2));
}

#[test]
fn what_nobody_knows_is_refused_by_name() {
    let found = describe(&config("RwkvForCausalLM", r#""x": 1"#));
    let Err(CheckpointError::Architecture { found, known, .. }) = found else { panic!("{found:?}") };
    assert!(found == "RwkvForCausalLM" && known.contains(&"LlamaForCausalLM"));
    let key = |architecture, rest| match describe(&config(architecture, rest)) {
        Err(CheckpointError::Key { key, .. }) => key,
        other => panic!("{other:?}"),
    };
    assert_eq!(key("LlamaForCausalLM", r#""num_key_value_heads": 4"#), "num_key_value_heads");
    assert_eq!(key("LlamaForCausalLM", r#""head_dim": -1"#), "head_dim");
    // The common key is `hidden_size`.
    assert_eq!(key("GPT2LMHeadModel", r#""n_layer": 2, "n_head": 2"#), "n_embd");
    assert!(matches!(describe(b"[1"), Err(CheckpointError::Json { .. })));
}

#[test]
fn keys_that_nothing_reads_are_listed_and_bookkeeping_is_not() {
    let llama = r#""attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 128000, "eos_token_id": [128001, 128008],
        "head_dim": 64, "hidden_act": "silu", "initializer_range": 0.02, "mlp_bias": false, "model_type": "llama",
        "pretraining_tp": 1, "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
        "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0, "tie_word_embeddings": true,
        "torch_dtype": "bfloat16", "transformers_version": "4.45.0.dev0", "use_cache": true"#;
    let qwen = r#""attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 151643, "eos_token_id": 151645, "head_dim": 128,
        "hidden_act": "silu", "initializer_range": 0.02, "max_window_layers": 28, "model_type": "qwen3", "rope_scaling": null,
        "rope_theta": 1000000, "sliding_window": 4096, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
        "transformers_version": "4.51.0", "use_cache": true, "use_sliding_window": false"#;
    let unread = |name: &str, rest: &str| unread_keys(&config(name, rest)).unwrap();
    assert_eq!(unread("LlamaForCausalLM", llama), [""; 0]);
    assert_eq!(unread("Qwen3ForCausalLM", qwen), [""; 0]);
    let more = r#""residual_multiplier": 0.5, "n_group": 8, "n_shared": null, "rope_parameters": {"rope_type": "yarn", "factor": 4.0,
        "original_max_position_embeddings": 64, "llama_4_scaling_beta": 0.1}"#;
    let expected = ["residual_multiplier", "n_group", "rope_parameters.llama_4_scaling_beta"];
    assert_eq!(unread("LlamaForCausalLM", more), expected);
    assert_eq!(unread("Ministral3ForCausalLM", more), expected[..2]);
}

#[test]
fn mixtures_of_deepseek_are_read_whole() {
    let both = r#""attention_bias": false, "attention_dropout": 0.0, "ep_size": 1, "hidden_act": "silu", "initializer_range": 0.02,
        "kv_lora_rank": 512, "moe_layer_freq": 1, "pretraining_tp": 1, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
        "rms_norm_eps": 1e-06, "rope_theta": 10000, "tie_word_embeddings": false, "use_cache": true, "v_head_dim": 128"#;
    let scaled = |scale: f64| {
        format!(
            r#""rope_scaling": {{"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": {scale},
        "mscale_all_dim": {scale}, "original_max_position_embeddings": 4096, "type": "yarn"}}"#
        )
    };
    let lite = format!(
        r#"{both}, {}, "aux_loss_alpha": 0.001, "first_k_dense_replace": 1, "moe_intermediate_size": 1408, "n_group": 1,
        "n_routed_experts": 64, "n_shared_experts": 2, "norm_topk_prob": false, "num_experts_per_tok": 6, "q_lora_rank": null,
        "routed_scaling_factor": 1.0, "scoring_func": "softmax", "seq_aux": true, "topk_group": 1, "topk_method": "greedy""#,
        scaled(0.707)
    );
    let large = format!(
        r#"{both}, {}, "first_k_dense_replace": 3, "moe_intermediate_size": 2048, "n_group": 8,
        "n_routed_experts": 256, "n_shared_experts": 1, "norm_topk_prob": true, "num_experts_per_tok": 8, "q_lora_rank": 1536,
        "num_nextn_predict_layers": 1, "routed_scaling_factor": 2.5, "scoring_func": "sigmoid", "topk_group": 4,
        "topk_method": "noaux_tc""#,
        scaled(1.0)
    );
    for (name, rest) in [("DeepseekV2ForCausalLM", &lite), ("DeepseekV3ForCausalLM", &large)] {
        assert_eq!(unread_keys(&config(name, rest)).unwrap(), [""; 0]);
    }
    let lite = describe(&config("DeepseekV2ForCausalLM", &lite)).unwrap();
    let stretch = 0.1 * 0.707 * 40.0_f64.ln() + 1.0;
    assert!((lite.attention.scale - 192.0_f64.powf(-0.5) * stretch * stretch).abs() < 1e-12);
    assert_eq!((lite.attention.key_heads, lite.attention.depth, lite.rotaries[0].pairs), (1, 576, 32));
    let experts = lite.experts.unwrap();
    assert_eq!((experts.shared, experts.is_normalized, experts.routing), (Some(2816), false, Routing::PLAIN));
    let large = describe(&config("DeepseekV3ForCausalLM", &large)).unwrap();
    let experts = large.experts.unwrap();
    assert_eq!(experts.routing.groups, Some(Groups { count: 8, chosen: 4, judged: 2 }));
    assert_eq!((experts.routing.shares, experts.routing.scale), (Shares::Sigmoid, Some(2.5)));
    let dense = large.layers.iter().take_while(|layer| !layer.has_experts).count();
    assert_eq!(dense, 3);
}

#[test]
fn configurations_of_mixtures_and_state_spaces_are_read_whole() {
    let factors = "[1, 1, 1, 1, 1, 1, 1, 1]";
    let phi = format!(
        r#""attention_bias": true, "attention_dropout": 0.0, "hidden_act": "silu", "hidden_dropout": 0.0, "input_jitter_noise": 0.01,
        "lm_head_bias": true, "model_type": "phimoe", "num_experts_per_tok": 2, "num_local_experts": 16,
        "original_max_position_embeddings": 4096, "output_router_logits": false, "rope_scaling": {{"long_factor": {factors},
        "long_mscale": 1.243163121016122, "original_max_position_embeddings": 4096, "short_factor": {factors},
        "short_mscale": 1.243163121016122, "type": "longrope"}}, "rope_theta": 10000.0, "router_aux_loss_coef": 0.0,
        "router_jitter_noise": 0.01, "sliding_window": 131072, "tie_word_embeddings": false, "use_cache": true"#
    );
    let mamba = r#""conv_kernel": 4, "expand": 2, "hidden_act": "silu", "initializer_range": 0.1, "layer_norm_epsilon": 1e-05,
        "model_type": "mamba", "rescale_prenorm_residual": false, "residual_in_fp32": true, "state_size": 16,
        "time_step_floor": 0.0001, "time_step_init_scheme": "random", "time_step_max": 0.1, "time_step_min": 0.001,
        "time_step_rank": 48, "time_step_scale": 1.0, "use_bias": false, "use_cache": true, "use_conv_bias": true"#;
    let next = r#""attention_bias": false, "attention_dropout": 0.0, "decoder_sparse_step": 1, "full_attention_interval": 4,
        "head_dim": 256, "hidden_act": "silu", "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
        "linear_num_value_heads": 32, "linear_value_head_dim": 128, "mlp_only_layers": [], "model_type": "qwen3_next",
        "moe_intermediate_size": 512, "norm_topk_prob": true, "num_experts": 512, "num_experts_per_tok": 10,
        "output_router_logits": false, "partial_rotary_factor": 0.25, "rope_scaling": null, "rope_theta": 10000000,
        "router_aux_loss_coef": 0.001, "shared_expert_intermediate_size": 512, "use_sliding_window": false"#;
    for (name, rest) in
        [("PhiMoEForCausalLM", phi.as_str()), ("MambaForCausalLM", mamba), ("Qwen3NextForCausalLM", next)]
    {
        let read = config(name, rest);
        // State spaces have none of the common keys of attention.
        let left: Vec<String> =
            unread_keys(&read).unwrap().into_iter().filter(|key| rest.contains(&format!("\"{key}\""))).collect();
        assert_eq!(left, [""; 0], "{name}");
    }
}

#[test]
fn scalings_are_made_of_the_elements_that_turn() {
    let yarn = r#""head_dim": 32, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}"#;
    let rotaries = ["\"rotary_dim\": 16", "\"partial_rotary_factor\": 0.5"].map(|turning| {
        let decoder = describe(&config("MiniMaxM2ForCausalLM", &format!("{yarn}, {turning}"))).unwrap();
        decoder.rotaries
    });
    assert_eq!(rotaries[0], rotaries[1]);
    assert_eq!(rotaries[0][0].pairs, 8);
}

#[test]
fn sizes_that_follow_from_others_are_checked() {
    const HYBRID: &str = r#""attn_layer_indices": [1], "mamba_d_state": 16, "mamba_n_heads": 6"#;
    const LATENT: &str = r#""kv_lora_rank": 64, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8,
        "moe_intermediate_size": 8, "num_experts_per_tok": 1, "q_lora_rank": null, "topk_method": "greedy""#;
    for (architecture, rest, key) in [
        ("MambaForCausalLM", r#""expand": 1e12"#.to_owned(), "expand"),
        ("MambaForCausalLM", r#""expand": 1e-9"#.to_owned(), "expand"),
        ("Lfm2ForCausalLM", r#""block_ffn_dim_multiplier": 1e300"#.to_owned(), "block_ffn_dim_multiplier"),
        ("HunYuanMoEV1ForCausalLM", r#""num_shared_expert": 1048576"#.to_owned(), "num_shared_expert"),
        ("HunYuanMoEV1ForCausalLM", r#""num_experts": [1099511627776]"#.to_owned(), "num_experts"),
        ("Ernie4_5_MoeForCausalLM", r#""moe_num_shared_experts": 1048576"#.to_owned(), "moe_num_shared_experts"),
        ("BambaForCausalLM", format!(r#"{HYBRID}, "mamba_expand": 1048576"#), "mamba_expand"),
        ("BambaForCausalLM", format!(r#"{HYBRID}, "mamba_n_heads": 5"#), "mamba_n_heads"),
        ("BambaForCausalLM", format!(r#"{HYBRID}, "mamba_d_head": 64"#), "mamba_d_head"),
        (
            "DeepseekV2ForCausalLM",
            format!(r#"{LATENT}, "n_routed_experts": 4, "n_shared_experts": 1048576"#),
            "n_shared_experts",
        ),
        (
            "DeepseekV2ForCausalLM",
            format!(r#"{LATENT}, "n_routed_experts": 4, "partial_rotary_factor": 2"#),
            "rope_parameters",
        ),
    ] {
        let found = describe(&config(architecture, &rest));
        assert!(matches!(&found, Err(CheckpointError::Key { key: found, .. }) if found == key), "{rest}: {found:?}");
    }
    for depth in ["32", "\"auto\""] {
        describe(&config("BambaForCausalLM", &format!(r#"{HYBRID}, "mamba_d_head": {depth}"#))).unwrap();
    }
}

#[test]
fn experts_are_weighed_without_noise_too() {
    for (noise, slack) in [("0", 0.0), ("0.25", 0.5)] {
        let described = describe(&config("PhiMoEForCausalLM", &format!("\"router_jitter_noise\": {noise}"))).unwrap();
        assert_eq!(described.experts.unwrap().routing.shares, Shares::InTurns { slack });
    }
}

#[test]
fn what_is_not_supported_is_refused_with_key_and_value() {
    for (architecture, rest, words) in [
        (
            "LlamaForCausalLM",
            r#""rope_scaling": {"rope_type": "dynamic", "factor": 4}"#,
            ["rope_scaling.rope_type", "\"dynamic\""],
        ),
        ("LlamaForCausalLM", r#""hidden_act": "mish""#, ["hidden_act", "\"mish\""]),
        ("Gemma2ForCausalLM", r#""hidden_activation": "mish""#, ["hidden_activation", "\"mish\""]),
        ("OPTForCausalLM", r#""ffn_dim": 80, "do_layer_norm_before": false"#, ["do_layer_norm_before", "false"]),
        ("Gemma3ForCausalLM", r#""layer_types": ["a", "b", "c", "d", "e", "f", "g"]"#, ["layer_types", "[\"a\""]),
    ] {
        let error = describe(&config(architecture, rest)).unwrap_err();
        let said = error.to_string();
        assert!(matches!(error, CheckpointError::Unsupported { .. }), "{said}");
        assert!(words.iter().all(|word| said.contains(&format!("`{word}"))), "{said}");
    }
}

#[test]
fn gemma_4_of_both_forms_is_one_model() {
    let kinds = [r#""sliding_attention""#; 5].join(", ");
    let shared = format!(
        r#""head_dim": 16, "sliding_window": 512, "hidden_size_per_layer_input": 24, "vocab_size_per_layer_input": 1000,
            "attention_k_eq_v": true, "num_kv_shared_layers": 0, "layer_types": [{kinds}, "full_attention", "full_attention"]"#
    );
    let old = format!(r#"{shared}, "global_head_dim": 32, "num_global_key_value_heads": 1"#);
    let own = r#"{"head_dim": 32, "num_key_value_heads": 1}"#;
    let new = format!(r#"{shared}, "per_layer_config": {{"5": {own}, "6": {own}}}"#);
    let [old, new] = [old, new].map(|rest| describe(&config("Gemma4ForCausalLM", &rest)).unwrap());
    assert_eq!(old, new);
    let global = old.global_attention.as_ref().unwrap();
    assert_eq!((global.depth, global.key_heads, global.values_are_keys, global.scale), (32, 1, true, 1.0));
    assert_eq!((old.attention.depth, old.attention.key_heads, old.attention.values_are_keys), (16, 2, false));
    let [global, local] = &old.rotaries[..] else { panic!() };
    assert_eq!((global.pairs, &global.scaling), (16, &Scaling::Proportional { factor: 1.0, turned: 4 }));
    assert_eq!((local.pairs, local.theta, &local.scaling), (8, 10_000.0, &Scaling::None));
    assert_eq!(old.layer_inputs, Some(LayerInputs { vocabulary: 1000, width: 24, padding: 0 }));
}

#[test]
fn layers_of_gemma_3n_share_the_cache_of_the_last_layer_of_their_kind() {
    let rest = r#""num_kv_shared_layers": 3, "intermediate_size": [8, 16, 8, 8, 8, 8, 8], "laurel_rank": 4,
        "activation_sparsity_pattern": [0.95, 0, 0, 0, 0, 0, 0], "hidden_size": 96, "num_hidden_layers": 7, "vocab_size": 1000,
        "num_attention_heads": 6, "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention",
            "sliding_attention", "full_attention", "sliding_attention"]"#;
    let model = |rest: &str| describe(format!(r#"{{"architectures": ["Gemma3nForCausalLM"], {rest}}}"#).as_bytes());
    let decoder = model(rest).unwrap();
    let caches: Vec<_> = decoder.layers.iter().map(|layer| layer.shared_cache).collect();
    assert_eq!((&caches[3..], decoder.first_reader()), (&[None, Some(2), Some(3), Some(2)][..], 4));
    let networks: Vec<_> = decoder.layers.iter().map(|layer| layer.network.unwrap()).collect();
    assert_eq!((networks[0].cutoff, networks[1].cutoff, networks[1].width), (Some(Cutoff::Share(0.95)), None, 16));
    for (wrong, reason) in [
        (rest.replace(r#""num_kv_shared_layers": 3"#, r#""num_kv_shared_layers": 7"#), "is 7, of 7 layers"),
        (rest.replace(r#""num_kv_shared_layers": 3"#, r#""num_kv_shared_layers": 6"#), "leaves no layer of a kind"),
        (rest.replace("[8, 16, 8, 8, 8, 8, 8]", "[8, 16]"), "does not have a size for each layer"),
        (rest.replace("[0.95, 0, 0, 0, 0, 0, 0]", "[0.95]"), "does not have a number for each layer"),
        (format!(r#"{rest}, "altup_active_idx": 4"#), "is none of 4 streams"),
        (format!(r#"{rest}, "altup_num_inputs": 1000000"#), "is more than 64"),
    ] {
        let error = model(&wrong).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

/// Nemotron 3 Nano as it is published, by letters, and as `transformers` writes it, by names.
#[test]
fn nemotron_h_of_both_forms_is_one_model() {
    let rest = r#""head_dim": 128, "mamba_num_heads": 64, "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128, "conv_kernel": 4,
        "mamba_hidden_act": "silu", "mlp_hidden_act": "relu2", "time_step_min": 0.001, "time_step_max": 0.1, "time_step_floor": 0.0001,
        "time_step_limit": [0.0, {"__float__": "Infinity"}], "n_routed_experts": 128, "n_shared_experts": 1, "n_group": 1, "topk_group": 1,
        "num_experts_per_tok": 6, "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712, "moe_latent_size": null,
        "norm_topk_prob": true, "routed_scaling_factor": 2.5, "chunk_size": 128, "expand": 2, "use_bias": false, "use_conv_bias": true,
        "mamba_proj_bias": false, "residual_in_fp32": false, "rescale_prenorm_residual": true, "tie_word_embeddings": false"#;
    let read = |kinds: &str| describe(&config("NemotronHForCausalLM", &format!("{rest}, {kinds}")));
    let letters = r#""hybrid_override_pattern": "MEM*-ME""#;
    let names = r#""layers_block_type": ["mamba", "moe", "linear_attention", "full_attention", "mlp", "linear_attention", "moe"]"#;
    let decoder = read(letters).unwrap();
    assert_eq!(decoder, read(names).unwrap());
    let layers: Vec<_> =
        decoder.layers.iter().map(|layer| (layer.mixer.is_recurrent(), layer.has_network, layer.has_experts)).collect();
    let [scan, experts] = [(true, false, false), (false, true, true)];
    assert_eq!(layers, [scan, experts, scan, (false, false, false), (false, true, false), scan, experts]);
    let experts = decoder.experts.unwrap();
    assert_eq!((experts.count, experts.chosen, experts.shared, experts.is_gated), (128, 6, Some(3712), false));
    assert!(decoder.rotaries.is_empty() && !decoder.tied);
    // The epsilon has another key.
    let left = unread_keys(&config("NemotronHForCausalLM", &format!("{rest}, {letters}"))).unwrap();
    assert_eq!(left, ["rms_norm_eps"]);
    for (kinds, key) in [
        (r#""hybrid_override_pattern": "MXM""#, "hybrid_override_pattern"),
        (r#""layers_block_type": ["mamba", "perceptron"]"#, "layers_block_type"),
        (r#""hybrid_override_pattern": "ME""#, "num_hidden_layers"),
        (r#""hybrid_override_pattern": "MEMEMEM", "moe_latent_size": 64"#, "moe_latent_size"),
        (r#""hybrid_override_pattern": "MEMEMEM", "time_step_min": -1"#, "time_step_min"),
    ] {
        let error = read(kinds).unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
}
