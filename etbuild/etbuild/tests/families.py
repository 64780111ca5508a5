"""Small language models of random weights, in the shapes of each family, and what transformers computes with them.

    python families.py FOLDER STEPS [NAME ..]     writes FOLDER/NAME/model and FOLDER/NAME/expected.safetensors of each

Such a file has `prompt`, int64 [1, 37], `prompt_logits`, float32 [1, v], `tokens`, int64 [1, STEPS], and `logits`, float32 [STEPS, v]:
the tokens that follow the prompt greedily, and the logits behind each.
"""

import sys
from functools import partial
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file

from checkpoints import LLAMA3, PROMPT, SMALL, drawn, greedy, read

# The shapes: grouped queries, as many heads of keys as of queries, one head of keys.
MHA, MQA = SMALL | dict(num_key_value_heads=6), SMALL | dict(num_key_value_heads=1)
PLAIN = {key: value for key, value in SMALL.items() if key != "num_key_value_heads"}
GPT = dict(vocab_size=211, n_embd=48, n_head=6, n_layer=3, n_positions=512, bos_token_id=1, eos_token_id=2)
LAYERS = ["sliding_attention", "full_attention", "sliding_attention"]
YARN = dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=64)

LATENT = dict(kv_lora_rank=24, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10, moe_intermediate_size=28)

ROUTED = dict(n_routed_experts=8, n_shared_experts=1, num_experts_per_tok=3, moe_intermediate_size=28)
# Of three layers of Mamba with random weights, the logits of transformers are 2.6e-4 away from those in float64.
STATES = dict(vocab_size=211, hidden_size=48, num_hidden_layers=2, state_size=8, pad_token_id=0, bos_token_id=1, eos_token_id=2)
HYBRID = dict(mamba_n_heads=6, mamba_d_head=16, mamba_d_state=24)
ALONE = dict(head_dim=8, mamba_num_heads=6, mamba_head_dim=16, ssm_state_size=24, n_groups=2)

# Five layers, of which the last two read KV caches of the others.
SHARED = SMALL | dict(num_hidden_layers=5, head_dim=8, sliding_window=9, vocab_size_per_layer_input=211,
                      hidden_size_per_layer_input=12, num_kv_shared_layers=2,
                      layer_types=["sliding_attention", "full_attention", "sliding_attention"] + LAYERS[:2])
SPARSE = dict(intermediate_size=[96, 64, 96, 80, 80], activation_sparsity_pattern=[0.9, 0.0, 0.5, 0.0, 0.0], laurel_rank=10)

DELTA = dict(linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=20, linear_value_head_dim=12, head_dim=16,
             num_experts_per_tok=2, moe_intermediate_size=24, shared_expert_intermediate_size=40)

DENSE_DELTA = {key: value for key, value in DELTA.items() if "expert" not in key and "moe" not in key}

# Each model: the configuration class and the keys.
MODELS = {
    "gemma": ("Gemma", SMALL | dict(head_dim=12)),
    "gemma-mqa": ("Gemma", MQA | dict(head_dim=16, attention_bias=True)),
    "olmo": ("Olmo", SMALL | dict(clip_qkv=0.75)),
    "olmo-tied": ("Olmo", MHA | dict(tie_word_embeddings=True, attention_bias=True)),
    "olmo2": ("Olmo2", SMALL),
    "olmo2-mha": ("Olmo2", MHA | dict(attention_bias=True)),
    "olmo3": ("Olmo3", SMALL | dict(sliding_window=9, layer_types=LAYERS, rope_parameters=dict(
        full_attention=YARN, sliding_attention=dict(rope_type="default", rope_theta=10000.0)))),
    "olmo3-plain": ("Olmo3", MHA | dict(sliding_window=17)),
    "smollm3": ("SmolLM3", SMALL | dict(no_rope_layer_interval=2)),
    "smollm3-windows": ("SmolLM3", MQA | dict(no_rope_layers=[0, 1, 0], use_sliding_window=True, sliding_window=9,
                                              attention_bias=True, mlp_bias=True, tie_word_embeddings=False)),
    "granite": ("Granite", SMALL | dict(embedding_multiplier=6.0, logits_scaling=3.0, residual_multiplier=0.25,
                                        attention_multiplier=0.05)),
    "granite-biases": ("Granite", MHA | dict(attention_bias=True, mlp_bias=True, attention_multiplier=0.3,
                                             tie_word_embeddings=True)),
    "stablelm": ("StableLm", SMALL | dict(partial_rotary_factor=0.5, use_qkv_bias=True)),
    "stablelm-parallel": ("StableLm", MHA | dict(partial_rotary_factor=0.25, qk_layernorm=True,
                                                 use_parallel_residual=True)),
    "starcoder2": ("Starcoder2", SMALL | dict(sliding_window=9)),
    "starcoder2-plain": ("Starcoder2", MQA | dict(use_bias=False, tie_word_embeddings=False)),
    "cohere": ("Cohere", SMALL),
    "cohere-norms": ("Cohere", MHA | dict(use_qk_norm=True, logit_scale=0.25, attention_bias=True)),
    "cohere2": ("Cohere2", SMALL | dict(sliding_window=9, layer_types=LAYERS)),
    "glm": ("Glm", SMALL | dict(head_dim=12)),
    "glm-tied": ("Glm", MQA | dict(head_dim=8, attention_bias=False, tie_word_embeddings=True)),
    "glm4": ("Glm4", SMALL | dict(head_dim=8)),
    "phi": ("Phi", MHA),
    "phi-norms": ("Phi", SMALL | dict(qk_layernorm=True)),
    "gpt2": ("GPT2", GPT),
    "gpt2-untied": ("GPT2", GPT | dict(n_inner=80, tie_word_embeddings=False, scale_attn_weights=False)),
    "gpt-bigcode": ("GPTBigCode", GPT),
    "gpt-bigcode-mha": ("GPTBigCode", GPT | dict(multi_query=False, n_inner=80)),
    "gpt-neo": ("GPTNeo", dict(vocab_size=211, hidden_size=48, num_heads=6, num_layers=2, window_size=9,
                               max_position_embeddings=512, attention_types=[[["global", "local"], 1]],
                               bos_token_id=1, eos_token_id=2)),
    "gptj": ("GPTJ", GPT | dict(rotary_dim=4)),
    "gpt-neox": ("GPTNeoX", PLAIN | dict(rotary_pct=0.5)),
    "gpt-neox-sequential": ("GPTNeoX", PLAIN | dict(use_parallel_residual=False, attention_bias=False,
                                                    tie_word_embeddings=True, rotary_pct=1.0)),
    "falcon": ("Falcon", PLAIN | dict(ffn_hidden_size=80)),
    "falcon-new": ("Falcon", PLAIN | dict(new_decoder_architecture=True, num_kv_heads=2)),
    "falcon-one-norm": ("Falcon", PLAIN | dict(new_decoder_architecture=True, num_kv_heads=3, bias=True,
                                               num_ln_in_parallel_attn=1, tie_word_embeddings=False)),
    "falcon-sequential": ("Falcon", PLAIN | dict(multi_query=False, parallel_attn=False, bias=True)),
    "nemotron": ("Nemotron", SMALL | dict(num_hidden_layers=2)),
    "nemotron-biases": ("Nemotron", MQA | dict(head_dim=16, num_hidden_layers=2, attention_bias=True, mlp_bias=True,
                                               partial_rotary_factor=1.0)),
    "ministral3": ("Ministral3", SMALL | dict(head_dim=10, rope_parameters=dict(
        rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=16, mscale=1.0, mscale_all_dim=1.0,
        llama_4_scaling_beta=0.1))),
    "ministral": ("Ministral", SMALL | dict(head_dim=10, sliding_window=9, layer_types=LAYERS)),
    "exaone4": ("Exaone4", SMALL | dict(sliding_window=9, layer_types=LAYERS, rope_parameters=LLAMA3)),
    "exaone4-plain": ("Exaone4", SMALL | dict(sliding_window=None, layer_types=["full_attention"] * 3)),
    "helium": ("Helium", SMALL | dict(head_dim=8)),
    "helium-biases": ("Helium", MHA | dict(head_dim=8, attention_bias=True, mlp_bias=True)),
    "opt": ("OPT", PLAIN | dict(ffn_dim=80, word_embed_proj_dim=48)),
    "opt-plain": ("OPT", PLAIN | dict(ffn_dim=96, word_embed_proj_dim=48, enable_bias=False,
                                      layer_norm_elementwise_affine=False, tie_word_embeddings=False)),
    "bloom": ("Bloom", dict(vocab_size=211, hidden_size=48, n_head=6, n_layer=3, bos_token_id=1, eos_token_id=2)),
    "bloom-heads": ("Bloom", dict(vocab_size=211, hidden_size=64, n_head=8, n_layer=2, bos_token_id=1, eos_token_id=2,
                                  tie_word_embeddings=False)),
    "mpt": ("Mpt", dict(vocab_size=211, d_model=48, n_heads=6, n_layers=3, bos_token_id=1, eos_token_id=2)),
    "mpt-clipped": ("Mpt", dict(vocab_size=211, d_model=64, n_heads=8, n_layers=2, bos_token_id=1, eos_token_id=2,
                                attn_config=dict(clip_qkv=0.75, softmax_scale=0.25))),
    "arcee": ("Arcee", SMALL | dict(rope_parameters=YARN)),
    "seed-oss": ("SeedOss", SMALL | dict(head_dim=8, mlp_bias=True)),
    "ernie": ("Ernie4_5", SMALL | dict(head_dim=8)),
    "ernie-biases": ("Ernie4_5", MHA | dict(head_dim=12, use_bias=True, tie_word_embeddings=False)),
    "hunyuan": ("HunYuanDenseV1", SMALL | dict(head_dim=8, attention_bias=True)),
    "hunyuan-alpha": ("HunYuanDenseV1", MHA | dict(head_dim=12, tie_word_embeddings=True, rope_parameters=dict(
        rope_type="dynamic", rope_theta=10000.0, factor=1.0, alpha=50.0))),
    "lfm2": ("Lfm2", SMALL | dict(full_attn_idxs=[1], block_multiple_of=16, num_hidden_layers=4)),
    "lfm2-biases": ("Lfm2", MHA | dict(layer_types=["conv", "full_attention", "conv"], conv_bias=True, conv_L_cache=4,
                                       block_auto_adjust_ff_dim=False, tie_word_embeddings=False)),
    "lfm2-plain": ("Lfm2", MQA | dict(layer_types=["conv"] * 2 + ["full_attention"], block_ffn_dim_multiplier=1.3,
                                      block_multiple_of=8, conv_L_cache=1)),
    "lfm2-moe": ("Lfm2Moe", SMALL | dict(layer_types=["conv", "full_attention", "conv"], num_dense_layers=1, num_experts=6,
                                         num_experts_per_tok=2, moe_intermediate_size=28)),
    "lfm2-moe-plain": ("Lfm2Moe", MHA | dict(layer_types=["full_attention", "conv"], num_hidden_layers=2, num_dense_layers=0, num_experts=4,
                                             num_experts_per_tok=2, moe_intermediate_size=20, use_expert_bias=False,
                                             norm_topk_prob=False, routed_scaling_factor=1.5, tie_word_embeddings=False)),
    "mamba": ("Mamba", STATES),
    "mamba-biases": ("Mamba", STATES | dict(use_bias=True, use_conv_bias=False, state_size=7, conv_kernel=3, expand=3,
                                            time_step_rank=5, tie_word_embeddings=False)),
    "mamba-one-state": ("Mamba", STATES | dict(state_size=1)),
    "falcon-mamba": ("FalconMamba", STATES | dict(state_size=16)),
    "mamba2": ("Mamba2", STATES | dict(num_heads=6, head_dim=16, n_groups=2, state_size=24)),
    "mamba2-biases": ("Mamba2", STATES | dict(num_heads=12, head_dim=8, n_groups=1, state_size=16, use_bias=True,
                                              use_conv_bias=False, tie_word_embeddings=True)),
    "mamba2-limits": ("Mamba2", STATES | dict(num_heads=6, head_dim=16, n_groups=3, state_size=8, time_step_limit=[0.02, 0.06])),
    "mamba2-thin": ("Mamba2", STATES | dict(num_heads=96, head_dim=1, n_groups=2, state_size=8)),
    "granite-hybrid": ("GraniteMoeHybrid", SMALL | HYBRID | dict(
        num_local_experts=5, shared_intermediate_size=40, residual_multiplier=0.5, attention_multiplier=0.3,
        logits_scaling=2.0, embedding_multiplier=3.0, tie_word_embeddings=True, mamba_n_groups=2, mamba_proj_bias=True,
        layer_types=["linear_attention", "full_attention", "linear_attention"])),
    "granite-hybrid-dense": ("GraniteMoeHybrid", MHA | HYBRID | dict(
        num_local_experts=0, shared_intermediate_size=72, position_embedding_type="rope",
        layer_types=["linear_attention", "linear_attention", "full_attention"])),
    "bamba": ("Bamba", SMALL | HYBRID | dict(attn_layer_indices=[1])),
    "bamba-biases": ("Bamba", MQA | HYBRID | dict(attn_layer_indices=[1], num_hidden_layers=2, mamba_n_groups=3, mamba_conv_bias=False,
                                                  attention_bias=True, mlp_bias=True)),
    "falcon-h1": ("FalconH1", SMALL | HYBRID | dict(mamba_d_ssm=96, mamba_n_groups=2, mamba_rms_norm=True, mamba_norm_before_gate=False)),
    "falcon-h1-scales": ("FalconH1", MQA | HYBRID | dict(
        mamba_d_ssm=96, num_hidden_layers=2, embedding_multiplier=3.0, lm_head_multiplier=0.5, key_multiplier=0.7, mlp_multipliers=[0.8, 1.3],
        ssm_multipliers=[0.9, 1.1, 0.7, 1.2, 0.8], ssm_in_multiplier=1.1, ssm_out_multiplier=0.6, attention_in_multiplier=0.9,
        attention_out_multiplier=0.4, tie_word_embeddings=True)),
    "falcon-h1-norm": ("FalconH1", MHA | HYBRID | dict(mamba_d_ssm=96, num_hidden_layers=2, mamba_rms_norm=True, attention_bias=True)),
    "nemotron-h": ("NemotronH", SMALL | ALONE | dict(
        layers_block_type=["linear_attention", "mlp", "full_attention", "linear_attention", "mlp"], time_step_min=0.03, use_bias=True,
        mlp_bias=True)),
    "nemotron-h-experts": ("NemotronH", MQA | ALONE | dict(
        layers_block_type=["linear_attention", "moe", "full_attention", "moe"], n_routed_experts=8, num_experts_per_tok=3, n_group=2, topk_group=1,
        moe_intermediate_size=20, moe_shared_expert_intermediate_size=36, routed_scaling_factor=2.5, tie_word_embeddings=True)),
    "qwen3-next": ("Qwen3Next", SMALL | DELTA | dict(num_experts=6, layer_types=["linear_attention"] * 2 + ["full_attention"])),
    "qwen3-next-mixed": ("Qwen3Next", MHA | DELTA | dict(
        num_experts=4, num_experts_per_tok=3, norm_topk_prob=False, mlp_only_layers=[1], linear_num_key_heads=3,
        linear_num_value_heads=3, attention_bias=True, tie_word_embeddings=True, layer_types=["full_attention", "linear_attention"],
        num_hidden_layers=2)),
    "qwen3.5": ("Qwen3_5Text", SMALL | DENSE_DELTA | dict(layer_types=["linear_attention"] * 2 + ["full_attention"])),
    "qwen3.5-moe": ("Qwen3_5MoeText", MHA | DELTA | dict(
        num_experts=6, linear_num_key_heads=3, linear_num_value_heads=3, attention_bias=True, tie_word_embeddings=True,
        layer_types=["full_attention", "linear_attention"], num_hidden_layers=2)),
    "gemma3n": ("Gemma3nText", SHARED | SPARSE),
    "gemma3n-one": ("Gemma3nText", MQA | dict(head_dim=12, num_kv_shared_layers=0, vocab_size_per_layer_input=200, altup_num_inputs=3,
                                          hidden_size_per_layer_input=8, altup_active_idx=1, altup_correct_scale=False,
                                          final_logit_softcapping=5.0, layer_types=LAYERS, sliding_window=17)),
    "gemma4": ("Gemma4Text", SHARED | dict(global_head_dim=16, use_double_wide_mlp=True)),
    "gemma4-keys": ("Gemma4Text", SMALL | dict(head_dim=8, sliding_window=9, layer_types=LAYERS, hidden_size_per_layer_input=0,
                                           global_head_dim=12, num_global_key_value_heads=1, attention_k_eq_v=True,
                                           final_logit_softcapping=5.0, tie_word_embeddings=False)),
    "gemma4-experts": ("Gemma4Text", MHA | dict(head_dim=8, sliding_window=9, global_head_dim=8, hidden_size_per_layer_input=0,
                                            enable_moe_block=True, num_experts=6, top_k_experts=2, moe_intermediate_size=20)),
    # Encoders of sound are left out.
    "gemma4-sound": ("Gemma4", dict(vision_config=None, text_config=SHARED | dict(model_type="gemma4_text", global_head_dim=16), audio_config=dict(
        hidden_size=24, num_hidden_layers=1, num_attention_heads=2, subsampling_conv_channels=[6, 4], output_proj_dims=20))),
    "mixtral": ("Mixtral", SMALL | dict(num_local_experts=5)),
    "mixtral-window": ("Mixtral", MQA | dict(num_local_experts=4, num_experts_per_tok=3, sliding_window=9, head_dim=10)),
    "qwen2-moe": ("Qwen2Moe", SMALL | dict(num_experts=6, moe_intermediate_size=32, shared_expert_intermediate_size=40)),
    "qwen2-moe-mixed": ("Qwen2Moe", MHA | dict(
        num_experts=4, num_experts_per_tok=2, norm_topk_prob=True, moe_intermediate_size=24, mlp_only_layers=[0],
        shared_expert_intermediate_size=32, use_sliding_window=True, sliding_window=9, layer_types=LAYERS)),
    "qwen3-moe": ("Qwen3Moe", SMALL | dict(num_experts=16, num_experts_per_tok=4, moe_intermediate_size=24, head_dim=16,
                                           norm_topk_prob=True)),
    "qwen3-moe-mixed": ("Qwen3Moe", SMALL | dict(num_experts=8, moe_intermediate_size=24, decoder_sparse_step=2,
                                                 attention_bias=True, tie_word_embeddings=True)),
    "olmoe": ("Olmoe", MHA | dict(num_experts=6, num_experts_per_tok=2, clip_qkv=1.0)),
    "olmoe-gqa": ("Olmoe", SMALL | dict(num_experts=8, norm_topk_prob=True, attention_bias=True)),
    "granite-moe": ("GraniteMoe", SMALL | dict(num_local_experts=5, residual_multiplier=0.5, attention_multiplier=0.3,
                                               logits_scaling=2.0, embedding_multiplier=3.0, tie_word_embeddings=True)),
    "gpt-oss": ("GptOss", SMALL | dict(num_local_experts=5, num_experts_per_tok=2, head_dim=8, sliding_window=9,
                                       layer_types=LAYERS)),
    "deepseek-v2-lite": ("DeepseekV2", MHA | LATENT | dict(
        q_lora_rank=None, n_routed_experts=8, n_shared_experts=2, num_experts_per_tok=3, first_k_dense_replace=1,
        rope_parameters=YARN | dict(factor=40.0, beta_fast=32, beta_slow=1, mscale=0.707, mscale_all_dim=0.707))),
    "deepseek-v2": ("DeepseekV2", MHA | LATENT | dict(
        q_lora_rank=20, n_routed_experts=12, n_shared_experts=2, num_experts_per_tok=3, topk_method="group_limited_greedy",
        n_group=4, topk_group=2, routed_scaling_factor=4.0, attention_bias=True, tie_word_embeddings=True)),
    "deepseek-v3": ("DeepseekV3", MHA | LATENT | dict(
        q_lora_rank=20, n_routed_experts=16, num_experts_per_tok=4, n_group=4, topk_group=2, first_k_dense_replace=1,
        rope_parameters=YARN | dict(factor=40.0, beta_fast=32, beta_slow=1, mscale=1.0, mscale_all_dim=1.0))),
    "kimi-k2": ("DeepseekV3", MHA | LATENT | dict(
        q_lora_rank=16, n_routed_experts=24, num_experts_per_tok=4, n_group=1, topk_group=1, first_k_dense_replace=1,
        routed_scaling_factor=2.827)),
    "moonlight": ("DeepseekV3", MHA | LATENT | dict(
        q_lora_rank=None, n_routed_experts=8, n_shared_experts=2, num_experts_per_tok=3, n_group=1, topk_group=1,
        first_k_dense_replace=1, rope_interleave=False, norm_topk_prob=False)),
    "glm4-moe": ("Glm4Moe", SMALL | ROUTED | dict(head_dim=12, use_qk_norm=True, attention_bias=True)),
    "glm4-moe-air": ("Glm4Moe", SMALL | ROUTED | dict(head_dim=8, attention_bias=True, n_shared_experts=2,
                                                      first_k_dense_replace=2, routed_scaling_factor=2.5)),
    "glm4-moe-lite": ("Glm4MoeLite", MHA | LATENT | ROUTED | dict(q_lora_rank=20)),
    "glm4-moe-lite-kinds": ("Glm4MoeLite", MHA | LATENT | ROUTED | dict(
        q_lora_rank=20, mlp_layer_types=["sparse", "dense", "sparse"], attention_bias=True)),
    "dots1": ("Dots1", SMALL | ROUTED | dict(head_dim=12, n_shared_experts=2, norm_topk_prob=True, sliding_window=None)),
    "dots1-windows": ("Dots1", SMALL | ROUTED | dict(head_dim=8, sliding_window=9, max_window_layers=1)),
    "ernie-moe": ("Ernie4_5_Moe", SMALL | dict(moe_num_experts=8, moe_k=3, moe_intermediate_size=28)),
    "ernie-moe-biases": ("Ernie4_5_Moe", MHA | dict(
        moe_num_experts=6, moe_k=2, moe_intermediate_size=24, moe_num_shared_experts=0, moe_layer_interval=2, use_bias=True,
        moe_layer_start_index=0, tie_word_embeddings=False)),
    "hunyuan-moe": ("HunYuanMoEV1", SMALL | dict(head_dim=8, num_experts=6, moe_topk=2)),
    "minimax-m2": ("MiniMaxM2", SMALL | dict(head_dim=12, num_local_experts=8, num_experts_per_tok=3, rope_parameters=dict(
        rope_type="default", rope_theta=10000.0, partial_rotary_factor=0.5))),
    "minimax-m2-yarn": ("MiniMaxM2", SMALL | dict(
        head_dim=12, num_local_experts=4, num_experts_per_tok=2,
        rope_parameters=YARN | dict(partial_rotary_factor=0.5))),
    "minicpm3": ("MiniCPM3", MHA | dict(kv_lora_rank=24, q_lora_rank=20, qk_nope_head_dim=12, qk_rope_head_dim=8)),
    "minicpm3-plain": ("MiniCPM3", MHA | dict(kv_lora_rank=16, q_lora_rank=None, qk_nope_head_dim=8, qk_rope_head_dim=4,
                                              v_head_dim=14, attention_bias=True, tie_word_embeddings=False)),
    "phimoe": ("Phimoe", SMALL | dict(num_local_experts=5, attention_bias=True, lm_head_bias=True, sliding_window=9,
                                      router_jitter_noise=0.0)),
    "phimoe-long": ("Phimoe", MQA | dict(num_local_experts=4, router_jitter_noise=0.2, rope_parameters=dict(
        rope_type="longrope", rope_theta=10000.0, short_factor=[1.0, 1.1, 1.3, 1.5], long_factor=[1.5, 2.0, 4.0, 5.0],
        short_mscale=1.2, long_mscale=1.3, original_max_position_embeddings=16))),
    "llama-yarn": ("Llama", SMALL | dict(rope_parameters=YARN | dict(
        truncate=False, beta_fast=16.0, mscale=1.2, mscale_all_dim=0.8))),
}


def as_published(model):
    """Texts beyond the first context turn by the short factors in transformers, and by the long ones in the code of the published Phi-3.5-MoE."""
    parameters = getattr(model.config, "rope_parameters", None) or {}
    if model.config.model_type == "phimoe" and parameters["rope_type"] == "longrope":
        rotary, longest = model.model.rotary_emb, parameters["original_max_position_embeddings"]
        rotary.rope_init_fn = partial(rotary.rope_init_fn, seq_len=longest + 1)
    return model


def write(name, folder, steps):
    kind, keys = MODELS[name]
    model = drawn(getattr(transformers, f"{kind}Config")(**keys))
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder / "model")
    model = as_published(read(folder / "model"))
    prompt = torch.randint(3, model.config.get_text_config().vocab_size, (1, PROMPT))
    save_file(greedy(model, dict(input_ids=prompt), steps), folder / "expected.safetensors")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[3:] or MODELS:
        write(name, Path(sys.argv[1]) / name, int(sys.argv[2]))
