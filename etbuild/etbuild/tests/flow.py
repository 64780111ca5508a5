"""Exports programs with sizes that follow the inputs, state and control flow, with inputs and what eager mode computes.

    python flow.py OUT                                       (torch, safetensors)

OUT gets `NAME.pt2` per program, and for each of its runs `NAME.N.inputs.safetensors` and `NAME.N.outputs.safetensors`. Where
a program keeps state, a run is several calls one after the other, joined along the first dimension.
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim, export, save

NN = torch.nn


class Sizes(NN.Module):
    """A size doubled, one more, and a number as a result."""

    def forward(self, x, y):
        count = x.shape[0]
        folded = x.reshape(count * 2, -1) + y
        return torch.cat([folded, folded])[: count + 1], count


class Found(NN.Module):
    """Sizes that the elements decide."""

    def forward(self, x):
        return torch.nonzero(x) * 2, x[x > 0]


class Either(NN.Module):
    def forward(self, x, y):
        return torch.cond(x.sum() > 0, lambda x, y: (x.sin(), y), lambda x, y: (x.cos() + 1, x), (x, y))


class Nested(NN.Module):
    """A condition in a condition, on a size."""

    def forward(self, x):
        inner = lambda x: torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))
        return torch.cond(x.shape[0] > 3, inner, lambda x: x + 10, (x,))


class Rows(NN.Module):
    def forward(self, x, y):
        return map_rows(lambda row, y: row * row + y, x, y)


class Running(NN.Module):
    def forward(self, x, start):
        return scan(lambda total, row: (total + row, total * row), start, x)


class While(NN.Module):
    """Two values that change places in every round."""

    def forward(self, count, x, y):
        return while_loop(lambda count, x, y: count < 5, lambda count, x, y: (count + 1, y * 2, x + 1), (count, x, y))


class Total(NN.Module):
    """A buffer that remembers, and one that is read before it changes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.tensor([1.0, -2.0, 3.0]))
        self.register_buffer("last", torch.zeros(3))

    def forward(self, x):
        before = self.last.clone()
        self.total.add_(x)
        self.last.copy_(x)
        return self.total * 0.5, before


class Decoder(NN.Module):
    """One step of a decoder that keeps keys and values, written at a position."""

    def __init__(self, width=16, heads=2, length=8):
        super().__init__()
        self.heads, self.length = heads, length
        self.embedding = NN.Embedding(32, width)
        self.query, self.key, self.value = (NN.Linear(width, width, bias=False) for _ in range(3))
        self.norm = NN.RMSNorm(width)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, heads, length, width // heads))

    def forward(self, token, position):
        x = self.norm(self.embedding(token))
        parts = [layer(x).view(1, -1, self.heads, 8).transpose(1, 2) for layer in (self.query, self.key, self.value)]
        self.keys.index_copy_(2, position, parts[1])
        self.values.index_copy_(2, position, parts[2])
        mask = torch.arange(self.length)[None, :] <= position[:, None]
        y = NN.functional.scaled_dot_product_attention(parts[0], self.keys, self.values, attn_mask=mask)
        return y.transpose(1, 2).reshape(1, -1, 16) @ self.embedding.weight.T


COUNT = Dim("count", min=2, max=16)


def normal(*sizes):
    return torch.randn(*sizes)


def programs():
    """Name, model, dynamic sizes, and the inputs of each run."""
    yield "sizes", Sizes(), ({0: COUNT}, None), [(normal(n, 6), normal(3)) for n in (4, 2, 16)]
    yield "found", Found(), None, [(torch.tensor([0.0, 1.0, -1.0, 2.0]),), (torch.ones(4),), (torch.zeros(4),)]
    yield "either", Either(), None, [(normal(3).abs() * sign, normal(3)) for sign in (1, -1)]
    yield "nested", Nested(), ({0: COUNT},), [(sign * torch.ones(n, 2),) for n in (2, 6) for sign in (1, -1)]
    yield "rows", Rows(), ({0: COUNT}, None), [(normal(n, 4), normal(4)) for n in (3, 2, 9)]
    yield "running", Running(), None, [(normal(3, 4), normal(4))]
    yield "while", While(), None, [(torch.tensor(n), normal(4), normal(4)) for n in (0, 2, 7)]


def stateful():
    """As `programs`, with the inputs of each call."""
    yield "total", Total(), [(normal(3),) for _ in range(4)]
    yield "decoder", Decoder(), [(torch.tensor([[n * 5 % 32]]), torch.tensor([n])) for n in range(8)]


def tensors(results):
    results = results if isinstance(results, (tuple, list)) else [results]
    return [torch.as_tensor(result).clone().contiguous() for result in results]


def write(folder, name, index, names, inputs, outputs):
    save_file({key: value.clone() for key, value in zip(names, inputs)}, folder / f"{name}.{index}.inputs.safetensors")
    outputs = {f"output_{position}": value for position, value in enumerate(outputs)}
    save_file(outputs, folder / f"{name}.{index}.outputs.safetensors")


def exported(folder, name, model, example, sizes=None):
    program = export(model.eval(), example, dynamic_shapes=sizes, strict=False)
    save(program, folder / f"{name}.pt2")
    return [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]


def main(folder):
    torch.manual_seed(0)
    with torch.no_grad():
        for name, model, sizes, runs in programs():
            names = exported(folder, name, model, runs[0], sizes)
            for index, inputs in enumerate(runs):
                write(folder, name, index, names, inputs, tensors(model(*inputs)))
        for name, model, calls in stateful():
            names = exported(folder, name, model, calls[0])
            results = [torch.cat(column) for column in zip(*(tensors(model(*call)) for call in calls))]
            write(folder, name, 0, names, [torch.cat(column) for column in zip(*calls)], results)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
