"""Runs a program file in upstream's runtime, after upstream's full verification.

    python upstream.py FILE.pte INPUTS.safetensors OUTPUTS.safetensors [NAME ...]    (executorch, torch, safetensors)

A program file does not name its inputs: NAME ... are the tensors of INPUTS in the order of `forward`'s arguments.
Left out, they are all tensors of INPUTS in order of their names, except recorded answers (`output_0`, ..., `labels`).

Inputs whose leading dimension is N times that of the program are N cases: `forward` runs N times, and the outputs are
joined along their leading dimension. They are written to OUTPUTS as `output_0`, `output_1`, ...; the program's methods
are printed. Exit status: 0, or 1 with a message when upstream refuses the program, its operators or the inputs.
"""

import sys

import torch
from executorch.runtime import Method, Program, Runtime, Verification
from safetensors.torch import load_file, save_file
from torch import Tensor

Case = tuple[Tensor, ...]


def is_input(name: str) -> bool:
    return name != "labels" and not name.startswith("output_")


def load_inputs(path: str, names: list[str]) -> list[Tensor]:
    tensors = load_file(path)
    return [tensors[name] for name in names or sorted(filter(is_input, tensors))]


def load_program(path: str) -> Program:
    return Runtime.get().load_program(path, verification=Verification.InternalConsistency)


def split_input(tensor: Tensor, sizes: tuple[int, ...]) -> tuple[Tensor, ...]:
    """The cases that `tensor` holds for an argument of the given sizes."""
    if tuple(tensor.shape) == sizes:
        return (tensor,)
    if not sizes or tuple(tensor.shape[1:]) != sizes[1:] or len(tensor) % sizes[0]:
        raise ValueError(f"an input of sizes {list(tensor.shape)} does not fit an argument of sizes {list(sizes)}")
    return tensor.split(sizes[0])


def split_cases(method: Method, inputs: list[Tensor]) -> list[Case]:
    meta = method.metadata
    if meta.num_inputs() != len(inputs):
        raise ValueError(f"forward takes {meta.num_inputs()} inputs, not {len(inputs)}")
    sizes = [tuple(meta.input_tensor_meta(index).sizes()) for index in range(len(inputs))]
    return list(zip(*map(split_input, inputs, sizes), strict=True))


def join(parts: tuple[Tensor, ...]) -> Tensor:
    """One output over all cases."""
    return parts[0] if len(parts) == 1 else torch.cat([part.reshape(part.shape or 1) for part in parts])


def run(program: Program, inputs: list[Tensor]) -> dict[str, Tensor]:
    method = program.load_method("forward")
    results = [method.execute(case) for case in split_cases(method, inputs)]
    return {f"output_{index}": join(parts).contiguous() for index, parts in enumerate(zip(*results, strict=True))}


def main(program_path: str, inputs_path: str, outputs_path: str, *names: str) -> None:
    program = load_program(program_path)
    print("methods:", *sorted(program.method_names))
    save_file(run(program, load_inputs(inputs_path, list(names))), outputs_path)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (RuntimeError, ValueError, KeyError, OSError) as error:
        sys.exit(f"upstream.py: {sys.argv[1]}: {error}")
