"""Small language models of random weights in GGUF, in every block format, and what transformers computes with the stored weights.

    python gguf_models.py FOLDER [NAME ..]     writes FOLDER/NAME/model.gguf and FOLDER/NAME/expected.safetensors of each

Blocks are random bytes with sane scales; the package `gguf` says what numbers they stand for. Names and orders of tensors are those of
llama.cpp's converter. `expected.safetensors` is as in `checkpoints.py`.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy
import torch
import transformers
from gguf import GGMLQuantizationType as Type
from safetensors.torch import save_file

import gguf_layers
from checkpoints import LLAMA3, SMALL, drawn, expected

WIDE = SMALL | dict(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
FORMATS = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL",
           "IQ4_XS", "MXFP4", "NVFP4", "IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "TQ1_0", "TQ2_0"]
LAYERS = ["sliding_attention", "full_attention"]
YARN = dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=64)
# The first context ends within the prompt.
MINISTRAL3 = dict(original_max_position_embeddings=16, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.1,
                  beta_fast=16.0, beta_slow=2.0)
LONG = dict(rope_type="longrope", rope_theta=10000.0, short_factor=[1.0 + index / 64 for index in range(32)],
            long_factor=[2.0 + index / 8 for index in range(32)])

LATENT = dict(num_key_value_heads=4, kv_lora_rank=64, qk_nope_head_dim=32, qk_rope_head_dim=16, v_head_dim=32)
QWEN3_EXPERTS = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=256, head_dim=64, norm_topk_prob=True)
ROUTED = dict(n_routed_experts=4, n_shared_experts=1, num_experts_per_tok=2, moe_intermediate_size=256, first_k_dense_replace=1)

# Each model: the architecture in GGUF, the configuration class, the keys, and the format of matrices.
MODELS = {f"{arch}-{form.lower()}": (arch, kind, WIDE | keys, form)
          for arch, kind, keys in [("llama", "Llama", {}), ("qwen3", "Qwen3", dict(head_dim=64, tie_word_embeddings=True)),
                                   ("gemma2", "Gemma2", dict(head_dim=64, sliding_window=9, layer_types=LAYERS,
                                                             query_pre_attn_scalar=64))]
          for form in FORMATS} | {
    "llama3": ("llama", "Llama", WIDE | dict(rope_parameters=LLAMA3, attention_bias=True, mlp_bias=True), "F32"),
    "llama-mix": ("llama", "Llama", WIDE, "MIX"),
    "outliers": ("llama", "Llama", WIDE | dict(hidden_size=1024, num_attention_heads=16), "Q4_K"),
    "mixtral": ("llama", "Mixtral", WIDE | dict(num_local_experts=4), "Q4_0"),
    "qwen2": ("qwen2", "Qwen2", WIDE, "Q8_0"),
    "qwen3moe": ("qwen3moe", "Qwen3Moe", WIDE | QWEN3_EXPERTS, "Q4_K"),
    "qwen3moe-q4_1": ("qwen3moe", "Qwen3Moe", WIDE | QWEN3_EXPERTS, "Q4_1"),
    "qwen3moe-q5_1": ("qwen3moe", "Qwen3Moe", WIDE | QWEN3_EXPERTS, "Q5_1"),
    "qwen3moe-q2_k": ("qwen3moe", "Qwen3Moe", WIDE | QWEN3_EXPERTS, "Q2_K"),
    "deepseek2-q5_1": ("deepseek2", "DeepseekV2", WIDE | LATENT | ROUTED | dict(
        q_lora_rank=None, topk_method="greedy", routed_scaling_factor=1.0), "Q5_1"),
    "qwen2moe": ("qwen2moe", "Qwen2Moe", WIDE | dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=256,
                                                     shared_expert_intermediate_size=256), "Q6_K"),
    "gemma": ("gemma", "Gemma", WIDE | dict(head_dim=64), "Q8_0"),
    "gemma3": ("gemma3", "Gemma3Text", WIDE | dict(num_hidden_layers=6, head_dim=64, sliding_window=9, query_pre_attn_scalar=64,
               rope_parameters=dict(full_attention=dict(rope_type="linear", rope_theta=1000000.0, factor=8.0),
                                    sliding_attention=dict(rope_type="default", rope_theta=10000.0))), "Q4_0"),
    "phi2": ("phi2", "Phi", WIDE, "Q5_0"),
    "phi3": ("phi3", "Phi3", WIDE | dict(rope_parameters=dict(LONG), original_max_position_embeddings=128), "Q4_K"),
    "smollm3": ("smollm3", "SmolLM3", WIDE | dict(num_hidden_layers=4), "Q4_0"),
    "granite": ("granite", "Granite", WIDE | dict(embedding_multiplier=6.0, logits_scaling=3.0, residual_multiplier=0.25,
                                                  attention_multiplier=0.05), "Q5_K"),
    "olmo2": ("olmo2", "Olmo2", WIDE, "Q4_0"),
    "olmo3": ("olmo2", "Olmo3", WIDE | dict(num_hidden_layers=4, sliding_window=9, rope_parameters=dict(
        full_attention=YARN | dict(attention_factor=1.2), sliding_attention=dict(rope_type="default", rope_theta=10000.0))), "Q8_0"),
    "ministral3": ("mistral3", "Ministral3", WIDE | dict(head_dim=64, rope_parameters=YARN | MINISTRAL3), "Q8_0"),
    "mistral-small": ("mistral3", "Mistral", WIDE | dict(head_dim=64, sliding_window=None), "F16"),
    "olmoe": ("olmoe", "Olmoe", WIDE | dict(num_key_value_heads=4, num_experts=4, num_experts_per_tok=2), "Q8_0"),
    "stablelm": ("stablelm", "StableLm", WIDE | dict(partial_rotary_factor=0.5, use_qkv_bias=True), "Q4_0"),
    "stablelm-norms": ("stablelm", "StableLm", WIDE | dict(partial_rotary_factor=0.25, qk_layernorm=True,
                                                           use_parallel_residual=True), "F16"),
    "starcoder2": ("starcoder2", "Starcoder2", WIDE, "Q4_0"),
    "command-r": ("command-r", "Cohere", WIDE | dict(logit_scale=0.25), "Q4_0"),
    "cohere2": ("cohere2", "Cohere2", WIDE | dict(num_hidden_layers=4, sliding_window=9), "Q8_0"),
    "gpt2": ("gpt2", "GPT2", dict(vocab_size=211, n_embd=64, n_head=4, n_layer=2, n_positions=512), "Q4_0"),
    "gptneox": ("gptneox", "GPTNeoX", {key: value for key, value in WIDE.items() if key != "num_key_value_heads"} | dict(
        rotary_pct=0.5), "Q8_0"),
    "nemotron": ("nemotron", "Nemotron", WIDE, "Q4_0"),
    "arcee": ("arcee", "Arcee", WIDE | dict(rope_parameters=YARN), "Q4_0"),
    "seed_oss": ("seed_oss", "SeedOss", WIDE | dict(head_dim=64), "Q4_0"),
    "ernie4_5": ("ernie4_5", "Ernie4_5", WIDE | dict(head_dim=64), "Q4_0"),
    "hunyuan-dense": ("hunyuan-dense", "HunYuanDenseV1", WIDE | dict(head_dim=64), "Q4_0"),
    "deepseek2": ("deepseek2", "DeepseekV2", WIDE | LATENT | ROUTED | dict(
        q_lora_rank=None, n_shared_experts=2, topk_method="group_limited_greedy", n_group=2, topk_group=1, routed_scaling_factor=4.0,
        rope_parameters=YARN | dict(factor=40.0, mscale=0.707, mscale_all_dim=0.707)), "Q4_0"),
    "deepseek3": ("deepseek2", "DeepseekV3", WIDE | LATENT | ROUTED | dict(q_lora_rank=64, n_group=2, topk_group=1), "Q8_0"),
    "glm4moe": ("glm4moe", "Glm4Moe", WIDE | ROUTED | dict(head_dim=64, use_qk_norm=True, attention_bias=True), "Q4_K"),
    "dots1": ("dots1", "Dots1", WIDE | ROUTED | dict(head_dim=64, norm_topk_prob=True, sliding_window=None), "Q4_0"),
    "ernie4_5-moe": ("ernie4_5-moe", "Ernie4_5_Moe", WIDE | dict(moe_num_experts=4, moe_k=2, moe_intermediate_size=256), "Q4_0"),
    "gpt-oss": ("gpt-oss", "GptOss", WIDE | dict(num_local_experts=4, num_experts_per_tok=2, head_dim=64, sliding_window=9,
                                                 layer_types=LAYERS, rope_parameters=YARN | dict(truncate=False)), "MXFP4"),
} | gguf_layers.MODELS

# The converter turns halves of the heads of queries and keys into neighbours.
PERMUTED = {"llama", "mistral3", "smollm3", "granite", "arcee"}
# The converter adds the 1 that the norms lack.
LESS_ONE = {"gemma", "gemma2", "gemma3", "nemotron"}

NAMES = {
    "model.embed_tokens": "token_embd", "transformer.wte": "token_embd", "gpt_neox.embed_in": "token_embd",
    "transformer.wpe": "position_embd", "model.norm": "output_norm", "model.final_layernorm": "output_norm",
    "transformer.ln_f": "output_norm", "gpt_neox.final_layer_norm": "output_norm", "lm_head": "output", "embed_out": "output",
}
PARTS = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.dense": "attn_output", "self_attn.qkv_proj": "attn_qkv", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output",
    "attention.query_key_value": "attn_qkv", "attention.dense": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "self_attn.query_layernorm": "attn_q_norm", "self_attn.key_layernorm": "attn_k_norm",
    "self_attn.sinks": "attn_sinks", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "mlp.gate_up_proj": "ffn_up", "mlp.fc1": "ffn_up", "mlp.fc2": "ffn_down", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down",
    "mlp.dense_h_to_4h": "ffn_up", "mlp.dense_4h_to_h": "ffn_down", "mlp.gate": "ffn_gate_inp", "mlp.router": "ffn_gate_inp",
    "mlp.experts.down_proj": "ffn_down_exps", "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
    "mlp.shared_expert.up_proj": "ffn_up_shexp", "mlp.shared_expert.down_proj": "ffn_down_shexp",
    "mlp.shared_experts.gate_proj": "ffn_gate_shexp", "mlp.shared_experts.up_proj": "ffn_up_shexp",
    "mlp.shared_experts.down_proj": "ffn_down_shexp", "self_attn.q_a_proj": "attn_q_a", "self_attn.q_a_layernorm": "attn_q_a_norm",
    "self_attn.q_b_proj": "attn_q_b", "self_attn.kv_a_proj_with_mqa": "attn_kv_a_mqa", "self_attn.kv_a_layernorm": "attn_kv_a_norm",
    "mlp.shared_expert_gate": "ffn_gate_inp_shexp", "input_layernorm": "attn_norm", "ln_1": "attn_norm", "ln_2": "ffn_norm",
    "post_attention_layernorm": "ffn_norm",
}
AROUND = {"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
          "post_feedforward_layernorm": "post_ffw_norm"}


def place(arch, name):
    """The name of a tensor in GGUF."""
    module, _, ending = name.rpartition(".")
    if ending not in ("weight", "bias"):
        module, ending = name, "weight"
    if module in NAMES:
        return f"{NAMES[module]}.{ending}"
    parts = module.split(".")
    at = next(index for index, part in enumerate(parts) if part.isdigit())
    part = ".".join(parts[at + 1:])
    parts_of = PARTS | (AROUND if arch in ("gemma2", "gemma3", "olmo2") else {})
    parts_of |= {"post_attention_layernorm": "post_attention_norm"} if arch == "gpt-oss" else {}
    return f"blk.{parts[at]}.{parts_of[part]}.{ending}"


def permuted(rows, heads):
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def changed(arch, config, name, array):
    """What the converter makes of a tensor: pairs of names and arrays."""
    if arch in gguf_layers.ARCHITECTURES:
        return gguf_layers.changed(arch, config, name, array)
    heads = config.num_attention_heads
    if arch in PERMUTED and ".q_proj" in name:
        array = permuted(array, heads)
    if arch in PERMUTED and ".k_proj" in name:
        array = permuted(array, config.num_key_value_heads)
    if arch in LESS_ONE and "norm" in name and name.endswith("weight"):
        array = array + 1
    if arch == "gpt2" and array.ndim == 2 and ("c_" in name):
        array = array.T
    if arch == "gptneox" and "query_key_value" in name:
        array = array.reshape(heads, 3, -1, *array.shape[1:]).swapaxes(0, 1).reshape(array.shape)
    if ".experts.gate_up_proj" in name:
        layer = f"blk.{name.split('.')[2]}"
        ending = "bias" if name.endswith("bias") else "weight"
        if arch == "gpt-oss":
            array = array if ending == "bias" else array.swapaxes(1, 2)
            halves = [array[:, 0::2], array[:, 1::2]]
        else:
            halves = numpy.split(array, 2, axis=1)
        return [(f"{layer}.ffn_{half}_exps.{ending}", rows) for half, rows in zip(["gate", "up"], halves)]
    if ".experts.down_proj" in name:
        if arch == "gpt-oss" and not name.endswith("bias"):
            array = array.swapaxes(1, 2)
        layer, ending = f"blk.{name.split('.')[2]}", "bias" if name.endswith("bias") else "weight"
        return [(f"{layer}.ffn_down_exps.{ending}", array)]
    if "layernorm.norms" in name:
        return [(name, array)]
    layer = f"blk.{name.split('.')[2]}" if ".layers." in name else ""
    if "kv_b_proj" in name:
        keys, values = numpy.split(array.reshape(heads, -1, config.kv_lora_rank), [config.qk_nope_head_dim], 1)
        return [(f"{layer}.attn_k_b.weight", keys.swapaxes(1, 2)), (f"{layer}.attn_v_b.weight", values)]
    if name.endswith("correction_bias"):
        return [(f"{layer}.exp_probs_b.bias", array.reshape(-1))]
    return [(place(arch, name), array)]


def undone(arch, config, name, arrays):
    """The inverse of `changed` for what came out of blocks."""
    if arch in gguf_layers.ARCHITECTURES:
        return gguf_layers.undone(arch, config, name, arrays)
    heads, array = config.num_attention_heads, arrays[0]
    if "kv_b_proj" in name:
        return numpy.concatenate([arrays[0].swapaxes(1, 2), arrays[1]], 1).reshape(-1, config.kv_lora_rank)
    back = lambda rows, heads: rows.reshape(heads, rows.shape[0] // heads // 2, 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)
    if arch in PERMUTED and ".q_proj" in name:
        return back(array, heads)
    if arch in PERMUTED and ".k_proj" in name:
        return back(array, config.num_key_value_heads)
    if arch == "gpt2" and array.ndim == 2 and ("c_" in name):
        return array.T
    if arch == "gptneox" and "query_key_value" in name:
        return array.reshape(3, heads, -1, *array.shape[1:]).swapaxes(0, 1).reshape(array.shape)
    if ".experts.gate_up_proj" in name:
        if arch != "gpt-oss":
            return numpy.concatenate(arrays, 1)
        both = numpy.stack(arrays, 2).reshape(array.shape[0], -1, *array.shape[2:])
        return both if name.endswith("bias") else both.swapaxes(1, 2)
    if ".experts.down_proj" in name and arch == "gpt-oss" and not name.endswith("bias"):
        return array.swapaxes(1, 2)
    return array


# The places of half-precision scales in a block, with their magnitude in units of the wanted one, and of bytes that are exponents.
HALVES = {"Q4_0": {0: 0.1}, "Q4_1": {0: 0.1, 2: -0.8}, "Q5_0": {0: 0.06}, "Q5_1": {0: 0.06, 2: -0.9}, "Q8_0": {0: 0.014},
          "Q2_K": {80: 0.06, 82: 0.1}, "Q3_K": {108: 0.02}, "Q4_K": {0: 0.004, 2: 0.03}, "Q5_K": {0: 0.002, 2: 0.03},
          "Q6_K": {208: 0.0006}, "IQ4_NL": {0: 0.013}, "IQ4_XS": {0: 0.0008}, "MXFP4": {}, "NVFP4": {}, "IQ1_S": {0: 0.1},
          "IQ1_M": {}, "IQ2_XXS": {0: 0.012}, "IQ2_XS": {0: 0.012}, "IQ2_S": {0: 0.012}, "IQ3_XXS": {0: 0.005}, "IQ3_S": {0: 0.004},
          "TQ1_0": {52: 0.8}, "TQ2_0": {64: 0.8}}


def blocks(random, form, shape, magnitude):
    """Random blocks of a shape, as bytes."""
    size, width = gguf.GGML_QUANT_SIZES[Type[form]]
    count = int(numpy.prod(shape)) // size
    made = random.integers(0, 256, (count, width), dtype=numpy.uint8)
    for start, factor in HALVES[form].items():
        scales = magnitude * factor * random.uniform(0.5, 1.5, (count, 1))
        made[:, start:start + 2] = scales.astype(numpy.float16).view(numpy.uint8)
    if form == "Q4_0":
        made[::3, 1] |= 0x80  # Scales of either sign.
    if form == "MXFP4":
        made[:, 0] = 127 + numpy.round(numpy.log2(magnitude / 3)) + random.integers(-1, 2, count)
    if form == "NVFP4":
        made[:, :4] = random.integers(4, 13, (count, 4))
    if form == "IQ1_M":
        # The scale lies in the high bits of four numbers.
        scales = (magnitude * 0.1 * random.uniform(0.5, 1.5, count)).astype(numpy.float16).view(numpy.uint16)
        for part in range(4):
            high = (scales >> (4 * part) & 15).astype(numpy.uint8) << 4
            made[:, 49 + 2 * part] = made[:, 49 + 2 * part] & 15 | high
    return made.reshape(*shape[:-1], -1)


def stored(random, form, array):
    """The numbers that a format has in place of an array, with the bytes of the file."""
    if array.ndim == 1 or form == "F32":
        return array, numpy.ascontiguousarray(array, numpy.float32), Type.F32
    if form in ("F16", "BF16"):
        as_stored = gguf.quants.quantize(numpy.ascontiguousarray(array), Type[form])
        return gguf.quants.dequantize(as_stored, Type[form]), as_stored, Type[form]
    if array.shape[-1] % gguf.GGML_QUANT_SIZES[Type[form]][0]:
        return stored(random, "F32", array)
    as_stored = blocks(random, form, array.shape, 1.7 / array.shape[-1] ** 0.5)
    return gguf.quants.dequantize(as_stored, Type[form]), as_stored, Type[form]


def keys(writer, arch, config):
    """The metadata as the converter writes it."""
    if arch in gguf_layers.ARCHITECTURES:
        return gguf_layers.keys(writer, arch, config)
    get = lambda *names: next((getattr(config, name) for name in names if getattr(config, name, None) is not None), None)
    heads, width = config.num_attention_heads, config.hidden_size
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(width)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(get("intermediate_size", "n_inner") or 4 * width)
    writer.add_head_count(heads)
    latent = get("kv_lora_rank")
    writer.add_head_count_kv(1 if latent else get("num_key_value_heads") or heads)
    depth = get("head_dim") or width // heads
    if latent:
        writer.add_key_length(latent + depth)
        writer.add_value_length(latent)
        writer.add_key_length_mla(config.qk_nope_head_dim + depth)
        writer.add_value_length_mla(config.v_head_dim)
        writer.add_kv_lora_rank(latent)
        if config.q_lora_rank:
            writer.add_q_lora_rank(config.q_lora_rank)
    elif get("head_dim"):
        writer.add_key_length(depth)
        writer.add_value_length(depth)
    epsilon = get("rms_norm_eps")
    if epsilon is not None:
        writer.add_layer_norm_rms_eps(epsilon)
    else:
        writer.add_layer_norm_eps(get("layer_norm_eps", "norm_epsilon", "norm_eps", "layer_norm_epsilon"))
    rope = get("rope_parameters") or {}
    rope = rope.get("full_attention", rope)
    if rope.get("rope_theta"):
        writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_dimension_count(int(depth * rope.get("partial_rotary_factor", 1.0)))
    if rope.get("rope_type") in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(rope["rope_type"]))
        writer.add_rope_scaling_factor(rope["factor"])
        if rope["rope_type"] == "yarn":
            writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
            for key, add in [("attention_factor", writer.add_rope_scaling_attn_factors),
                             ("beta_fast", writer.add_rope_scaling_yarn_beta_fast),
                             ("beta_slow", writer.add_rope_scaling_yarn_beta_slow),
                             ("mscale_all_dim", writer.add_rope_scaling_yarn_log_mul),
                             ("llama_4_scaling_beta", writer.add_attn_temperature_scale)]:
                if key in rope:
                    add(rope[key] * (0.1 if key == "mscale_all_dim" and latent else 1))
    if rope.get("rope_type") == "longrope":
        writer.add_rope_scaling_orig_ctx_len(config.original_max_position_embeddings)
    if get("sliding_window") and arch in ("gemma2", "gemma3", "cohere2", "gpt-oss"):
        writer.add_sliding_window(config.sliding_window)
    if arch == "olmo2" and get("sliding_window"):
        writer.add_sliding_window(config.sliding_window)
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])
    experts = get("num_experts", "num_local_experts")
    if experts:
        writer.add_expert_count(experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        writer.add_expert_feed_forward_length(get("moe_intermediate_size", "intermediate_size"))
    shared = get("n_shared_experts", "moe_num_shared_experts")
    if shared:
        writer.add_expert_shared_count(shared)
        writer.add_leading_dense_block_count(get("first_k_dense_replace", "moe_layer_start_index"))
    if get("moe_layer_interval"):
        writer.add_interleave_moe_layer_step(config.moe_layer_interval)
    if get("n_routed_experts"):
        is_sigmoid = arch != "deepseek2" or config.model_type == "deepseek_v3"
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID if is_sigmoid else gguf.ExpertGatingFuncType.SOFTMAX)
        writer.add_expert_weights_scale(config.routed_scaling_factor)
        writer.add_expert_weights_norm(config.norm_topk_prob)
        if (config.n_group or 1) > 1:
            writer.add_expert_group_count(config.n_group)
            writer.add_expert_group_used_count(config.topk_group)
    if get("shared_expert_intermediate_size"):
        writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
    if get("attn_logit_softcapping"):
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
    if get("final_logit_softcapping"):
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if arch == "granite":
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    if get("logit_scale"):
        writer.add_logit_scale(config.logit_scale)
    if arch in ("gptneox", "stablelm"):
        writer.add_parallel_residual(config.use_parallel_residual)


def factors(writer, arch, model):
    """Factors of the wavelengths, which the converter writes as tensors."""
    rope = getattr(model.config, "rope_parameters", None) or {}
    if rope.get("rope_type") == "llama3":
        plain = rope["rope_theta"] ** (-numpy.arange(0, 64, 2, dtype=numpy.float64) / 64)
        writer.add_tensor("rope_freqs.weight", (plain / model.model.rotary_emb.inv_freq.numpy()).astype(numpy.float32))
    if rope.get("rope_type") == "longrope":
        for name in ("long", "short"):
            writer.add_tensor(f"rope_factors_{name}.weight", numpy.array(rope[f"{name}_factor"], numpy.float32))
        factor = model.config.max_position_embeddings / model.config.original_max_position_embeddings
        attention = (1 + numpy.log(factor) / numpy.log(model.config.original_max_position_embeddings)) ** 0.5
        writer.add_rope_scaling_attn_factors(float(attention))


TEXTS = ["Once there was a fox, and the fox's den was 1234 steps from home.", "  two  spaces, and a\n\nnew paragraph\t!",
         "Füchse jagen nachts; 狐は夜に狩る。", "<|im_start|>user\nHi<|im_end|>\n", "don't DON'T we'll 3.14159 (x+y)^2 == 0"]


def corpus():
    text = Path(__file__).read_text() + "\n".join(TEXTS)
    return text.splitlines() + TEXTS * 3


def tokens_of_bytes(writer, count, name="qwen2"):
    """A tokenizer of bytes, trained here, and what Hugging Face's library makes of the texts."""
    import tokenizers
    from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers
    pattern = {"qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
               "llama-bpe": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"}[name]
    made = tokenizers.Tokenizer(models.BPE(ignore_merges=name == "llama-bpe"))
    if name == "qwen2":
        made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                                  pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    made.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    made.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=count - 4, special_tokens=special, show_progress=False,
                                                           initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    parts = json.loads(made.to_str())
    texts = [made.id_to_token(token) for token in range(made.get_vocab_size())]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(name)
    writer.add_token_list(texts)
    writer.add_token_types([3 if text in special else 1 for text in texts])
    writer.add_token_merges([" ".join(merge) for merge in parts["model"]["merges"]])
    writer.add_eos_token_id(2)
    begins = name == "llama-bpe"
    if begins:
        writer.add_bos_token_id(0)
    return [[text, [0] * begins + made.encode(text).ids] for text in TEXTS]


def tokens_of_pieces(writer, count):
    """A tokenizer of pieces, trained here, and what SentencePiece makes of the texts."""
    import io
    import sentencepiece
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(corpus()), model_writer=model, vocab_size=count - 4,
                                             model_type="bpe", byte_fallback=True, normalization_rule_name="identity",
                                             remove_extra_whitespaces=False, character_coverage=0.98, minloglevel=2,
                                             user_defined_symbols=["<|im_start|>", "<|im_end|>"])
    made = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    every = range(made.vocab_size())
    kinds = [2 if made.is_unknown(token) else 3 if made.is_control(token) else 6 if made.is_byte(token) else
             4 if made.id_to_piece(token).startswith("<|") else 1 for token in every]
    writer.add_tokenizer_model("llama")
    writer.add_token_list([made.id_to_piece(token) for token in every])
    writer.add_token_scores([made.get_score(token) for token in every])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(made.bos_id())
    writer.add_eos_token_id(made.eos_id())
    # A text with special tokens: Hugging Face's tokenizers begin anew behind each, as llama.cpp does, and SentencePiece does not.
    return [[text, [made.bos_id()] + made.encode(text)] for text in TEXTS if "<|" not in text]


def tokens_of_merges(writer, count):
    """A tokenizer of pieces with a list of merges, as Gemma 4 has, trained here, and what Hugging Face's library makes of the texts."""
    import tokenizers
    from tokenizers import models, normalizers, trainers
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<|im_start|>", "<|im_end|>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    made = tokenizers.Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    made.normalizer = normalizers.Replace(" ", "▁")
    lines = [piece for line in corpus() for piece in line.split("狐")]
    made.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=count - 4, special_tokens=special, show_progress=False, max_token_length=16))
    merges = json.loads(made.to_str())["model"]["merges"]
    texts = [made.id_to_token(token) for token in range(made.get_vocab_size())]
    kinds = {"<unk>": 2, "<pad>": 3, "<eos>": 3, "<bos>": 3, "<|im_start|>": 4, "<|im_end|>": 4}
    writer.add_tokenizer_model("gemma4")
    writer.add_token_list(texts)
    writer.add_token_scores([0.0] * len(texts))
    writer.add_token_types([kinds.get(text, 6 if text.startswith("<0x") else 1) for text in texts])
    writer.add_token_merges([" ".join(merge) for merge in merges])
    writer.add_bos_token_id(2)
    writer.add_eos_token_id(1)
    writer.add_add_space_prefix(False)
    return [[text, [2] + made.encode(text).ids] for text in TEXTS]


# Models with a tokenizer: texts.json has texts, each with the tokens.
TOKENIZERS = {"gemma4": tokens_of_merges, "qwen3-f32": tokens_of_bytes, "llama3": lambda *of: tokens_of_bytes(*of, "llama-bpe"), "llama-f32": tokens_of_pieces}


def tokens(writer, count):
    """A tokenizer of pieces with single characters, which no test reads."""
    texts = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    texts = (texts + [f"▁w{index}" for index in range(count)])[:count]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(texts)
    writer.add_token_scores([-float(index) for index in range(count)])
    writer.add_token_types([2, 3, 3] + [6] * (count - 3))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def write(name, folder):
    arch, kind, config, form = MODELS[name]
    random = numpy.random.default_rng(7)
    config = config | {key: 600 for key in ("vocab_size", "vocab_size_per_layer_input") if key in config and name in TOKENIZERS}
    model = drawn(getattr(transformers, f"{kind}Config")(**config))
    if name == "outliers":
        # Some channels are far greater than others, as in large trained models.
        with torch.no_grad():
            for norm in [parameter for name, parameter in model.named_parameters() if name.endswith("layernorm.weight")]:
                norm[3] *= 20
    folder.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(folder / "model.gguf", arch)
    keys(writer, arch, model.config)
    texts = TOKENIZERS.get(name, tokens)(writer, model.config.vocab_size)
    if texts:
        (folder / "texts.json").write_text(json.dumps(texts))
    factors(writer, arch, model)
    listed, turn = {}, 0
    endings = ("correction_bias", "expert_bias", "layer_scalar")
    corrections = [(name, buffer) for name, buffer in model.named_buffers() if name.endswith(endings)]
    for name, parameter in [*model.named_parameters(), *corrections]:
        arrays = []
        for place_of, array in changed(arch, model.config, name, parameter.detach().numpy()):
            if "layernorm.norms" in place_of:
                parts = place_of.split(".")
                role = "attn_q_norm" if "q_layernorm" in place_of else "attn_k_norm"
                listed.setdefault(f"blk.{parts[2]}.{role}.weight", []).append(array)
                arrays.append(array)
                continue
            if place_of.startswith("altup_"):
                listed.setdefault(place_of, []).append(array)
                arrays.append(array)
                continue
            turn += array.ndim > 1
            of = FORMATS[turn % len(FORMATS)] if form == "MIX" else form
            # The converter keeps positions, norms, biases of experts and routers as they are.
            plain = "position_embd" in place_of or place_of.endswith(("bias", "ssm_norm.weight")) or "ffn_gate_inp" in place_of
            numbers, as_stored, code = stored(random, "F32" if plain else of, array)
            writer.add_tensor(place_of, as_stored, raw_dtype=code)
            arrays.append(numbers)
        with torch.no_grad():
            numbers = numpy.ascontiguousarray(undone(arch, model.config, name, arrays), numpy.float32)
            if arch in LESS_ONE and "norm" in name and name.endswith("weight"):
                numbers = numbers - 1
            parameter.copy_(torch.from_numpy(numbers))
    for role, rows in listed.items():
        writer.add_tensor(role, numpy.stack(rows))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    save_file(expected(model), folder / "expected.safetensors")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[2:] or MODELS:
        write(name, Path(sys.argv[1]) / name)
