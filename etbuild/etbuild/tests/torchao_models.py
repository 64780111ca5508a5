"""Small language models of random weights, quantized by torchao and stored by transformers, and what transformers computes with the stored
weights.

    python torchao_models.py FOLDER [NAME ..]     writes FOLDER/NAME/model and FOLDER/NAME/expected.safetensors of each

Classes that torchao makes on a GPU alone have integers that are drawn here, in the layouts that torchao documents; torchao names the parts.
"""

import json
import shutil
import sys
import types
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from torchao.prototype.safetensors.safetensors_support import flatten_tensor_state_dict
from torchao.quantization import (
    Float8WeightOnlyConfig,
    FqnToConfig,
    Int4TilePackedTo4dTensor,
    Int4Tensor,
    Int8DynamicActivationInt8WeightConfig,
    Int8DynamicActivationIntxWeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    MappingType,
)
from torchao.quantization.granularity import PerAxis, PerGroup, PerTensor
from torchao.utils import TorchAOBaseTensor

from checkpoints import drawn, expected
from quantized_models import FAMILIES, lanes

GROUP = 32
INT4 = Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(GROUP))
INT8 = IntxWeightOnlyConfig(weight_dtype=torch.int8, granularity=PerAxis(0))
INT3 = IntxWeightOnlyConfig(weight_dtype=torch.int3, granularity=PerGroup(GROUP), mapping_type=MappingType.ASYMMETRIC)
BY_MODULE = {"_default": INT4, "re:.*down_proj": INT8, "model.layers.0.self_attn.o_proj": None}

# Each method: the configuration, the type of the other weights, and whether embeddings are quantized.
METHODS = {
    "int8": (Int8WeightOnlyConfig(), torch.float32, False),
    "8da4w": (INT4, torch.float32, False),
    "int3": (INT3, torch.bfloat16, False),
    "float8": (Float8WeightOnlyConfig(), torch.bfloat16, False),
}
OTHERS = {
    "llama-8da8w": (Int8DynamicActivationInt8WeightConfig(), torch.bfloat16, False),
    "llama-int8-tensor": (Int8WeightOnlyConfig(granularity=PerTensor()), torch.float32, False),
    "llama-float8-tensor": (Float8WeightOnlyConfig(granularity=PerTensor()), torch.float32, False),
    "llama-shards": (INT4, torch.bfloat16, False),
    "llama-modules": (FqnToConfig(BY_MODULE), torch.bfloat16, False),
    "llama-bin": (FqnToConfig(BY_MODULE | {"re:.*up_proj": Float8WeightOnlyConfig()}), torch.bfloat16, False),
    "llama-old-bin": (INT4, torch.bfloat16, False),
    "llama-embeddings": (FqnToConfig(BY_MODULE | {"model.embed_tokens": INT8}), torch.bfloat16, True),
}


def numbers(weight):
    """The numbers that a weight stands for, in `float32`."""
    if not hasattr(weight, "qdata"):
        return weight.float()
    if hasattr(weight, "zero_point") and weight.zero_point is not None:
        repeat = lambda part: part.float().repeat_interleave(weight.shape[0] // part.shape[0], 0).repeat_interleave(
            weight.shape[1] // part.shape[1], 1)
        return (weight.qdata.float() - repeat(weight.zero_point)) * repeat(weight.scale)
    return weight.qdata.float() * weight.scale.float()


def drawn_int4(matrix, dtype):
    """Signed integers with scales and numbers to add, `[groups, rows]`."""
    rows, columns = matrix.shape
    values = torch.randint(-8, 8, (rows, columns))
    scales = (matrix.abs().mean() / 4 * (0.5 + torch.rand(columns // GROUP, rows))).to(dtype)
    more = (scales.float() * torch.randn(scales.shape)).to(dtype)
    by_row = lambda part: part.float().T.repeat_interleave(GROUP, 1)
    return values, scales, more, values * by_row(scales) + by_row(more)


def plain(matrix, dtype):
    values, scales, more, made = drawn_int4(matrix, dtype)
    halves = (values[:, 0::2] & 15 | values[:, 1::2] << 4).to(torch.uint8).view(torch.int8)
    return Int4Tensor(halves, scales, more, [1, GROUP], matrix.shape), made


def tiles(matrix, dtype):
    """Words of the tiles of the instruction m16n8k16, of a matrix that is padded."""
    rows, columns = matrix.shape
    values, scales, more, made = drawn_int4(matrix, dtype)
    wide = torch.randint(0, 16, (-(-rows // 8) * 8, -(-columns // 1024) * 1024))
    wide[:rows, :columns] = values + 8
    # Rows of a tile, pairs of columns in fours, and the two halves of each of two tiles side by side.
    parts = wide.reshape(wide.shape[0] // 8, 8, wide.shape[1] // 128, 4, 2, 2, 4, 2)
    parts = parts.permute(0, 2, 1, 6, 3, 7, 4, 5).reshape(wide.shape[0] // 8, wide.shape[1] // 128, 32, 4, 8)
    words = lanes(parts, 4, -1).squeeze(-1)
    both = torch.ones(wide.shape[1] // GROUP, wide.shape[0], 2, dtype=dtype)
    both[:columns // GROUP, :rows] = torch.stack([scales, more], -1)
    return Int4TilePackedTo4dTensor(words, both, [1, GROUP], matrix.shape), made


def stand_in(module, name, weight, **attributes):
    """An object as of a class of an older version of torchao."""
    of_module = sys.modules.setdefault(module, types.ModuleType(module))
    if not hasattr(of_module, name):
        setattr(of_module, name, type(name, (TorchAOBaseTensor,), {"__module__": module}))
    made = torch.Tensor._make_wrapper_subclass(getattr(of_module, name), weight.shape, dtype=weight.dtype)
    made.__dict__.update(attributes)
    return made


def older(weight):
    """A weight with dynamic activations as the classes of torchao's layouts have it."""
    if not hasattr(weight, "qdata"):
        return weight
    parts = dict(int_data=weight.qdata, scale=weight.scale, zero_point=weight.zero_point, _layout=None)
    layout = stand_in("torchao.dtypes.uintx.plain_layout", "PlainAQTTensorImpl", weight, **parts)
    integers = stand_in("torchao.dtypes.affine_quantized_tensor", "AffineQuantizedTensor", weight, tensor_impl=layout,
                        block_size=weight.block_size, quant_min=-8, quant_max=7)
    return stand_in("torchao.quantization.linear_activation_quantized_tensor", "LinearActivationQuantizedTensor", weight,
                    original_weight_tensor=integers, quant_kwargs={})


def quantized(folder, method):
    """Stores the model of a folder in its place as torchao quantizes it; the numbers of its weights by name."""
    config, dtype, embeddings = (METHODS | OTHERS)[method]
    options = dict(include_input_output_embeddings=True, untie_embedding_weights=True) if embeddings else {}
    config = transformers.TorchAoConfig(config, **options)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, quantization_config=config, dtype=dtype)
    shutil.rmtree(folder)
    model.save_pretrained(folder, **dict(max_shard_size="60KB") if method.endswith("-shards") else {})
    # What transformers wrote before version 5.
    if method.endswith("-bin"):
        change = older if "old" in method else lambda weight: weight
        torch.save({name: change(weight) for name, weight in model.state_dict().items()}, folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    return {name: numbers(weight) for name, weight in model.named_parameters()}


def listed(folder, make):
    """The same with weights of a class that is made here."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    state = {name: weight.detach() for name, weight in model.state_dict().items()}
    made = {name: weight.float() for name, weight in state.items()}
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and name != "lm_head":
            place = f"{name}.weight"
            state[place], made[place] = make(state[place].float(), torch.bfloat16)
    if model.config.tie_word_embeddings:
        del state["lm_head.weight"]
    tensors, header = flatten_tensor_state_dict(state)
    tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
    save_file(tensors, folder / "model.safetensors", header | {"format": "pt"})
    path = folder / "config.json"
    kind = {"default": {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": GROUP}, "_version": 2}}
    config = json.loads(path.read_text()) | {"quantization_config": {"quant_method": "torchao", "quant_type": kind}}
    path.write_text(json.dumps(config))
    return made


def write(name, folder):
    family, _, method = name.partition("-")
    kind, config = FAMILIES[family]
    model = drawn(getattr(transformers, f"{kind}Config")(**config))
    model.save_pretrained(folder / "model")
    makes = {"int4": plain, "int4-tiles": tiles}
    if method in makes:
        made = listed(folder / "model", makes[method])
    else:
        made = quantized(folder / "model", name if name in OTHERS else method)
    with torch.no_grad():
        for place, parameter in model.named_parameters():
            parameter.copy_(made[place])
    save_file(expected(model), folder / "expected.safetensors")


if __name__ == "__main__":
    torch.set_num_threads(1)
    names = [f"{family}-{method}" for family in FAMILIES for method in [*METHODS, "int4", "int4-tiles"]] + list(OTHERS)
    for name in sys.argv[2:] or names:
        folder = Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        write(name, folder)
