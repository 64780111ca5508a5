"""Small language models of random weights, quantized by the methods of Hugging Face's checkpoints, and what transformers computes with
the stored weights.

    python quantized_models.py FOLDER [NAME ..]     writes FOLDER/NAME/model and FOLDER/NAME/expected.safetensors of each

The tensors are made here, from the layouts that the libraries document. `expected.safetensors` is as in `checkpoints.py`.
"""

import json
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file

from checkpoints import SMALL, drawn, expected

WIDE = SMALL | dict(hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
FAMILIES = {
    "llama": ("Llama", WIDE),
    "qwen3": ("Qwen3", WIDE | dict(head_dim=32, tie_word_embeddings=True)),
    "phi3": ("Phi3", WIDE),
}


def lanes(values, bits, dimension):
    """Neighbours of a dimension packed in words, the lowest bits first."""
    values = values.to(torch.int64).movedim(dimension, -1)
    values = values.reshape(*values.shape[:-1], -1, 32 // bits)
    words = (values << (torch.arange(32 // bits) * bits)).sum(-1)
    words = torch.where(words >= 2 ** 31, words - 2 ** 32, words).to(torch.int32)
    return words.movedim(-1, dimension).contiguous()


def integers(matrix, bits, group, symmetric):
    """Random integers with scales near those of a matrix, and zero points, all `[rows, columns or groups]`."""
    rows, columns = matrix.shape
    high = 2 ** bits
    values = torch.randint(0, high, (rows, columns))
    scales = (matrix.abs().mean() * 4 / high * (0.5 + torch.rand(rows, columns // group))).half()
    zeros = torch.full_like(scales, high // 2) if symmetric else torch.randint(1, high, scales.shape).half()
    numbers = (values - zeros.repeat_interleave(group, 1).float()) * scales.float().repeat_interleave(group, 1)
    return values, scales, zeros.long(), numbers.float()


def gptq(matrix, bits=4, group=32, symmetric=True, order=False, more=1):
    rows, columns = matrix.shape
    values, scales, zeros, numbers = integers(matrix, bits, group, symmetric)
    places = torch.arange(columns) // group
    if order:
        places = places[torch.randperm(columns)]
        numbers = (values - zeros[:, places].float()) * scales[:, places].float()
    tensors = {"qweight": lanes(values.T, bits, 0), "qzeros": lanes(zeros.T - more, bits, 1),
               "scales": scales.T.contiguous(), "g_idx": places.to(torch.int32)}
    return tensors, numbers


def awq(matrix, symmetric=False):
    turns = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
    values, scales, zeros, numbers = integers(matrix, 4, 32, symmetric)
    packed = lambda array: lanes(array.reshape(array.shape[0], -1, 8)[..., turns].reshape(array.shape), 4, 1)
    return {"qweight": packed(values.T), "qzeros": packed(zeros.T), "scales": scales.T.contiguous()}, numbers


def packed(matrix, bits=4, symmetric=True):
    rows, columns = matrix.shape
    values, scales, zeros, numbers = integers(matrix, bits, 32, symmetric)
    scales = scales.bfloat16()
    numbers = (values - zeros.repeat_interleave(32, 1)) * scales.float().repeat_interleave(32, 1)
    tensors = {"weight_packed": lanes(values, bits, 1), "weight_scale": scales, "weight_shape": torch.tensor([rows, columns])}
    if not symmetric:
        tensors["weight_zero_point"] = lanes(zeros, bits, 0)
    return tensors, numbers


def whole(matrix):
    scale = matrix.abs().amax(1, keepdim=True) / 127
    values = torch.round(matrix / scale).to(torch.int8)
    return {"weight": values, "weight_scale": scale}, values * scale


def small(matrix, form):
    """Numbers of 8 bits with one scale, a scale for each row, or a scale for each block."""
    block = [48, 40]
    scale = {"tensor": matrix.abs().max() / 448, "row": matrix.abs().amax(1, keepdim=True) / 448}.get(form)
    if form == "block":
        sizes = [-(-size // of) for size, of in zip(matrix.shape, block)]
        stored = (torch.rand(sizes) + 0.5) * matrix.abs().max() / 448
        scale = stored.repeat_interleave(block[0], 0)[:matrix.shape[0]].repeat_interleave(block[1], 1)[:, :matrix.shape[1]]
    codes = (matrix / scale).to(torch.float8_e4m3fn)
    name = "weight_scale_inv" if form == "block" else "weight_scale"
    return {"weight": codes, name: stored if form == "block" else scale}, codes.float() * scale


NF4 = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0]


def nf4(matrix, nested):
    table, count = torch.tensor(NF4), matrix.numel()
    codes = torch.randint(0, 16, (count,))
    most = (torch.rand(count // 64) + 0.5) * matrix.abs().mean() * 2
    state = dict(quant_type="nf4", blocksize=64, dtype="float32", shape=list(matrix.shape))
    tensors = {"weight": (codes[0::2] << 4 | codes[1::2]).to(torch.uint8).reshape(-1, 1), "weight.quant_map": table}
    if nested:
        levels, chosen = torch.linspace(-1, 1, 256), torch.randint(0, 256, most.shape)
        parts, offset = torch.rand(-(-len(most) // 256)) * 0.02, float(matrix.abs().mean() * 2)
        tensors |= {"weight.absmax": chosen.to(torch.uint8), "weight.nested_quant_map": levels, "weight.nested_absmax": parts}
        state |= dict(nested_blocksize=256, nested_dtype="float32", nested_offset=offset)
        most = levels[chosen] * parts.repeat_interleave(256)[:len(most)] + offset
    else:
        tensors["weight.absmax"] = most
    text = json.dumps(state).encode()
    tensors["weight.quant_state.bitsandbytes__nf4"] = torch.tensor(list(text), dtype=torch.uint8)
    return tensors, (table[codes] * most.repeat_interleave(64)).reshape(matrix.shape)


def int8(matrix):
    most = matrix.abs().amax(1)
    values = torch.round(matrix / most[:, None] * 127).to(torch.int8)
    return {"weight": values, "SCB": most}, values * (most[:, None] / 127)


def mlx(matrix, bits=4, group=32):
    """A stream of bits in each row, as `mlx.core.quantize` writes it."""
    rows, columns = matrix.shape
    values = torch.randint(0, 2 ** bits, (rows, columns))
    scales = (matrix.abs().mean() * 4 / 2 ** bits * (0.5 + torch.rand(rows, columns // group))).bfloat16()
    biases = (-(2 ** bits / 2) * scales.float() * (0.8 + 0.4 * torch.rand(scales.shape))).bfloat16()
    stream = (values[..., None] >> torch.arange(bits) & 1).reshape(rows, -1, 32)
    words = (stream << torch.arange(32)).sum(-1)
    numbers = values * scales.float().repeat_interleave(group, 1) + biases.float().repeat_interleave(group, 1)
    return {"weight": words.to(torch.uint32), "scales": scales, "biases": biases}, numbers


def compressed(form, bits):
    return dict(quant_method="compressed-tensors", format=form, config_groups={"group_0": {
        "targets": ["Linear"], "weights": {"num_bits": bits, "type": "int", "symmetric": True, "strategy": "group"}}})


METHODS = {
    "gptq": (gptq, dict(quant_method="gptq", bits=4, group_size=32, sym=True, desc_act=False)),
    "gptq-zeros": (lambda matrix: gptq(matrix, symmetric=False), dict(quant_method="gptq", bits=4, group_size=32)),
    "gptq-order": (lambda matrix: gptq(matrix, order=True), dict(quant_method="gptq", bits=4, group_size=32, desc_act=True)),
    "gptq-8": (lambda matrix: gptq(matrix, bits=8, more=0), dict(quant_method="gptq", bits=8, checkpoint_format="gptq_v2")),
    "gptq-8-zeros": (lambda matrix: gptq(matrix, bits=8, symmetric=False), dict(quant_method="gptq", bits=8, group_size=32)),
    "awq": (awq, dict(quant_method="awq", bits=4, group_size=32, zero_point=True, version="gemm")),
    "awq-symmetric": (lambda matrix: awq(matrix, True), dict(quant_method="awq", bits=4, group_size=32, version="gemm")),
    "packed": (packed, compressed("pack-quantized", 4)),
    "packed-zeros": (lambda matrix: packed(matrix, symmetric=False), compressed("pack-quantized", 4)),
    "packed-8": (lambda matrix: packed(matrix, bits=8), compressed("pack-quantized", 8)),
    "int8": (whole, compressed("int-quantized", 8)),
    "float8": (lambda matrix: small(matrix, "row"), compressed("float-quantized", 8)),
    "fp8": (lambda matrix: small(matrix, "tensor"), dict(quant_method="fp8", activation_scheme="static")),
    "fp8-blocks": (lambda matrix: small(matrix, "block"), dict(quant_method="fp8", weight_block_size=[48, 40], fmt="e4m3")),
    "nf4": (lambda matrix: nf4(matrix, False), dict(quant_method="bitsandbytes", load_in_4bit=True)),
    "nf4-nested": (lambda matrix: nf4(matrix, True), dict(quant_method="bitsandbytes", load_in_4bit=True)),
    "mlx": (mlx, dict(group_size=32, bits=4, mode="affine")),
    "mlx-3": (lambda matrix: mlx(matrix, bits=3, group=64), dict(group_size=64, bits=3)),
    "mlx-8": (lambda matrix: mlx(matrix, bits=8), dict(group_size=32, bits=8)),
    "bnb-int8": (int8, dict(quant_method="bitsandbytes", load_in_8bit=True)),
}


def write(family, method, folder):
    kind, config = (FAMILIES | TABLES)[family]
    quantize, description = METHODS[method]
    model = drawn(getattr(transformers, f"{kind}Config")(**config))
    model.save_pretrained(folder / "model")
    stored = load_file(folder / "model" / "model.safetensors")
    # MLX quantizes embeddings too, and has a key of its own.
    is_mlx = method.startswith("mlx")
    for name, module in model.named_modules():
        is_wanted = isinstance(module, torch.nn.Linear) and name != "lm_head"
        if is_wanted or is_mlx and isinstance(module, torch.nn.Embedding):
            tensors, numbers = quantize(module.weight.detach())
            del stored[f"{name}.weight"]
            stored |= {f"{name}.{ending}": tensor for ending, tensor in tensors.items()}
            module.weight = torch.nn.Parameter(numbers.float())
    model.tie_weights()
    if family == "llama":
        extra(stored, description)
    finish(model, stored, description, folder)


def extra(stored, description):
    """Tensors of published checkpoints that no computation needs: zeros as biases, scales for other kernels, a layer that predicts tokens."""
    if description.get("quant_method") == "gptq":
        for name in [name for name in stored if name.endswith(".qweight")]:
            stored[name.replace("qweight", "bias")] = torch.zeros(stored[name].shape[1], dtype=torch.float16)
    if description.get("quant_method") in ("fp8", "compressed-tensors"):
        for layer in range(2):
            for ending in ("k_scale", "v_scale", "q_proj.input_scale", "q_proj.input_zero_point"):
                stored[f"model.layers.{layer}.self_attn.{ending}"] = torch.ones(1)
    for name in ("mtp.fc.weight", "model.layers.2.eh_proj.weight", "model.layers.2.input_layernorm.weight"):
        stored[name] = torch.ones(4)


def finish(model, stored, description, folder):
    save_file(stored, folder / "model" / "model.safetensors")
    path = folder / "model" / "config.json"
    keys = ("quantization_config",) if "quant_method" in description else ("quantization", "quantization_config")
    config = json.loads(path.read_text()) | dict.fromkeys(keys, description)
    path.write_text(json.dumps(config))
    save_file(expected(model), folder / "expected.safetensors")


LEVELS = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
LEVELS = torch.cat([LEVELS, -LEVELS])


def mxfp4(folder, **keys):
    """gpt-oss, whose experts are stored in blocks; the matrices of the model are transposed."""
    config = WIDE | dict(num_local_experts=4, num_experts_per_tok=2, head_dim=32, sliding_window=9,
                         layer_types=["sliding_attention", "full_attention"],
                         rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=4.0,
                                              original_max_position_embeddings=64, truncate=False)) | keys
    model = drawn(transformers.GptOssConfig(**config))
    model.save_pretrained(folder / "model")
    stored = load_file(folder / "model" / "model.safetensors")
    for name, parameter in model.named_parameters():
        if not name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            continue
        experts, columns, rows = parameter.shape
        codes = torch.randint(0, 16, (experts, rows, columns // 32, 32))
        powers = torch.randint(121, 124, (experts, rows, columns // 32))
        numbers = LEVELS[codes] * torch.exp2(powers.float() - 127)[..., None]
        with torch.no_grad():
            parameter.copy_(numbers.reshape(experts, rows, columns).transpose(1, 2))
        del stored[name]
        stored[f"{name}_blocks"] = (codes[..., 0::2] | codes[..., 1::2] << 4).to(torch.uint8)
        stored[f"{name}_scales"] = powers.to(torch.uint8)
    finish(model, stored, dict(quant_method="mxfp4"), folder)


MIXTURE = WIDE | dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=96, head_dim=32)


def of_expert(model, layer, projection, expert):
    """The matrix of an expert in a model."""
    experts = model.model.layers[layer].mlp.experts
    if projection == "down_proj":
        return experts.down_proj[expert]
    return experts.gate_up_proj[expert].chunk(2)[projection == "up_proj"]


def projections():
    return [(layer, name) for layer in range(2) for name in ("gate_proj", "up_proj", "down_proj")]


def mlx_experts(folder, bits):
    """A mixture of experts of MLX: a stack for each projection, whose number of bits may differ from the others'."""
    model = drawn(transformers.Qwen3MoeConfig(**MIXTURE))
    model.save_pretrained(folder / "model")
    stored = load_file(folder / "model" / "model.safetensors")
    description = dict(group_size=32, bits=4, mode="affine")
    for layer, projection in projections():
        mixture = f"model.layers.{layer}.mlp"
        names = [f"{mixture}.experts.{expert}.{projection}.weight" for expert in range(4)]
        parts = [mlx(stored.pop(name), bits=bits) for name in names]
        stack = f"{mixture}.switch_mlp.{projection}"
        stored |= {f"{stack}.{name}": torch.stack([tensors[name] for tensors, _ in parts]) for name in parts[0][0]}
        description[stack] = dict(group_size=32, bits=bits)
        for expert, (_, numbers) in enumerate(parts):
            with torch.no_grad():
                of_expert(model, layer, projection, expert).copy_(numbers)
    finish(model, stored, description, folder)


def listed_experts(folder, method):
    """A mixture of experts with a module for each projection of each expert. The first expert has one zero point, which needs no offsets."""
    quantize, description = METHODS[method]
    model = drawn(transformers.Qwen3MoeConfig(**MIXTURE))
    model.save_pretrained(folder / "model")
    stored = load_file(folder / "model" / "model.safetensors")
    for layer, projection in projections():
        for expert in range(4):
            module = f"model.layers.{layer}.mlp.experts.{expert}.{projection}"
            matrix = stored.pop(f"{module}.weight")
            tensors, numbers = METHODS[LIKE[method]][0](matrix) if expert == 0 else quantize(matrix)
            stored |= {f"{module}.{ending}": tensor for ending, tensor in tensors.items()}
            with torch.no_grad():
                of_expert(model, layer, projection, expert).copy_(numbers)
    finish(model, stored, description, folder)


# The same method with one zero point.
LIKE = {"awq": "awq-symmetric", "gptq-zeros": "gptq"}

# Models whose table is most of the weights.
TABLES = {name: (family, config | dict(vocab_size=2048, num_hidden_layers=1))
          for name, (family, config) in [("tied", FAMILIES["qwen3"]), ("untied", FAMILIES["llama"])]}

OTHERS = {"mlx-experts": lambda folder: mlx_experts(folder, 3), "mlx-experts-4": lambda folder: mlx_experts(folder, 4),
          "awq-experts": lambda folder: listed_experts(folder, "awq"),
          "gptq-experts": lambda folder: listed_experts(folder, "gptq-zeros"),
          "tied-mlx": lambda folder: write("tied", "mlx", folder), "untied-mlx": lambda folder: write("untied", "mlx", folder)}
SHAPES = {"mxfp4": {}, "mxfp4-mqa": dict(num_key_value_heads=1), "mxfp4-wide": dict(intermediate_size=96, num_local_experts=3)}

if __name__ == "__main__":
    torch.set_num_threads(1)
    names = [f"{family}-{method}" for family in FAMILIES for method in METHODS] + list(SHAPES) + list(OTHERS)
    for name in sys.argv[2:] or names:
        folder = Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        family, _, method = name.partition("-")
        if family == "mxfp4":
            mxfp4(folder, **SHAPES[name])
        elif name in OTHERS:
            OTHERS[name](folder)
        else:
            write(family, method, folder)
