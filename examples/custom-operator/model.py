"""A model with a custom operator of `torch.library`, exported with inputs and PyTorch's outputs.

    python model.py [FOLDER]         # FOLDER/gate.pt2, FOLDER/inputs.safetensors    (torch, safetensors)
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn


@torch.library.custom_op("mylib::fused_gate", mutates_args=())
def fused_gate(x: Tensor, gate: Tensor, alpha: float = 1.0) -> Tensor:
    return x * torch.sigmoid(alpha * gate)


@fused_gate.register_fake
def _(x: Tensor, gate: Tensor, alpha: float = 1.0) -> Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("mylib::low_high", mutates_args=())
def low_high(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.amin(1), x.amax(1)


@low_high.register_fake
def _(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape[0]), x.new_empty(x.shape[0])


class Gated(nn.Module):
    """A layer whose output a second layer gates."""

    def __init__(self) -> None:
        super().__init__()
        self.value, self.gate = nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return fused_gate(self.value(x), self.gate(x), 1.5)


def save(model: nn.Module, x: Tensor, program: Path, inputs: Path, dynamic_shapes: object = None) -> None:
    """The exported model of one case, or of rows with dynamic shapes, and `x` with the model's outputs."""
    example = x[:1] if dynamic_shapes is None else x
    torch.export.save(torch.export.export(model.eval(), (example,), dynamic_shapes=dynamic_shapes), program)
    outputs = model(x)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    save_file({"x": x} | {f"output_{index}": output.detach() for index, output in enumerate(outputs)}, inputs)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    torch.manual_seed(0)
    save(Gated(), torch.randn(3, 8), folder / "gate.pt2", folder / "inputs.safetensors")
