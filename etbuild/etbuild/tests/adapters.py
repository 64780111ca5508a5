"""Small language models with adapters over them, and what PEFT computes with both.

    python adapters.py FOLDER            (peft, safetensors, torch, transformers)

For each case: FOLDER/CASE/model, a checkpoint; FOLDER/CASE/one and two, adapters of one configuration, with one.safetensors and
two.safetensors, as checkpoints.py has them; FOLDER/CASE/none, an adapter that was not trained and adds nothing. For one case:
grouped.safetensors and rounded.safetensors, of the adapter `one` over weights of 4 bits in groups, in the second with the rows
that are multiplied with them in bytes.
"""

import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from peft.tuners.lora import Linear as Adapted
from safetensors.torch import load_file, save_file

import checkpoints

GROUP = 16

# The cases are forms of configurations that there are.
CASES = {
    "llama": dict(target_modules=["q_proj", "v_proj"], r=4, lora_alpha=6),
    "qwen3": dict(target_modules="all-linear", r=3, lora_alpha=5, use_rslora=True,
                  rank_pattern={"down_proj": 2, r"model\.layers\.1\.self_attn\.k_proj": 5}, alpha_pattern={"o_proj": 7}),
    "phi3": dict(target_modules=["qkv_proj", "gate_up_proj", "o_proj"], r=4, lora_alpha=8),
    "gemma2": dict(target_modules=r"^(?!.*self_attn).*layers\.[02]\..*(gate|up|down)_proj", r=2, lora_alpha=4),
    "smollm": dict(target_modules=["q_proj", "o_proj"], layers_to_transform=[1], layers_pattern="layers", r=2, lora_alpha=1),
    "llama-biases": dict(target_modules=["k_proj", "down_proj", "lm_head"], exclude_modules=["layers.2.mlp.down_proj"], r=4,
                         lora_alpha=8),
}


def write(name, folder):
    checkpoints.stored(name, folder / "model")
    for seed, adapter in enumerate(["one", "two"]):
        model = adapted(name, folder / "model", seed)
        model.save_pretrained(folder / adapter)
        if name == "qwen3":
            halve(folder / adapter / "adapter_model.safetensors")
        save(model, folder / f"{adapter}.safetensors")
    untrained(name, folder / "model").save_pretrained(folder / "none")
    if name == "llama-biases":
        model = adapted(name, folder / "model", 0)
        group_weights(model)
        save(model, folder / "grouped.safetensors")
        round_rows(model)
        save(model, folder / "rounded.safetensors")


def untrained(name, folder):
    torch.manual_seed(3)
    return get_peft_model(checkpoints.read(folder), LoraConfig(**CASES[name], init_lora_weights=True)).eval()


def adapted(name, folder, seed):
    """A model with an adapter of random weights, which are such as bfloat16 has too."""
    model = untrained(name, folder)
    torch.manual_seed(seed)
    for name, parameter in model.named_parameters():
        if "lora_" in name:
            parameter.data = (torch.randn_like(parameter) * 0.4 / parameter.shape[-1] ** 0.5).bfloat16().float()
    return model


def halve(file):
    save_file({name: tensor.bfloat16() for name, tensor in load_file(file).items()}, file, {"format": "pt"})


def save(model, file):
    torch.manual_seed(11)
    save_file(checkpoints.expected(model), file)


def linears(model):
    """The linear layers of the model, not those of the adapter."""
    for name, module in model.named_modules():
        module = module.base_layer if isinstance(module, Adapted) else module
        if isinstance(module, torch.nn.Linear) and "lora_" not in name:
            yield module


def group_weights(model):
    for module in set(linears(model)):
        weight = module.weight.detach()
        groups = weight.reshape(len(weight), -1, GROUP)
        scale = in_steps(torch.maximum(groups.amin(2) / -8, groups.amax(2) / 7))[:, :, None]
        rounded = torch.round((groups * (1 / scale)).clamp(-8, 7)) * scale
        module.weight = torch.nn.Parameter(rounded.reshape(weight.shape))


def in_steps(scales):
    """The nearest multiples of a row's step, of which its largest scale is 255: a number with 16 significant bits."""
    bits = (scales.amax(1, keepdim=True) / 255).view(torch.int32)
    step = ((bits + 255) & ~255).view(torch.float32)
    return step * torch.round(scales / step).clamp(1, 255)


def round_rows(model):
    for module in set(linears(model)):
        module.register_forward_pre_hook(lambda _, inputs: (in_bytes(inputs[0]),))


def in_bytes(rows):
    least, most = rows.amin(-1, keepdim=True).clamp(max=0), rows.amax(-1, keepdim=True).clamp(min=0)
    scale = (most - least) / 255
    zero = (-128 - torch.round(least / scale)).clamp(-128, 127)
    return ((torch.round(rows / scale) + zero).clamp(-128, 127) - zero) * scale


if __name__ == "__main__":
    for name in CASES:
        write(name, Path(sys.argv[1]) / name)
