"""What llama.cpp's converter makes of models whose layers differ: Gemma 3n and 4, Qwen3-Next and 3.5, LFM2, Granite 4, Nemotron-H. Names are those of the package `gguf`."""

import gguf
import numpy

from checkpoints import SMALL

WIDE = SMALL | dict(hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2)
LAYERS = ["sliding_attention", "full_attention"] * 2
LINEAR = ["linear_attention", "full_attention"]
PARTS = dict(sliding_window=9, vocab_size_per_layer_input=211, hidden_size_per_layer_input=32, num_kv_shared_layers=2, layer_types=LAYERS)
DELTA = dict(linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=32, linear_value_head_dim=32, head_dim=64,
             num_hidden_layers=2, layer_types=LINEAR)
EXPERTS = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=256, shared_expert_intermediate_size=256)
ALONE = dict(head_dim=64, mamba_num_heads=6, mamba_head_dim=32, ssm_state_size=24, n_groups=2, time_step_min=1e-30)
SCALED = dict(mamba_n_heads=8, mamba_d_head=64, mamba_d_state=32, num_hidden_layers=2, layer_types=LINEAR, embedding_multiplier=3.0,
              residual_multiplier=0.5, attention_multiplier=0.125, logits_scaling=2.0)
MIXED = dict(head_dim=32, sliding_window=9, layer_types=LAYERS, hidden_size_per_layer_input=0, global_head_dim=64,
             num_global_key_value_heads=1, attention_k_eq_v=True)

# Each model: the architecture in GGUF, the configuration class, the keys, and the format of matrices.
MODELS = {
    "gemma3n": ("gemma3n", "Gemma3nText", WIDE | PARTS | dict(
        head_dim=64, laurel_rank=32, activation_sparsity_pattern=[0.9, 0.0, 0.5, 0.0]), "Q8_0"),
    "gemma4": ("gemma4", "Gemma4Text", WIDE | PARTS | dict(head_dim=32, global_head_dim=64, use_double_wide_mlp=True), "Q4_0"),
    "gemma4-experts": ("gemma4", "Gemma4Text", WIDE | MIXED | dict(
        enable_moe_block=True, num_experts=4, top_k_experts=2, moe_intermediate_size=256, final_logit_softcapping=20.0), "Q4_K"),
    "qwen3next": ("qwen3next", "Qwen3Next", WIDE | DELTA | EXPERTS, "Q8_0"),
    "qwen35": ("qwen35", "Qwen3_5Text", WIDE | DELTA, "Q4_0"),
    "qwen35moe": ("qwen35moe", "Qwen3_5MoeText", WIDE | DELTA | EXPERTS | dict(linear_num_value_heads=6), "Q4_K"),
    "lfm2": ("lfm2", "Lfm2", WIDE | dict(layer_types=["conv", "full_attention"] * 2, block_auto_adjust_ff_dim=False), "Q4_0"),
    "lfm2moe": ("lfm2moe", "Lfm2Moe", WIDE | dict(
        layer_types=["conv", "full_attention"] * 2, num_dense_layers=1, num_experts=4, num_experts_per_tok=2,
        moe_intermediate_size=256), "Q8_0"),
}

MODELS |= {
    "granite-hybrid": ("granitehybrid", "GraniteMoeHybrid", WIDE | SCALED | dict(
        num_local_experts=4, num_experts_per_tok=2, shared_intermediate_size=256, mamba_n_groups=2), "Q4_0"),
    "granite-hybrid-dense": ("granitehybrid", "GraniteMoeHybrid", WIDE | SCALED | dict(
        num_local_experts=0, shared_intermediate_size=512, mamba_proj_bias=False), "Q8_0"),
    "nemotron-h": ("nemotron_h", "NemotronH", WIDE | ALONE | dict(
        layers_block_type=["linear_attention", "mlp", "full_attention", "linear_attention", "mlp"]), "Q4_0"),
    "nemotron-h-moe": ("nemotron_h_moe", "NemotronH", WIDE | ALONE | dict(
        layers_block_type=["linear_attention", "moe", "full_attention", "moe"], n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=256,
        moe_shared_expert_intermediate_size=512, routed_scaling_factor=2.5), "Q8_0"),
}

ARCHITECTURES = {arch for arch, *_ in MODELS.values()}
# The converter adds the 1 that norms lack, but for the norm of linear attention.
LESS_ONE = {"qwen3next", "qwen35", "qwen35moe"}
# State spaces of Mamba 2, whose heads and groups are rows.
SCANS = {"granitehybrid", "nemotron_h", "nemotron_h_moe"}
# The converter puts the heads of values in turns.
TILED = {"qwen35", "qwen35moe"}


def mapped(arch, config, name):
    """The name of a tensor in GGUF."""
    names = gguf.get_tensor_name_map(next(key for key, known in gguf.MODEL_ARCH_NAMES.items() if known == arch), config.num_hidden_layers)
    if name.endswith((".dt_bias", ".expert_bias")):
        name = name.replace(".dt_bias", ".dt_proj.bias").replace(".expert_bias", ".expert_bias.bias")
    if arch.startswith("nemotron_h"):
        name = name.replace("model.", "backbone.", 1).replace("e_score_correction_bias", "e_score_correction.bias")
    if not name.endswith((".weight", ".bias", ".A_log", ".D")):
        name += ".weight"
    return names.get_name(name, try_suffixes=(".weight", ".bias"))


def in_turns(array, axis, config, depth):
    """Heads of values in turns, and with the counts exchanged in groups again."""
    keys, group = config
    shape = array.shape[:axis] + (keys, group, depth) + array.shape[axis + 1:]
    return array.reshape(shape).swapaxes(axis, axis + 1).reshape(array.shape)


def tiled(config, name, array, is_back=False):
    """A tensor of linear attention with heads of values in turns."""
    keys, values = config.linear_num_key_heads, config.linear_num_value_heads
    counts = (values // keys, keys) if is_back else (keys, values // keys)
    depth, first = config.linear_value_head_dim, 2 * keys * config.linear_key_head_dim
    if "in_proj_qkv" in name or "conv1d" in name:
        return numpy.concatenate([array[:first], in_turns(array[first:], 0, counts, depth)])
    if "in_proj_z" in name:
        return in_turns(array, 0, counts, depth)
    if "out_proj" in name:
        return in_turns(array, 1, counts, depth)
    if name.endswith(("A_log", "dt_bias")) or "in_proj_a" in name or "in_proj_b" in name:
        return in_turns(array, 0, counts, 1)
    return array


def apart(config, array):
    """Queries, keys and values one behind the other, and gates, of rows that are ordered by head of keys."""
    keys, width = config.linear_num_key_heads, config.linear_key_head_dim
    group = config.linear_num_value_heads // keys * config.linear_value_head_dim
    by_head = array.reshape(keys, -1, array.shape[-1])
    query, key, value, gate = numpy.split(by_head, [width, 2 * width, 2 * width + group], 1)
    flat = lambda rows: rows.reshape(-1, array.shape[-1])
    return [numpy.concatenate([flat(query), flat(key), flat(value)]), flat(gate)]


def together(config, rows, gate):
    keys, width = config.linear_num_key_heads, config.linear_key_head_dim
    by_head = lambda part: part.reshape(keys, -1, rows.shape[-1])
    query, key, value = numpy.split(rows, [keys * width, 2 * keys * width])
    return numpy.concatenate([by_head(query), by_head(key), by_head(value), by_head(gate)], 1).reshape(-1, rows.shape[-1])


def changed(arch, config, name, array):
    """What the converter makes of a tensor: pairs of names and arrays."""
    layer = f"blk.{name.split('.')[2]}" if ".layers." in name else ""
    if "altup_projections" in name or "altup_unembed_projections" in name:
        return [("altup_proj.weight" if "altup_projections" in name else "altup_unembd_proj.weight", array)]
    if name.endswith("in_proj_qkvz.weight"):
        rows, gate = apart(config, array)
        return [(f"{layer}.attn_qkv.weight", rows), (f"{layer}.attn_gate.weight", gate)]
    if arch in TILED and ".linear_attn." in name:
        array = tiled(config, name, array)
    if ".A_log" in name:
        array = -numpy.exp(array)
    if arch in SCANS and name.endswith((".A_log", ".D")):
        array = array[:, None]
    if arch in SCANS and name.endswith(("mixer.norm.weight", "mamba.norm.weight")):
        array = array.reshape(getattr(config, "n_groups", None) or config.mamba_n_groups, -1)
    if name.endswith("input_linear.weight"):
        end = "exps" if array.ndim == 3 else "shexp" if config.num_local_experts else ""
        halves = numpy.split(array, 2, axis=array.ndim - 2)
        return [("_".join(filter(None, [f"{layer}.ffn_{half}", end])) + ".weight", rows) for half, rows in zip(["gate", "up"], halves)]
    if name.endswith("block_sparse_moe.output_linear.weight"):
        return [(f"{layer}.ffn_down_exps.weight", array)]
    if name.endswith("block_sparse_moe.router.weight"):
        return [(f"{layer}.ffn_gate_inp.weight", array)]
    if name.endswith("shared_mlp.output_linear.weight") and not config.num_local_experts:
        return [(f"{layer}.ffn_down.weight", array)]
    if name.endswith((".experts.up_proj", ".experts.down_proj")) and arch == "nemotron_h_moe":
        return [(f"{layer}.ffn_{'up' if 'up_proj' in name else 'down'}_exps.weight", array)]
    if "conv1d.weight" in name or name.endswith("conv.conv.weight"):
        array = array.squeeze(1)
    if arch in LESS_ONE and name.endswith("norm.weight") and not name.endswith("linear_attn.norm.weight"):
        array = array + 1
    if name.endswith("router.scale"):
        return [(f"{layer}.ffn_gate_inp.scale", array)]
    if name.endswith("per_expert_scale"):
        return [(f"{layer}.ffn_down_exps.scale", array)]
    if ".experts.gate_up_proj" in name and arch != "gemma4":
        return [(f"{layer}.ffn_{half}_exps.weight", rows) for half, rows in zip(["gate", "up"], numpy.split(array, 2, axis=1))]
    if ".experts.down_proj" in name:
        return [(f"{layer}.ffn_down_exps.weight", array)]
    if name.endswith("shared_expert_gate.weight"):
        array = array.reshape(-1)
    return [(mapped(arch, config, name), array)]


def undone(arch, config, name, arrays):
    """The inverse of `changed` for what came out of blocks."""
    array = arrays[0]
    if name.endswith("in_proj_qkvz.weight"):
        return together(config, *arrays)
    if "conv1d.weight" in name or name.endswith("conv.conv.weight"):
        array = array[:, None]
    if name.endswith("shared_mlp.input_linear.weight"):
        return numpy.concatenate(arrays)
    if arch in SCANS and name.endswith((".A_log", ".D", "mixer.norm.weight", "mamba.norm.weight")):
        array = array.reshape(-1)
    if ".A_log" in name:
        array = numpy.log(-array)
    if arch in TILED and ".linear_attn." in name:
        array = tiled(config, name, array, is_back=True)
    if arch in LESS_ONE and name.endswith("norm.weight") and not name.endswith("linear_attn.norm.weight"):
        array = array - 1
    if name.endswith("shared_expert_gate.weight"):
        array = array[None]
    return numpy.concatenate(arrays, 1) if len(arrays) > 1 else array


def keys(writer, arch, config):
    """The metadata as the converter writes it."""
    get = lambda name: getattr(config, name, None)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    if arch.startswith("nemotron_h"):
        writer.add_layer_norm_eps(config.layer_norm_epsilon)
    else:
        writer.add_layer_norm_rms_eps(config.norm_eps if arch.startswith("lfm2") else config.rms_norm_eps)
    if get("intermediate_size"):
        writer.add_feed_forward_length(config.intermediate_size)
    if get("num_experts") and arch != "granitehybrid":
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(get("num_experts_per_tok") or config.top_k_experts)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    dict(gemma3n=keys_of_gemma3n, gemma4=keys_of_gemma4, granitehybrid=keys_of_granite, nemotron_h=keys_of_nemotron, nemotron_h_moe=keys_of_nemotron).get(arch, keys_of_hybrid)(writer, arch, config)


def keys_of_gemma3n(writer, arch, config):
    from torch import tensor
    from torch.distributions.normal import Normal
    keys_of_gemma(writer, config)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_altup_active_idx(config.altup_active_idx)
    writer.add_altup_num_inputs(config.altup_num_inputs)
    writer.add_activation_sparsity_scale([Normal(0, 1).icdf(tensor(share)).item() for share in config.activation_sparsity_pattern])


def keys_of_gemma(writer, config):
    ropes = config.rope_parameters
    writer.add_rope_freq_base(ropes["full_attention"]["rope_theta"])
    writer.add_rope_freq_base_swa(ropes["sliding_attention"]["rope_theta"])
    writer.add_sliding_window(config.sliding_window)
    writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])
    writer.add_shared_kv_layers(config.num_kv_shared_layers)
    writer.add_embedding_length_per_layer_input(config.hidden_size_per_layer_input)
    if config.final_logit_softcapping:
        writer.add_final_logit_softcapping(config.final_logit_softcapping)


def keys_of_gemma4(writer, arch, config):
    keys_of_gemma(writer, config)
    kinds = [config.per_layer_config[index] for index in range(config.num_hidden_layers)]
    depths = {kind: of.head_dim for kind, of in zip(config.layer_types, kinds)}
    writer.add_key_length(depths["full_attention"])
    writer.add_value_length(depths["full_attention"])
    writer.add_key_length_swa(depths["sliding_attention"])
    writer.add_value_length_swa(depths["sliding_attention"])
    heads = [of.num_key_value_heads for of in kinds]
    writer.add_head_count_kv(heads if len(set(heads)) > 1 else heads[0])
    if config.use_double_wide_mlp:
        first = config.num_hidden_layers - config.num_kv_shared_layers
        widths = [config.intermediate_size * (1 if index < first else 2) for index in range(config.num_hidden_layers)]
        writer.kv_data[0].pop(f"{arch}.feed_forward_length")
        writer.add_feed_forward_length(widths)
    writer.add_rope_dimension_count(depths["full_attention"])
    writer.add_rope_dimension_count_swa(depths["sliding_attention"])
    pairs = depths["full_attention"] // 2
    turned = int(pairs * config.rope_parameters["full_attention"]["partial_rotary_factor"])
    writer.add_tensor("rope_freqs.weight", numpy.array([1.0] * turned + [1e30] * (pairs - turned), numpy.float32))


def keys_of_states(writer, kernel, size, groups, heads, depth):
    writer.add_ssm_conv_kernel(kernel)
    writer.add_ssm_state_size(size)
    writer.add_ssm_group_count(groups)
    writer.add_ssm_time_step_rank(heads)
    writer.add_ssm_inner_size(heads * depth)


def keys_of_granite(writer, arch, config):
    writer.add_head_count_kv([config.num_key_value_heads if kind == "full_attention" else 0 for kind in config.layer_types])
    writer.add_embedding_scale(config.embedding_multiplier)
    writer.add_residual_scale(config.residual_multiplier)
    writer.add_attention_scale(config.attention_multiplier)
    writer.add_logit_scale(config.logits_scaling)
    writer.add_expert_shared_feed_forward_length(config.shared_intermediate_size)
    writer.add_rope_scaling_finetuned(False)
    keys_of_states(writer, config.mamba_d_conv, config.mamba_d_state, config.mamba_n_groups, config.mamba_n_heads, config.mamba_d_head)
    if config.num_local_experts:
        writer.add_expert_count(config.num_local_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)


def keys_of_nemotron(writer, arch, config):
    kinds = config.layers_block_type
    writer.add_head_count_kv([config.num_key_value_heads if kind == "full_attention" else 0 for kind in kinds])
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.kv_data[0].pop(f"{arch}.feed_forward_length")
    width = config.moe_intermediate_size if arch == "nemotron_h_moe" else config.intermediate_size
    writer.add_feed_forward_length([width if kind in ("mlp", "moe") else 0 for kind in kinds])
    writer.add_rope_scaling_finetuned(False)
    keys_of_states(writer, config.conv_kernel, config.ssm_state_size, config.n_groups, config.mamba_num_heads, config.mamba_head_dim)
    if arch == "nemotron_h_moe":
        writer.add_expert_count(config.n_routed_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
        writer.add_expert_shared_feed_forward_length(config.moe_shared_expert_intermediate_size)
        writer.add_expert_shared_count(config.n_shared_experts)
        writer.add_expert_weights_norm(config.norm_topk_prob)
        writer.add_expert_weights_scale(config.routed_scaling_factor)
        writer.add_expert_group_count(config.n_group)


def keys_of_hybrid(writer, arch, config):
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    if arch.startswith("lfm2"):
        writer.add_head_count_kv([config.num_key_value_heads if kind == "full_attention" else 0 for kind in config.layer_types])
        writer.add_shortconv_l_cache(config.conv_L_cache)
        if arch == "lfm2moe":
            writer.add_leading_dense_block_count(config.num_dense_layers)
            writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
        return
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(int(config.head_dim * config.rope_parameters.get("partial_rotary_factor", 0.25)))
    if arch in TILED:
        writer.add_rope_dimension_sections([11, 11, 10, 0])
    if getattr(config, "shared_expert_intermediate_size", None):
        writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
    keys_of_states(writer, config.linear_conv_kernel_dim, config.linear_key_head_dim, config.linear_num_key_heads,
                   config.linear_num_value_heads, config.linear_value_head_dim)
    writer.add_full_attention_interval(config.layer_types.index("full_attention") + 1)
