"""Writes models that draw random numbers: `drawn.pt2` with all operators, `mixed.pt2` with dynamic sizes and half precision, `looped.pt2`
with loops."""

import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.while_loop import while_loop

COUNT = 4000


class Drawn(torch.nn.Module):
    """The outputs are in the order of the test's list."""

    def forward(self, a):
        ones = torch.ones_like(a)
        weights = torch.tensor([0.5, 0.0, 0.3, 0.2])
        return (
            torch.rand(COUNT),
            torch.rand_like(a),
            a.clone().uniform_(2, 5),
            torch.randn(COUNT),
            torch.randn_like(a),
            torch.normal(a, 2 * ones),
            torch.normal(3.0, 0.5, (COUNT,)),
            a.clone().normal_(-1, 3),
            torch.randint(10, (COUNT,)),
            torch.randint(-3, 4, (COUNT,)),
            torch.randint_like(a, 2, 6),
            torch.randperm(COUNT),
            torch.bernoulli(0.25 * ones),
            a.clone().bernoulli_(0.7),
            a.clone().exponential_(2.0),
            torch.multinomial(weights, COUNT, True),
            torch.stack([torch.multinomial(weights, 3) for _ in range(4)]),
            F.dropout(ones, 0.4, True),
            *torch.native_dropout(ones, 0.25, True),
            F.alpha_dropout(torch.randn(COUNT), 0.3, True),
            F.dropout1d(ones.view(20, 40, 5), 0.5, True),
            F.rrelu(-ones, 0.1, 0.3, True),
            a.clone().geometric_(0.5),
        )


class Mixed(torch.nn.Module):
    """The sizes of an input, in another type."""

    def forward(self, a):
        half = torch.rand_like(a, dtype=torch.float16)
        return half, F.dropout(a, 0.5, True), torch.randn(a.shape[0], 3, dtype=torch.float64)


class Looped(torch.nn.Module):
    """Rows of a map, rows of a loop in a loop, numbers behind the loops, and the last numbers of a loop."""

    def forward(self, a):
        rows = map_rows(torch.rand_like, a)
        nested = map_rows(lambda row: map_rows(torch.rand_like, row), a.view(2, -1, a.shape[1]))
        count = torch.zeros((), dtype=torch.int64)
        _, last = while_loop(lambda i, b: i < 3, lambda i, b: (i + 1, b + torch.rand_like(b)), (count, a[0].clone()))
        return rows, nested.view(-1, a.shape[1]), torch.rand_like(a), last.view(1, -1)


def main(folder):
    program = torch.export.export(Drawn(), (torch.zeros(COUNT),))
    torch.export.save(program, folder / "drawn.pt2")
    rows = torch.export.Dim("rows", min=1, max=64)
    program = torch.export.export(Mixed(), (torch.ones(8, 50),), dynamic_shapes=({0: rows},))
    torch.export.save(program, folder / "mixed.pt2")
    torch.export.save(torch.export.export(Looped(), (torch.zeros(6, 20),)), folder / "looped.pt2")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
