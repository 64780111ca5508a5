"""Writes archives for programs of several methods, with inputs and what eager PyTorch computes, and runs such programs in
upstream's runtime.

    python methods.py write FOLDER
    python methods.py run FILE.pte METHOD OUTPUTS.safetensors [--data FILE.ptd] [INPUTS.safetensors NAME ...]
                                                           (executorch, safetensors, torch)

`encode` and `forward` share the weights of one layer. `put` and `take` share state, a running sum: `put` adds to it,
`take` gives it times its input. `other` has state of that name and another shape.
"""

import sys
from pathlib import Path

import torch
from executorch.runtime import Runtime, Verification
from safetensors.torch import load_file, save_file
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(64, 64)
        self.head = nn.Linear(64, 8)

    def encode(self, tokens):
        return torch.relu(self.embed(tokens))

    def forward(self, x):
        return self.head(self.encode(x))


class Method(nn.Module):
    """A method of a model as a module of its own, the weights under the model's names."""

    def __init__(self, model, name):
        super().__init__()
        self.name = name
        self.embed = model.embed
        if name == "forward":
            self.head = model.head

    def forward(self, x):
        x = torch.relu(self.embed(x))
        return self.head(x) if self.name == "forward" else x


class Put(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.register_buffer("total", torch.ones(size))

    def forward(self, x):
        self.total.add_(x)
        return x + 1


class Take(Put):
    def forward(self, y):
        return self.total * y


def save(folder, name, model, x):
    program = torch.export.export(model.eval(), (x,))
    torch.export.save(program, folder / f"{name}.pt2")
    [argument] = program.graph_signature.user_inputs
    with torch.no_grad():
        outputs = model(x)
    save_file({argument: x}, folder / f"{name}.inputs.safetensors")
    save_file({argument: x, "output_0": outputs.contiguous()}, folder / f"{name}.test.safetensors")


def write(folder):
    torch.manual_seed(0)
    model, x = Model(), torch.randn(2, 64)
    for name in ["encode", "forward"]:
        save(folder, name, Method(model, name), x)
    for name, module in [("put", Put()), ("take", Take()), ("other", Put(8))]:
        save(folder, name, module, torch.arange(8.0 if name == "other" else 4.0))


def run(program, method, outputs, *rest):
    rest = list(rest)
    data = rest[1] if rest[:1] == ["--data"] else None
    inputs, *names = rest[2:] if data else rest or [None]
    tensors = load_file(inputs) if inputs else {}
    options = {"data_path": data} if data else {}
    loaded = Runtime.get().load_program(program, verification=Verification.InternalConsistency, **options)
    results = loaded.load_method(method).execute([tensors[name] for name in names])
    print("methods:", *sorted(loaded.method_names))
    print("values:", [result for result in results if not isinstance(result, torch.Tensor)])
    tensors = {f"output_{index}": result for index, result in enumerate(results) if isinstance(result, torch.Tensor)}
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, outputs)


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "write":
        write(Path(arguments[0]))
    else:
        run(*arguments)
