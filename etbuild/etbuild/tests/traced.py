"""A model with known lines of source, upstream's program of it, and the value of every node that PyTorch computes.

    python traced.py FOLDER    (torch, executorch, safetensors)

Writes net.pt2, inputs.safetensors, upstream.pte for the portable kernels, and values.safetensors by the names of the nodes.
"""

import sys
from pathlib import Path

import torch
from executorch.exir import to_edge
from safetensors.torch import save_file
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.classify = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norm(self.conv(x)))
        y = y.mean(dim=(2, 3))
        y = self.classify(y)
        return torch.softmax(y, -1)


class Values(torch.fx.Interpreter):
    """Keeps the tensor of every node."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module)
        self.values: dict[str, torch.Tensor] = {}

    def run_node(self, node: torch.fx.Node) -> object:
        result = super().run_node(node)
        if node.op == "call_function" and isinstance(result, torch.Tensor):
            self.values[node.name] = result.detach().contiguous().clone()
        return result


def main(folder: Path) -> None:
    torch.manual_seed(0)
    net = Net().eval()
    net.norm.running_mean.uniform_(-1, 1)
    net.norm.running_var.uniform_(0.5, 2)
    x = torch.randn(1, 3, 12, 12)
    program = torch.export.export(net, (x,))
    torch.export.save(program, folder / "net.pt2")
    save_file({"x": x}, folder / "inputs.safetensors")
    interpreter = Values(program.module())
    interpreter.run(x)
    save_file(interpreter.values, folder / "values.safetensors")
    upstream = to_edge(program).to_executorch()
    (folder / "upstream.pte").write_bytes(upstream.buffer)


main(Path(sys.argv[1]))
