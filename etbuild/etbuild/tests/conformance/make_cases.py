"""Records single operators and layers: the archive that torch.export makes, inputs, and what eager mode computes.

    python make_cases.py FOLDER [PART OF A NAME]            (torch, torchvision, safetensors)

FOLDER/<suite>/<case>/ gets model.pt2, inputs.safetensors, outputs.safetensors and case.json with the tolerances.
"""

import json
import sys
import zlib
from pathlib import Path

import torch
from cases import CASES
from safetensors.torch import save_file

RTOL = {torch.float64: 1e-6, torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 3e-2}


class Call(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def main(folder, part=""):
    for suite, cases in CASES.items():
        for name, build in cases.items():
            if part in f"{suite}/{name}":
                record(Path(folder) / suite / name, build)


def record(folder, build, allowed=None):
    """Records a case; `allowed` states the tolerance of each output, else the types of inputs and output do."""
    torch.manual_seed(zlib.crc32(folder.name.encode()))
    function, *inputs = build()
    module = function if isinstance(function, torch.nn.Module) else Call(function)
    program = torch.export.export(module.eval(), tuple(inputs), strict=False)
    folder.mkdir(parents=True)
    torch.export.save(program, folder / "model.pt2")
    save_file(named(program.graph_signature.user_inputs, inputs), folder / "inputs.safetensors")
    outputs = [output.detach() for output in torch.utils._pytree.tree_leaves(module(*copies(inputs)))]
    assert outputs and all(isinstance(output, torch.Tensor) for output in outputs), folder
    tensors = named([f"output_{index}" for index in range(len(outputs))], outputs)
    save_file(tensors, folder / "outputs.safetensors")
    bounds = allowed(outputs) if allowed else (tolerance(output, inputs) for output in outputs)
    facts = [{"name": name, **bound} for name, bound in zip(tensors, bounds, strict=True)]
    (folder / "case.json").write_text(json.dumps({"outputs": facts}) + "\n")


def copies(inputs):
    return [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]


def named(names, values):
    """Tensors in row-major order, each with storage of its own."""
    pairs = zip(names, values, strict=True)
    return {name: value.clone(memory_format=torch.contiguous_format) for name, value in pairs}


def tolerance(output, inputs):
    """How far an element may be from the recorded one, as the type of the output and of the inputs allows."""
    if not output.is_floating_point():
        return {"atol": 0, "rtol": 0}
    rtol = max(RTOL.get(tensor.dtype, 0) for tensor in (output, *inputs))
    finite = output[output.isfinite()].abs().double()
    largest = finite.max().item() if finite.numel() else 0
    return {"atol": rtol / 5 * largest, "rtol": rtol}


if __name__ == "__main__":
    with torch.no_grad():
        main(*sys.argv[1:])
