"""Writes the small archives that the importer's tests read, with inputs and eager outputs beside each.

    python make_archives.py            (torch, safetensors)

Each NAME.pt2 has NAME.inputs.safetensors (tensors named as in the exported signature) and NAME.outputs.safetensors
(`output_0`, `output_1`, ... in order).
"""

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

FOLDER = Path(__file__).parent
DIGITS = FOLDER.parents[3] / "examples" / "digits"


class Elementwise(nn.Module):
    """In-place operators, one of them through a view and one on a slice, and broadcasting from both sides."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(4, 1))
        self.register_buffer("offset", torch.randn(3))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        a = x * self.scale
        a.add_(y, alpha=2).relu_()
        a.view(-1).mul_(0.5)
        a[:, 1:].sub_(self.offset[:2])
        b = torch.sigmoid(x.unsqueeze(1) - y) / (1 + self.offset.abs())
        return a.clamp(max=1.5), torch.where(b > 0.25, b, -b).tanh()


class Attention(nn.Module):
    """One attention head out of matrix products, transposes and softmax, with a residual and layer norm."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 24)
        self.output = nn.Linear(8, 8, bias=False)
        self.norm = nn.LayerNorm(8)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.project(x).chunk(3, dim=-1)
        weights = torch.softmax(query @ key.transpose(-2, -1) * 8**-0.5, dim=-1)
        return self.norm(x + self.output(torch.matmul(weights, value)))


class Shapes(nn.Module):
    """Views and copies of every kind, then reductions with and without the reduced dimension."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        joined = torch.cat([x, y.expand(2, 3, 4)], dim=1)
        moved = joined[:, 1:5:2].permute(2, 0, 1).contiguous()
        row = joined.select(1, -1).unsqueeze(0).expand(3, -1, -1).reshape(3, 8)
        largest, position = row.reshape(3, 2, 4).max(dim=2)
        flat = torch.flatten(moved.unsqueeze(1).squeeze(1), 1)
        return moved, row, flat.mean(dim=1, keepdim=True), joined.sum(dim=(0, 2)), largest, position, joined.amax()


def save(name: str, model: nn.Module, inputs: dict[str, Tensor]) -> None:
    """Exports, drops the source paths that torch records per node, and saves the program with one recorded run."""
    model = model.eval()
    program = torch.export.export(model, tuple(inputs.values()))
    save_program(program, FOLDER / f"{name}.pt2")
    with torch.no_grad():
        outputs = model(*(tensor.clone() for tensor in inputs.values()))
    save_tensors(f"{name}.inputs", inputs)
    save_tensors(f"{name}.outputs", {f"output_{index}": output for index, output in enumerate(as_tuple(outputs))})


def save_program(program: torch.export.ExportedProgram, path: Path) -> None:
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
        node.meta.pop("from_node", None)
    torch.export.save(program, path)


def save_tensors(name: str, tensors: dict[str, Tensor]) -> None:
    path = FOLDER / f"{name}.safetensors"
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    path.chmod(0o644)


def as_tuple(outputs: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return (outputs,) if isinstance(outputs, Tensor) else outputs


def save_decomposed_digits() -> None:
    """The digits example as `run_decompositions` leaves it, with its first two test images as cases."""
    program = torch.export.load(DIGITS / "digits.pt2")
    save_program(program.run_decompositions(), FOLDER / "digits_core.pt2")
    recorded = load_file(DIGITS / "test.safetensors")
    save_tensors("digits_core.inputs", {"x": recorded["x"][:2]})
    save_tensors("digits_core.outputs", {"output_0": recorded["output_0"][:2]})


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    save("elementwise", Elementwise(), {"x": torch.randn(4, 3), "y": torch.randn(3)})
    save("attention", Attention(), {"x": torch.randn(1, 5, 8)})
    save("shapes", Shapes(), {"x": torch.randn(2, 3, 4), "y": torch.randn(3, 1)})
    save_decomposed_digits()


if __name__ == "__main__":
    main()
