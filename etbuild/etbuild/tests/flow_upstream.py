"""Runs the program files that `flow.rs` puts beside the models of `flow.py` in upstream's runtime.

    python flow_upstream.py FOLDER                           (executorch, torch, safetensors)

Each is loaded with full verification; a run that differs from eager mode by more than 1e-5 is an error.
"""

import sys
from pathlib import Path

import torch
from executorch.runtime import Runtime, Verification
from safetensors.torch import load_file


def calls(inputs, sizes):
    """The inputs of each call, of which several are joined along the first dimension where the program takes less."""
    count = max(len(value) // size if size else 1 for value, size in zip(inputs, sizes))
    if count <= 1:
        return [inputs]
    return list(zip(*(value.chunk(count) for value in inputs)))


def run(path):
    program = torch.export.load(path.parent / (path.name.split(".")[0] + ".pt2"))
    specs = [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    given = load_file(path.with_suffix(".inputs.safetensors"))
    inputs = [given[name] for name in specs]
    stateful = path.name.split(".")[0] in ("total", "decoder")
    sizes = [3] if path.name.startswith("total") else [1] * len(inputs)
    method = Runtime.get().load_program(path, verification=Verification.InternalConsistency).load_method("forward")
    results = []
    for call in calls(inputs, sizes) if stateful else [inputs]:
        results.append([torch.as_tensor(value).clone() for value in method.execute(list(call))])
    wanted = load_file(path.with_suffix(".outputs.safetensors"))
    for index in range(len(wanted)):
        parts = [result[index] for result in results]
        got = torch.cat(parts) if stateful else parts[0]
        expected = wanted[f"output_{index}"]
        assert got.shape == expected.shape, (path.name, index, got.shape, expected.shape)
        if expected.numel():
            difference = (got.double() - expected.double()).abs().max().item()
            assert difference <= 1e-5, (path.name, index, difference)


def main(folder):
    programs = sorted(folder.glob("*.pte"))
    assert programs
    for path in programs:
        run(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
