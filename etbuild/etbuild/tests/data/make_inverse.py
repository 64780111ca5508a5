"""Writes inverse.pt2, a valid model with an operator that etbuild has no kernel for.

    python make_inverse.py            (torch)
"""

from pathlib import Path

import torch
from torch import Tensor, nn


class Inverse(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.linalg.inv(x) + 1


def main() -> None:
    program = torch.export.export(Inverse(), (torch.eye(3),))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
        node.meta.pop("from_node", None)
    torch.export.save(program, Path(__file__).with_name("inverse.pt2"))


if __name__ == "__main__":
    main()
