"""Models with the custom operators of `examples/custom-operator`, and a program file of upstream's own pipeline.

    python operators.py FOLDER            (executorch, torch, safetensors)

Writes NAME.pt2 and NAME.safetensors with inputs and PyTorch's outputs for the models `gate`, `only` (one operator), `rows` (a dynamic number of rows, two
operators, several outputs), `most`, the same with inputs of the largest size, and `double`, and `upstream.pte` for the model `only`.
"""

import sys
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.export import Dim

sys.path.append(str(Path(__file__).parents[3] / "examples/custom-operator"))
import model
from executorch.exir import to_edge


class Rows(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        low, high = model.low_high(x * 2)
        return low, high, model.fused_gate(x[:, :1], high.unsqueeze(1))


class Only(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return model.fused_gate(x, x, 0.5)


class Double(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return model.fused_gate(x.double(), x.double())


def out_variant() -> torch.library.Library:
    """The variant that upstream's runtime calls: its pipeline looks for the variant while the library lives."""
    library = torch.library.Library("mylib", "FRAGMENT")
    library.define("fused_gate.out(Tensor x, Tensor gate, float alpha=1.0, *, Tensor(a!) out) -> Tensor(a!)")

    def fused_gate_out(x: Tensor, gate: Tensor, alpha: float = 1.0, *, out: Tensor) -> Tensor:
        return out.copy_(model.fused_gate(x, gate, alpha))

    library.impl("fused_gate.out", fused_gate_out, "CompositeExplicitAutograd")
    return library


def main(folder: Path) -> None:
    torch.manual_seed(1)

    def place(name: str) -> tuple[Path, Path]:
        return folder / f"{name}.pt2", folder / f"{name}.safetensors"

    model.save(model.Gated(), torch.randn(3, 8), *place("gate"))
    for name, rows in {"rows": 5, "most": 16}.items():
        model.save(Rows(), torch.randn(rows, 4), *place(name), {"x": {0: Dim("rows", min=2, max=16)}})
    model.save(Only(), torch.randn(3, 8), *place("only"))
    model.save(Double(), torch.randn(3, 8), *place("double"))
    library = out_variant()
    program = to_edge(torch.export.load(folder / "only.pt2")).to_executorch()
    (folder / "upstream.pte").write_bytes(program.buffer)
    del library


if __name__ == "__main__":
    main(Path(sys.argv[1]))
