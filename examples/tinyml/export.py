"""Writes the files that the recipes of this folder read, for each network of MLPerf Tiny.

    python examples/tinyml/export.py            (torch, safetensors, Pillow; a minute on one core)

The weights and the data are random: the files show sizes, instructions and the loss by quantization, not accuracy on a task.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file

from networks import SHAPES, build
from sensors import SENSORS

FOLDER = Path(__file__).parent / "out"


def write(folder: Path, name: str, network, expected, inputs, cases: int = 4) -> None:
    """The archive of a network, calibration data, and cases with outputs. `expected` are the inputs of the network, `inputs` those of the
    program."""
    torch.export.save(torch.export.export(network, (expected[:1].clone(),)), folder / f"{name}.pt2")
    with torch.no_grad():
        outputs = network(expected[:cases])
    save_file({"input": inputs}, folder / f"{name}-calibration.safetensors")
    save_file({"input": inputs[:cases].clone(), "output_0": outputs}, folder / f"{name}-test.safetensors")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for make in SHAPES:
        network, inputs = build(make)
        name = make.__name__.replace("_", "-")
        write(FOLDER, name, network, inputs, inputs)
        given, expects = SENSORS[name]
        signals = torch.stack([given(seed) for seed in range(32)])
        network, expected = build(make, torch.cat([expects(signal) for signal in signals]))
        write(FOLDER, f"{name}-sensor", network, expected, signals)
        print(name, sum(weight.numel() for weight in network.parameters()), "parameters")


if __name__ == "__main__":
    main()
