"""Writes quantized programs with their inputs and what eager PyTorch computes.

    python quantized.py FOLDER            (executorch, safetensors, torch, torchao)

For each model: `NAME.pt2`, `NAME.inputs.safetensors`, `NAME.outputs.safetensors`. `static` has scales that were measured,
`dynamic` chooses those of activations as it runs, both from PT2E; `groups` has 4-bit weights in groups from torchao.
"""

import sys
from pathlib import Path

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from safetensors.torch import save_file
from torch import nn
from torchao.quantization import Int8DynamicActivationIntxWeightConfig, quantize_
from torchao.quantization.granularity import PerGroup
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.utils import unwrap_tensor_subclass


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 8, 3, padding=1)
        self.normalization = nn.BatchNorm2d(8)
        self.linear = nn.Linear(8, 10)

    def forward(self, x):
        x = torch.relu(self.normalization(self.convolution(x)))
        x = nn.functional.adaptive_avg_pool2d(x + x, 1).flatten(1)
        return self.linear(x)


def layers():
    return nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 16))


def quantized(model, x, is_dynamic):
    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=True, is_dynamic=is_dynamic))
    prepared = prepare_pt2e(torch.export.export(model.eval(), (x,), strict=True).module(), quantizer)
    prepared(x)
    return convert_pt2e(prepared)


def grouped(model):
    config = Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(32))
    quantize_(model.eval(), config)
    return unwrap_tensor_subclass(model)


def save(folder, name, model, x):
    program = torch.export.export(model, (x,))
    torch.export.save(program, folder / f"{name}.pt2")
    [argument] = program.graph_signature.user_inputs
    save_file({argument: x}, folder / f"{name}.inputs.safetensors")
    with torch.no_grad():
        outputs = program.module()(x)
    save_file({"output_0": outputs.contiguous()}, folder / f"{name}.outputs.safetensors")


def main(folder):
    torch.manual_seed(0)
    images, rows = torch.randn(2, 3, 8, 8), torch.randn(4, 256)
    save(folder, "static", quantized(Images(), images, False), images)
    save(folder, "dynamic", quantized(layers(), rows, True), rows)
    save(folder, "groups", grouped(layers()), rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
