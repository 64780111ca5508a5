"""Writes spectrum.pt2, a model with complex numbers between real ones.

    python make_spectrum.py            (torch)
"""

from pathlib import Path

import torch
from torch import Tensor, nn


class Spectrum(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.fft.rfft(x).abs()


def main() -> None:
    program = torch.export.export(Spectrum(), (torch.arange(16.0).reshape(2, 8),))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
        node.meta.pop("from_node", None)
    torch.export.save(program, Path(__file__).with_name("spectrum.pt2"))


if __name__ == "__main__":
    main()
