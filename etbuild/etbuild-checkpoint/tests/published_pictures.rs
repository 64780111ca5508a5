//! Configurations of models that read pictures, as published models have them.

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_checkpoint::{
    Activation, Decoder, HeadNorm, Kept, Model, Multiplied, Mutual, PatchProjector, Patches, Sections, Storage, Tower,
    Vision, VisionEncoder, describe, stored_forms, unread_keys,
};
use etbuild_ir::Buffer;

#[test]
fn nested_configurations_state_differences_alone() {
    let described = |architecture: &str, rest: &str| {
        describe(format!(r#"{{"architectures": ["{architecture}"], {rest}}}"#).as_bytes()).unwrap()
    };
    let smolvlm = described(
        "Idefics3ForConditionalGeneration",
        r#""image_token_id": 49190, "scale_factor": 4, "tie_word_embeddings": false,
            "text_config": {"architectures": ["VLlama3ForCausalLM"], "head_dim": 64, "hidden_size": 576, "intermediate_size": 1536,
                "max_position_embeddings": 8192, "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 30,
                "num_key_value_heads": 3, "rms_norm_eps": 1e-05, "rope_theta": 100000, "vocab_size": 49280},
            "vision_config": {"hidden_size": 768, "image_size": 512, "max_image_size": {"longest_edge": 512}, "model_type": "idefics3",
                "num_attention_heads": 12, "patch_size": 16, "size": {"longest_edge": 2048}}"#,
    );
    let vision = smolvlm.vision.unwrap();
    assert_eq!((vision.tile(), tower(&vision).inner, tower(&vision).layers, vision.token), (Some(64), 3072, 12, 49190));
    let llava = described(
        "LlavaForConditionalGeneration",
        r#""image_token_index": 32000, "projector_hidden_act": "gelu", "vision_feature_layer": -2,
            "vision_feature_select_strategy": "default", "text_config": {"_name_or_path": "lmsys/vicuna-7b-v1.5",
                "max_position_embeddings": 4096, "model_type": "llama", "rms_norm_eps": 1e-05, "vocab_size": 32064},
            "vision_config": {"hidden_size": 1024, "image_size": 336, "intermediate_size": 4096, "model_type": "clip_vision_model",
                "num_attention_heads": 16, "num_hidden_layers": 24, "patch_size": 14, "projection_dim": 768}"#,
    );
    let vision = llava.vision.unwrap();
    assert_eq!((vision.tile(), tower(&vision).layers, llava.width, llava.layers.len()), (Some(576), 23, 4096, 32));
    let gemma = described(
        "Gemma3ForConditionalGeneration",
        r#""image_token_index": 262144, "mm_tokens_per_image": 256, "text_config": {"hidden_size": 2560, "intermediate_size": 10240,
                "model_type": "gemma3_text", "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
                "sliding_window": 1024},
            "vision_config": {"hidden_size": 1152, "image_size": 896, "intermediate_size": 4304, "model_type": "siglip_vision_model",
                "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14, "vision_use_head": false}"#,
    );
    let vision = gemma.vision.as_ref().unwrap();
    assert_eq!(
        (vision.tile(), vision.mutual, gemma.vocabulary, gemma.tied),
        (Some(256), Mutual::Everywhere, 262_208, true)
    );
    assert_eq!((gemma.attention.heads, gemma.attention.key_heads, gemma.layers[0].window), (8, 4, Some(1024)));
}

/// The tower over tiles.
fn tower(vision: &Vision) -> &Tower {
    match &vision.encoder {
        VisionEncoder::Tiles(tower, _) => tower,
        VisionEncoder::Patches(_) => panic!("the tower reads patches"),
    }
}

#[test]
fn configurations_of_models_that_read_pictures_of_any_size_are_read() {
    // Qwen2.5-VL-3B-Instruct, whose decoder has keys beside those of the tower.
    let config = r#"{"architectures": ["Qwen2_5_VLForConditionalGeneration"], "hidden_size": 2048, "intermediate_size": 11008,
        "max_position_embeddings": 128000, "max_window_layers": 70, "num_attention_heads": 16, "num_hidden_layers": 36,
        "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "sliding_window": 32768,
        "tie_word_embeddings": true, "use_sliding_window": false, "image_token_id": 151655, "vocab_size": 151936,
        "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
        "vision_config": {"depth": 32, "hidden_act": "silu", "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16,
            "in_chans": 3, "out_hidden_size": 2048, "patch_size": 14, "spatial_merge_size": 2, "spatial_patch_size": 14,
            "window_size": 112, "fullatt_block_indexes": [7, 15, 23, 31], "tokens_per_second": 2, "temporal_patch_size": 2}}"#;
    let decoder = describe(config.as_bytes()).unwrap();
    let sections = Sections { counts: [16, 24, 24], takes_turns: false };
    assert_eq!((decoder.sections(), decoder.rotaries[0].theta, decoder.tied), (Some(sections), 1e6, true));
    assert_eq!(
        (decoder.tile(), decoder.image_tokens(2048, None), decoder.image_tokens(32_768, None)),
        (None, Ok(1024), Ok(1280))
    );
    let Some(VisionEncoder::Patches(tower)) = decoder.vision.map(|vision| vision.encoder) else { panic!("no tower") };
    assert_eq!((tower.numbers(), tower.depth, tower.sees_window(6), tower.sees_window(7)), (1176, 80, true, false));
    assert_eq!(tower.windows.map(|windows| windows.side), Some(4));
}

/// Qwen3-VL-2B-Instruct.
const QWEN3_VL: &str = r#"{"architectures": ["Qwen3VLForConditionalGeneration"], "image_token_id": 151655, "model_type": "qwen3_vl",
    "text_config": {"attention_bias": false, "head_dim": 128, "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 6144,
        "max_position_embeddings": 262144, "model_type": "qwen3_vl_text", "num_attention_heads": 16, "num_hidden_layers": 28,
        "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_theta": 5000000, "tie_word_embeddings": true, "vocab_size": 151936,
        "rope_scaling": {"mrope_interleaved": true, "mrope_section": [24, 20, 20], "rope_type": "default"}},
    "tie_word_embeddings": true, "video_token_id": 151656, "vision_end_token_id": 151653, "vision_start_token_id": 151652,
    "vision_config": {"deepstack_visual_indexes": [5, 11, 17], "depth": 24, "hidden_act": "gelu_pytorch_tanh", "hidden_size": 1024,
        "in_channels": 3, "intermediate_size": 4096, "model_type": "qwen3_vl", "num_heads": 16, "num_position_embeddings": 2304,
        "out_hidden_size": 2048, "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2}}"#;

/// The tower over patches.
fn patches(decoder: &Decoder) -> &Patches {
    match decoder.vision.as_ref().map(|vision| &vision.encoder) {
        Some(VisionEncoder::Patches(tower)) => tower,
        _ => panic!("the model has no tower over patches"),
    }
}

#[test]
fn layers_of_a_tower_add_to_layers_of_the_decoder() {
    let decoder = describe(QWEN3_VL.as_bytes()).unwrap();
    let sections = Sections { counts: [24, 20, 20], takes_turns: true };
    assert_eq!((decoder.sections(), decoder.rotaries[0].theta, decoder.tied), (Some(sections), 5e6, true));
    assert_eq!((decoder.attention.head_norm, decoder.attention.depth), (HeadNorm::Each, 128));
    let tower = patches(&decoder);
    assert_eq!((tower.numbers(), tower.depth, tower.table, tower.windows.is_none()), (1536, 64, Some(48), true));
    assert_eq!(tower.deep, [[5, 0], [11, 1], [17, 2]]);
    assert_eq!(decoder.vision.as_ref().unwrap().token_width(decoder.width), 4 * 2048);
    let name = "model.visual.deepstack_merger_list.1.norm.weight";
    assert_eq!(decoder.canonical(name), "vision.projector.deepstack.1.norm.weight");
    for (indexes, reason) in [
        ("[5, 24]", "names layer 24, of 24"),
        ("[5, 11, 5]", "names a layer twice"),
        ("[1, 2, 3, 4, 5, 6, 7]", "more layers than the decoder, which has 6"),
    ] {
        let config = QWEN3_VL.replace("[5, 11, 17]", indexes);
        let config = config.replace(r#""num_hidden_layers": 28"#, r#""num_hidden_layers": 6"#);
        let error = describe(config.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("vision_config.deepstack_visual_indexes") && error.contains(reason), "{error}");
    }
    let error = describe(QWEN3_VL.replace("2304", "2300").as_bytes()).unwrap_err().to_string();
    assert!(error.contains("num_position_embeddings") && error.contains("is no square"), "{error}");
}

#[test]
fn experts_of_qwen_are_a_list_or_stacks() {
    // Qwen3-VL-30B-A3B-Instruct.
    let config = r#"{"architectures": ["Qwen3VLMoeForConditionalGeneration"], "image_token_id": 151655, "tie_word_embeddings": false,
        "text_config": {"decoder_sparse_step": 1, "head_dim": 128, "hidden_size": 2048, "intermediate_size": 6144,
            "max_position_embeddings": 262144, "mlp_only_layers": [], "model_type": "qwen3_vl_moe_text", "moe_intermediate_size": 768,
            "norm_topk_prob": true, "num_attention_heads": 32, "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48,
            "num_key_value_heads": 4, "rope_theta": 5000000, "vocab_size": 151936,
            "rope_scaling": {"mrope_interleaved": true, "mrope_section": [24, 20, 20], "rope_type": "default"}},
        "vision_config": {"deepstack_visual_indexes": [8, 16, 24], "depth": 27, "hidden_size": 1152, "intermediate_size": 4304,
            "model_type": "qwen3_vl_moe", "num_heads": 16, "num_position_embeddings": 2304, "out_hidden_size": 2048, "patch_size": 16}}"#;
    let mut decoder = describe(config.as_bytes()).unwrap();
    assert_eq!((patches(&decoder).deep.len(), decoder.layers[47].has_experts), (3, true));
    let listed = decoder.experts.unwrap();
    assert_eq!((listed.count, listed.chosen, listed.width, listed.is_normalized), (128, 8, 768, true));
    decoder.find_stacks(|name| name == "model.layers.0.mlp.experts.0.gate_proj.weight");
    assert_eq!(decoder.experts, Some(listed));
    decoder.find_stacks(|name| name == "model.layers.0.mlp.experts.gate_up_proj");
    let stacked = decoder.experts.unwrap();
    assert_eq!(
        (stacked.storage, stacked.names.gate, stacked.names.down),
        (Storage::StackedList, "gate_up_proj", "down_proj")
    );
}

#[test]
fn a_quantized_model_with_a_tower_over_patches_answers_texts() {
    let config = QWEN3_VL.replacen(
        '{',
        r#"{"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}, "#,
        1,
    );
    let decoder = describe(config.as_bytes()).unwrap();
    assert_eq!((decoder.is_for_texts, decoder.vision.is_none(), decoder.sections()), (true, true, None));
}

#[test]
fn the_tower_of_qwen_3_5_adds_nothing_to_layers_of_the_decoder() {
    // Qwen3.5-35B-A3B, by the defaults of its classes.
    let config = r#"{"architectures": ["Qwen3_5MoeForConditionalGeneration"], "text_config": {"model_type": "qwen3_5_moe_text",
            "rope_parameters": {"mrope_interleaved": true, "mrope_section": [11, 11, 10], "partial_rotary_factor": 0.25,
                "rope_theta": 10000000, "rope_type": "default"}},
        "vision_config": {"deepstack_visual_indexes": [], "model_type": "qwen3_5_moe", "out_hidden_size": 2048}}"#;
    let decoder = describe(config.as_bytes()).unwrap();
    let tower = patches(&decoder);
    assert_eq!((tower.layers, tower.width, tower.heads, tower.inner, tower.deep.len()), (27, 1152, 16, 4304, 0));
    let vision = decoder.vision.as_ref().unwrap();
    assert_eq!((vision.token, vision.token_width(decoder.width)), (248_056, 2048));
    assert_eq!((decoder.layers.len(), decoder.rotaries[0].pairs, decoder.is_recurrent()), (40, 32, true));
}

#[test]
fn the_tower_of_pixtral_has_a_token_behind_each_row() {
    // Mistral-Small-3.1-24B-Instruct-2503.
    let config = r#"{"architectures": ["Mistral3ForConditionalGeneration"], "image_token_index": 10, "model_type": "mistral3",
        "multimodal_projector_bias": false, "projector_hidden_act": "gelu", "spatial_merge_size": 2, "vision_feature_layer": -1,
        "text_config": {"head_dim": 128, "hidden_act": "silu", "hidden_size": 5120, "intermediate_size": 32768,
            "max_position_embeddings": 131072, "model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 40,
            "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_theta": 1000000000.0, "sliding_window": null, "vocab_size": 131072},
        "vision_config": {"head_dim": 64, "hidden_act": "silu", "hidden_size": 1024, "image_size": 1540, "intermediate_size": 4096,
            "model_type": "pixtral", "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 24, "patch_size": 14,
            "rope_theta": 10000.0}}"#;
    let decoder = describe(config.as_bytes()).unwrap();
    let tower = patches(&decoder);
    assert_eq!((tower.numbers(), tower.depth, tower.square, tower.layers), (588, 64, 2, 24));
    assert_eq!(
        (tower.has_breaks(), tower.activation, decoder.sections(), decoder.tile()),
        (true, Activation::Silu, None, None)
    );
    let name = decoder.canonical("multi_modal_projector.patch_merger.merging_layer.weight");
    assert_eq!(name, "vision.projector.patch_merger.merging_layer.weight");
    for (wrong, word) in [
        (config.replace(r#""vision_feature_layer": -1"#, r#""vision_feature_layer": -2"#), "vision_feature_layer"),
        (config.replace(r#""model_type": "pixtral""#, r#""model_type": "owl""#), "`pixtral`"),
        (config.replace(r#""num_channels": 3"#, r#""num_channels": 4"#), "num_channels"),
    ] {
        let error = describe(wrong.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

/// A configuration of Gemma 4 with these keys of the text and of the tower.
fn gemma4(text: &str, tower: &str) -> String {
    format!(
        r#"{{"architectures": ["Gemma4ForConditionalGeneration"], "audio_token_id": 258881, "boa_token_id": 256000, "boi_token_id": 255999,
        "eoi_token_id": 258882, "image_token_id": 258880, "model_type": "gemma4", "video_token_id": 258884,
        "vision_soft_tokens_per_image": 280, "tie_word_embeddings": true, "text_config": {{"model_type": "gemma4_text",
            "final_logit_softcapping": 30.0, "hidden_activation": "gelu_pytorch_tanh", "max_position_embeddings": 131072, "pad_token_id": 0,
            "rope_parameters": {{"full_attention": {{"partial_rotary_factor": 0.25, "rope_theta": 1000000.0, "rope_type": "proportional"}},
                "sliding_attention": {{"rope_theta": 10000.0, "rope_type": "default"}}}}, "vocab_size": 262144, {text}}},
        "vision_config": {{"attention_bias": false, "default_output_length": 280, "hidden_activation": "gelu_pytorch_tanh",
            "model_type": "gemma4_vision", "patch_size": 16, "pooling_kernel_size": 3, "position_embedding_size": 10240, "rms_norm_eps": 1e-06,
            "rope_parameters": {{"rope_theta": 100.0, "rope_type": "default"}}, {tower}}}}}"#
    )
}

#[test]
fn gemma_4_reads_pictures_in_small_models_and_large_ones() {
    const SMALL: &str = r#""head_dim": 64, "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
        "num_hidden_layers": 16, "num_key_value_heads": 12, "standardize": false, "use_clipped_linears": true"#;
    const LARGE: &str = r#""head_dim": 72, "hidden_size": 1152, "intermediate_size": 4304, "num_attention_heads": 16,
        "num_hidden_layers": 27, "num_key_value_heads": 16, "standardize": true, "use_clipped_linears": false"#;
    let texts = [
        // E2B, E4B, 26B-A4B and 31B.
        r#""hidden_size": 1536, "hidden_size_per_layer_input": 256, "intermediate_size": 6144, "num_attention_heads": 8,
            "num_hidden_layers": 35, "num_key_value_heads": 1, "num_kv_shared_layers": 20, "sliding_window": 512,
            "use_bidirectional_attention": null, "use_double_wide_mlp": true"#,
        r#""hidden_size": 2560, "hidden_size_per_layer_input": 256, "intermediate_size": 10240, "num_attention_heads": 8,
            "num_hidden_layers": 42, "num_key_value_heads": 2, "num_kv_shared_layers": 18, "sliding_window": 512"#,
        r#""attention_k_eq_v": true, "enable_moe_block": true, "hidden_size": 2816, "hidden_size_per_layer_input": 0,
            "intermediate_size": 2112, "moe_intermediate_size": 704, "num_attention_heads": 16, "num_experts": 128,
            "num_global_key_value_heads": 2, "num_hidden_layers": 30, "num_key_value_heads": 8, "sliding_window": 1024, "top_k_experts": 8,
            "use_bidirectional_attention": "vision""#,
        r#""attention_k_eq_v": true, "hidden_size": 5376, "hidden_size_per_layer_input": 0, "intermediate_size": 21504,
            "num_attention_heads": 32, "num_global_key_value_heads": 4, "num_hidden_layers": 60, "num_key_value_heads": 16,
            "sliding_window": 1024, "use_bidirectional_attention": "vision""#,
    ];
    let towers = [SMALL, SMALL, LARGE, LARGE];
    for (text, tower) in texts.into_iter().zip(towers) {
        let decoder = describe(gemma4(text, tower).as_bytes()).unwrap();
        let (is_large, own) = (tower == LARGE, patches(&decoder));
        let heads = [own.heads, own.key_heads, own.depth];
        assert_eq!((own.layers, heads), if is_large { (27, [16, 16, 72]) } else { (16, [12, 12, 64]) });
        assert_eq!((own.is_clipped, own.axes, own.numbers(), own.square), (!is_large, Some(10_240), 768, 3));
        assert_eq!(own.projector, PatchProjector::Pooled { is_standardized: is_large });
        let vision = decoder.vision.as_ref().unwrap();
        assert_eq!(vision.mutual, if is_large { Mutual::InWindows } else { Mutual::Nowhere });
        assert_eq!((vision.token, decoder.image_tokens(2048, None), decoder.tile()), (258_880, Ok(280), None));
        assert_eq!((vision.call(280), decoder.layer_inputs.is_some()), (is_large.then_some(280), !is_large));
    }
    let decoder = describe(gemma4(texts[0], SMALL).as_bytes()).unwrap();
    let name = decoder.canonical("model.embed_vision.embedding_projection.weight");
    assert_eq!(name, "vision.projector.embedding_projection.weight");
    for (tower, word) in [
        (SMALL.replace(r#""head_dim": 64"#, r#""head_dim": 66"#), "no multiple of four"),
        (SMALL.replace(r#""num_key_value_heads": 12"#, r#""num_key_value_heads": 5"#), "does not divide 12 heads"),
    ] {
        let error = describe(gemma4(texts[0], &tower).as_bytes()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let other =
        gemma4(texts[0], SMALL).replace(r#""rope_theta": 100.0, "rope_type": "default""#, r#""rope_type": "yarn""#);
    let error = describe(other.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("vision_config.rope_parameters.rope_type") && error.contains("`axial`"), "{error}");
    let all = texts[2].replace(r#""vision""#, r#""all""#);
    assert!(describe(gemma4(&all, LARGE).as_bytes()).unwrap_err().to_string().contains("use_bidirectional_attention"));
}

#[test]
fn a_model_without_a_tower_or_with_quantized_weights_answers_texts() {
    let nested = r#"{"architectures": ["Gemma4ForConditionalGeneration"], "vision_config": null,
        "text_config": {"model_type": "gemma4_text", "num_kv_shared_layers": 0, "num_hidden_layers": 12}}"#;
    let decoder = describe(nested.as_bytes()).unwrap();
    assert_eq!((decoder.is_for_texts, decoder.layers.len(), decoder.width), (true, 12, 2304));
    assert_eq!(decoder.canonical("model.language_model.norm.weight"), "model.norm.weight");
    assert_eq!(unread_keys(nested.as_bytes()).unwrap(), [""; 0]);
    let other = nested.replace("gemma4_text", "wave_text");
    let error = describe(other.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("text_config.model_type") && error.contains("`gemma4_text`"), "{error}");
    let tower = nested.replace(r#""vision_config": null"#, r#""vision_config": {"model_type": "gemma4_vision"}"#);
    assert!(describe(tower.as_bytes()).unwrap().vision.is_some());
    let method = r#""quantization_config": {"quant_method": "fp8"}, "vision_config""#;
    let quantized = describe(tower.replace(r#""vision_config""#, method).as_bytes()).unwrap();
    assert!(quantized.is_for_texts && quantized.vision.is_none());
}

/// What `deploy` says about a model of these tensors, each of one number.
fn forms(config: &str, tensors: &[&str]) -> Option<String> {
    let entry = |(index, name): (usize, &&str)| {
        format!(r#""{name}":{{"dtype":"F32","shape":[1],"data_offsets":[{},{}]}}"#, 4 * index, 4 * index + 4)
    };
    let header = format!("{{{}}}", tensors.iter().enumerate().map(entry).collect::<Vec<String>>().join(","));
    let numbers = vec![0; 4 * tensors.len()];
    let shard = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &numbers].concat();
    let shards = BTreeMap::from([("model.safetensors".to_owned(), Arc::new(shard) as Arc<dyn Buffer>)]);
    let config = Arc::new(config.as_bytes().to_vec());
    stored_forms(&Model::Folder { config, more: BTreeMap::new(), shards }, Kept::All, Multiplied::Float).unwrap()
}

#[test]
fn encoders_that_are_left_out_are_counted() {
    let tensors = [
        "model.vision_tower.std_bias",
        "model.embed_vision.embedding_projection.weight",
        "model.audio_tower.norm_out.weight",
        "model.embed_audio.embedding_projection.weight",
    ];
    let tower = r#"{"model_type": "gemma4_vision"}"#;
    for (vision, words) in [
        (tower, "2 tensors of an encoder of sound, so that the model does not hear"),
        ("null", "4 tensors of encoders of pictures and sound, so that the model answers texts alone"),
    ] {
        let config = format!(
            r#"{{"architectures": ["Gemma4ForConditionalGeneration"], "vision_config": {vision}, "text_config": {{"model_type": "gemma4_text"}}}}"#
        );
        let said = forms(&config, &tensors).unwrap();
        assert!(said.contains(&format!("left out: {words}")), "{said}");
    }
}
