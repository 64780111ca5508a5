"""Writes a small convolutional network in float16 and in bfloat16, with inputs, outputs, and the outputs in float32.

    python make_halves.py            (torch, safetensors)
"""

import pathlib

import torch
from safetensors.torch import save_file
from torch import nn

HERE = pathlib.Path(__file__).parent
torch.manual_seed(0)
torch.set_num_threads(1)
net = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Hardswish(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)
)
images = torch.randn(1, 3, 16, 16)
with torch.no_grad():
    net(torch.randn(16, 3, 16, 16))
for name, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16)):
    half = net.eval().to(dtype)
    program = torch.export.export(half, (images.to(dtype),))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
        node.meta.pop("from_node", None)
    torch.export.save(program, HERE / f"{name}.pt2")
    with torch.no_grad():
        own, wide = half(images.to(dtype)), half.float()(images.to(dtype).float())
    save_file({"input": images.to(dtype), "output_0": own, "wide_0": wide}, HERE / f"{name}.safetensors")
