"""Writes eigenvalues.pt2, a valid model with an operator that etbuild has no kernel for.

    python make_eigenvalues.py            (torch)
"""

from pathlib import Path

import torch
from torch import Tensor, nn


class Eigenvalues(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.linalg.eigvals(x).real + 1


def main() -> None:
    program = torch.export.export(Eigenvalues(), (torch.eye(3),))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
        node.meta.pop("from_node", None)
    torch.export.save(program, Path(__file__).with_name("eigenvalues.pt2"))


if __name__ == "__main__":
    main()
