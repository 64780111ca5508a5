//! The architectures of GGUF files, a row each: the class of `transformers` whose family describes the model, and what the
//! converter changed.

mod gemma;
mod hybrid;

use serde_json::{Map, Value, json};

use super::Gguf;

/// An architecture.
pub struct Architecture {
    /// The value of `general.architecture`.
    pub name: &'static str,
    /// The class of `transformers`.
    pub class: &'static str,
    /// The class where the file has experts.
    pub mixture: &'static str,
    /// The class where the router of the experts has the logistic function.
    pub sigmoid: &'static str,
    /// The class where the file states a window.
    pub windowed: &'static str,
    /// Whether the converter turned rotated halves into rotated neighbours, by moving rows of queries and keys.
    pub is_permuted: bool,
    /// Whether the converter put the heads of values of linear attention in turns, instead of groups.
    pub is_tiled: bool,
    /// Whether routers have the logistic function where the file names none.
    pub is_sigmoid: bool,
    /// The keys with a number for each layer, of which `own` makes something.
    pub by_layer: &'static [&'static str],
    /// Adds the keys of the configuration that are this architecture's own.
    pub own: fn(&Gguf<'_>, &mut Map<String, Value>),
}

const fn plain(name: &'static str, class: &'static str) -> Architecture {
    Architecture {
        name,
        class,
        mixture: class,
        sigmoid: class,
        windowed: class,
        is_permuted: false,
        is_tiled: false,
        is_sigmoid: false,
        by_layer: &[],
        own: |_, _| {},
    }
}

const fn permuted(name: &'static str, class: &'static str) -> Architecture {
    Architecture { is_permuted: true, ..plain(name, class) }
}

/// Layers of one kind each, by their numbers of heads and by the widths of their networks.
const NEMOTRON_H: Architecture = Architecture {
    own: hybrid::nemotron_h,
    by_layer: &[NETWORKS, KEY_HEADS],
    ..plain("nemotron_h", "NemotronHForCausalLM")
};

/// Every supported architecture.
pub const ARCHITECTURES: &[Architecture] = &[
    permuted("arcee", "ArceeForCausalLM"),
    Architecture { own: cohere, ..plain("cohere2", "Cohere2ForCausalLM") },
    Architecture { own: cohere, ..plain("command-r", "CohereForCausalLM") },
    Architecture { own: deepseek, sigmoid: "DeepseekV3ForCausalLM", ..plain("deepseek2", "DeepseekV2ForCausalLM") },
    Architecture { own: mixture, ..plain("dots1", "Dots1ForCausalLM") },
    plain("ernie4_5", "Ernie4_5ForCausalLM"),
    Architecture { own: ernie, ..plain("ernie4_5-moe", "Ernie4_5_MoeForCausalLM") },
    Architecture { own: gemma::gemma, ..plain("gemma", "GemmaForCausalLM") },
    Architecture { own: gemma::gemma, ..plain("gemma2", "Gemma2ForCausalLM") },
    Architecture { own: gemma::gemma3, ..plain("gemma3", "Gemma3ForCausalLM") },
    Architecture { own: gemma::gemma3n, by_layer: &[NETWORKS], ..plain("gemma3n", "Gemma3nForCausalLM") },
    Architecture { own: gemma::gemma4, by_layer: &[NETWORKS, KEY_HEADS], ..plain("gemma4", "Gemma4ForCausalLM") },
    Architecture { own: glm4, ..plain("glm4moe", "Glm4MoeForCausalLM") },
    plain("gpt2", "GPT2LMHeadModel"),
    Architecture { own: neox, ..plain("gptneox", "GPTNeoXForCausalLM") },
    Architecture { own: gpt_oss, ..plain("gpt-oss", "GptOssForCausalLM") },
    Architecture { own: granite, ..permuted("granite", "GraniteForCausalLM") },
    Architecture {
        own: hybrid::granite,
        by_layer: &[KEY_HEADS],
        ..permuted("granitehybrid", "GraniteMoeHybridForCausalLM")
    },
    plain("hunyuan-dense", "HunYuanDenseV1ForCausalLM"),
    Architecture { own: hybrid::lfm2, by_layer: &[KEY_HEADS], ..plain("lfm2", "Lfm2ForCausalLM") },
    Architecture { own: hybrid::lfm2, by_layer: &[KEY_HEADS], ..plain("lfm2moe", "Lfm2MoeForCausalLM") },
    Architecture { mixture: "MixtralForCausalLM", ..permuted("llama", "LlamaForCausalLM") },
    Architecture { own: ministral3, ..permuted("mistral3", "Ministral3ForCausalLM") },
    plain("nemotron", "NemotronForCausalLM"),
    NEMOTRON_H,
    Architecture { name: "nemotron_h_moe", is_sigmoid: true, ..NEMOTRON_H },
    permuted("olmo", "OlmoForCausalLM"),
    Architecture { windowed: "Olmo3ForCausalLM", own: olmo, ..plain("olmo2", "Olmo2ForCausalLM") },
    plain("olmoe", "OlmoeForCausalLM"),
    plain("phi2", "PhiForCausalLM"),
    plain("phi3", "Phi3ForCausalLM"),
    plain("qwen2", "Qwen2ForCausalLM"),
    Architecture { own: qwen_moe, ..plain("qwen2moe", "Qwen2MoeForCausalLM") },
    Architecture { own: hybrid::sections, ..plain("qwen2vl", "Qwen2ForCausalLM") },
    plain("qwen3", "Qwen3ForCausalLM"),
    Architecture { own: hybrid::qwen, is_tiled: true, ..plain("qwen35", "Qwen3_5ForCausalLM") },
    Architecture { own: hybrid::qwen, is_tiled: true, ..plain("qwen35moe", "Qwen3_5MoeForCausalLM") },
    Architecture { own: qwen_moe, ..plain("qwen3moe", "Qwen3MoeForCausalLM") },
    Architecture { own: hybrid::qwen, ..plain("qwen3next", "Qwen3NextForCausalLM") },
    Architecture { own: hybrid::sections, ..plain("qwen3vl", "Qwen3ForCausalLM") },
    Architecture { own: hybrid::qwen_moe, ..plain("qwen3vlmoe", "Qwen3MoeForCausalLM") },
    plain("seed_oss", "SeedOssForCausalLM"),
    permuted("smollm3", "SmolLM3ForCausalLM"),
    Architecture { own: stablelm, ..plain("stablelm", "StableLmForCausalLM") },
    plain("starcoder2", "Starcoder2ForCausalLM"),
];

/// The key of the elements between the projections of networks.
const NETWORKS: &str = "feed_forward_length";
/// The key of the heads of keys and values.
const KEY_HEADS: &str = "attention.head_count_kv";

/// The architecture of a name.
pub fn find(name: &str) -> Option<&'static Architecture> {
    ARCHITECTURES.iter().find(|architecture| architecture.name == name)
}

/// Copies values to keys of the configuration, where the file has them.
fn copy(file: &Gguf<'_>, config: &mut Map<String, Value>, pairs: &[(&str, &str)]) {
    for (from, to) in pairs {
        if let Some(value) = file.value(from) {
            config.insert((*to).to_owned(), value.clone());
        }
    }
}

fn cohere(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    copy(file, config, &[("logit_scale", "logit_scale")]);
    config.insert("use_qk_norm".to_owned(), file.has("blk.0.attn_q_norm.weight").into());
}

/// OLMo 3 is OLMo 2 with windows, whose layers turn by the base of the others.
fn olmo(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    if file.has_window() {
        let base = file.value("rope.freq_base").cloned().unwrap_or_else(|| 10_000.into());
        rotate_by_kind(file, config, base);
    }
}

/// Gives layers with a window a rotary embedding without scaling, of the base that the file states for it or of `base`.
fn rotate_by_kind(file: &Gguf<'_>, config: &mut Map<String, Value>, base: Value) {
    let theta = file.value("rope.freq_base_swa").cloned().unwrap_or(base);
    let local = json!({"rope_type": "default", "rope_theta": theta});
    let global = config.remove("rope_parameters").unwrap_or_default();
    config.insert("rope_parameters".to_owned(), json!({"full_attention": global, "sliding_attention": local}));
}

/// Queries that grow with the position, and YaRN's factor as a ratio.
fn ministral3(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let Some(Value::Object(rope)) = config.get_mut("rope_parameters") else { return };
    if let Some(all) = file.value("rope.scaling.yarn_log_multiplier").filter(|all| all.as_f64() != Some(0.0)) {
        rope.insert("mscale".to_owned(), 1.0.into());
        rope.insert("mscale_all_dim".to_owned(), all.clone());
    }
    copy(file, rope, &[("attention.temperature_scale", "llama_4_scaling_beta")]);
}

fn granite(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let factors = [
        ("embedding_scale", "embedding_multiplier"),
        ("residual_scale", "residual_multiplier"),
        ("attention.scale", "attention_multiplier"),
        ("logit_scale", "logits_scaling"),
    ];
    copy(file, config, &factors);
}

fn neox(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    copy(file, config, &[("use_parallel_residual", "use_parallel_residual")]);
}

/// The published models do not round the ends of YaRN's slope.
fn gpt_oss(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    copy(file, config, &[("expert_feed_forward_length", "intermediate_size")]);
    if let Some(Value::Object(rope)) = config.get_mut("rope_parameters") {
        rope.insert("truncate".to_owned(), false.into());
    }
}

fn qwen_moe(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let sizes = [
        ("expert_feed_forward_length", "moe_intermediate_size"),
        ("expert_shared_feed_forward_length", "shared_expert_intermediate_size"),
    ];
    copy(file, config, &sizes);
    let divides = file.value("expert_weights_norm").cloned();
    let divides = divides.unwrap_or_else(|| matches!(file.architecture.name, "qwen3moe" | "qwen3vlmoe").into());
    config.insert("norm_topk_prob".to_owned(), divides);
    config.insert("decoder_sparse_step".to_owned(), 1.into());
}

/// Latent attention: keys of heads have elements that are rotated and others.
fn deepseek(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let either = |keys: [&str; 2]| keys.iter().find_map(|key| file.count(key)).unwrap_or(0);
    let depth = either(["attention.key_length_mla", "attention.key_length"]);
    let rotated = file.count("rope.dimension_count").unwrap_or(0);
    copy(file, config, &[("attention.kv_lora_rank", "kv_lora_rank"), ("attention.q_lora_rank", "q_lora_rank")]);
    config.insert("qk_nope_head_dim".to_owned(), depth.saturating_sub(rotated).into());
    config.insert("qk_rope_head_dim".to_owned(), rotated.into());
    config.insert("v_head_dim".to_owned(), either(["attention.value_length_mla", "attention.value_length"]).into());
    config.insert("partial_rotary_factor".to_owned(), 1.0.into());
    mixture(file, config);
    let is_grouped = config.get("n_group") != Some(&json!(1));
    if is_grouped && !file.chooses_by_sigmoid() {
        config.insert("topk_method".to_owned(), "group_limited_greedy".into());
    }
    let all = file.value("rope.scaling.yarn_log_multiplier").and_then(Value::as_f64).filter(|all| *all != 0.0);
    if let (Some(Value::Object(rope)), Some(all)) = (config.get_mut("rope_parameters"), all) {
        // The converter multiplies the logarithm's factor with the one of YaRN.
        for key in ["mscale", "mscale_all_dim"] {
            rope.insert(key.to_owned(), (10.0 * all).into());
        }
    }
}

fn glm4(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    mixture(file, config);
    config.insert("use_qk_norm".to_owned(), file.has("blk.0.attn_q_norm.weight").into());
}

/// The keys of DeepSeek's mixtures. A file without a word about groups has none.
fn mixture(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let pairs = [
        ("expert_count", "n_routed_experts"),
        ("expert_feed_forward_length", "moe_intermediate_size"),
        ("expert_shared_count", "n_shared_experts"),
        ("leading_dense_block_count", "first_k_dense_replace"),
        ("expert_group_count", "n_group"),
        ("expert_group_used_count", "topk_group"),
    ];
    for key in ["n_group", "topk_group"] {
        config.insert(key.to_owned(), 1.into());
    }
    copy(file, config, &pairs);
    let divides = file.value("expert_weights_norm").cloned().unwrap_or_else(|| false.into());
    config.insert("norm_topk_prob".to_owned(), divides);
    let scale = file.value("expert_weights_scale").filter(|scale| scale.as_f64() != Some(0.0)).cloned();
    config.insert("routed_scaling_factor".to_owned(), scale.unwrap_or_else(|| 1.0.into()));
}

fn ernie(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    let pairs = [
        ("expert_feed_forward_length", "moe_intermediate_size"),
        ("expert_shared_count", "moe_num_shared_experts"),
        ("interleave_moe_layer_step", "moe_layer_interval"),
        ("leading_dense_block_count", "moe_layer_start_index"),
    ];
    copy(file, config, &pairs);
}

fn stablelm(file: &Gguf<'_>, config: &mut Map<String, Value>) {
    copy(file, config, &[("use_parallel_residual", "use_parallel_residual")]);
    config.insert("use_qkv_bias".to_owned(), file.has("blk.0.attn_q.bias").into());
    config.insert("qk_layernorm".to_owned(), file.has("blk.0.attn_q_norm.weight").into());
}
