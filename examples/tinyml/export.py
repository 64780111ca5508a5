"""Writes the files that recipes/mlperf-tiny.yaml reads, for each network of MLPerf Tiny.

    python examples/tinyml/export.py            (torch, safetensors; a minute on one core)

The weights and the data are random: the files show sizes, instructions and the loss by quantization, not accuracy on a task.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file

from networks import SHAPES, build

FOLDER = Path(__file__).parent / "out"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for make in SHAPES:
        network, inputs = build(make)
        name = make.__name__.replace("_", "-")
        example = (inputs[:1].clone(),)
        torch.export.save(torch.export.export(network, example), FOLDER / f"{name}.pt2")
        with torch.no_grad():
            outputs = network(inputs[:4])
        save_file({"input": inputs}, FOLDER / f"{name}-calibration.safetensors")
        save_file({"input": inputs[:4], "output_0": outputs}, FOLDER / f"{name}-test.safetensors")
        print(name, sum(weight.numel() for weight in network.parameters()), "parameters")


if __name__ == "__main__":
    main()
