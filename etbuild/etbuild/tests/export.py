"""Compiles a model with upstream's own pipeline, for upstream's portable kernels.

    python export.py MODEL.pt2 FILE.pte            (executorch, torch)
"""

import sys
from pathlib import Path

import torch
from executorch.exir import to_edge


def main(model: str, file: str) -> None:
    program = to_edge(torch.export.load(model)).to_executorch()
    Path(file).write_bytes(program.buffer)


if __name__ == "__main__":
    main(*sys.argv[1:])
