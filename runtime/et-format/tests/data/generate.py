"""Makes the program files of this folder with ExecuTorch 1.5's exporter. Needs: pip install executorch."""

import pathlib

import torch
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass

FOLDER = pathlib.Path(__file__).parent


class Add(torch.nn.Module):
    """Everything planned, no constant, no segment."""

    def forward(self, x, y):
        return x + y


class State(torch.nn.Module):
    """A mutable buffer with an initial value, a constant and an integer input."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.tensor([1.0, 2.0, 3.0]))
        self.weight = torch.nn.Parameter(torch.tensor([0.5, 0.25, 4.0]))

    def forward(self, x, n: int):
        self.total.add_(x)
        return self.total * self.weight + n


class Branch(torch.nn.Module):
    """Jumps, moves, a view, dynamic shapes."""

    def forward(self, p, x):
        return torch.cond(p, lambda x: (x + x).reshape(-1), lambda x: x.reshape(-1) * 3.0, (x,))


def save(name, model, inputs, dynamic_shapes=None, **config):
    with torch.no_grad():
        exported = torch.export.export(model, inputs, dynamic_shapes=dynamic_shapes)
    program = to_edge(exported).to_executorch(ExecutorchBackendConfig(**config))
    (FOLDER / f"{name}.pte").write_bytes(program.buffer)


save("add", Add(), (torch.ones(2, 3), torch.ones(2, 3)))
save("state", State(), (torch.ones(3), 2), passes=[InitializedMutableBufferPass(["total"])], emit_mutable_buffer_names=True)
batch = torch.export.Dim("batch", min=1, max=4)
save("branch", Branch(), (torch.tensor(True), torch.ones(3, 2)), (None, {0: batch}))
unplanned = MemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
save("unplanned", Add(), (torch.ones(3, 2), torch.ones(3, 2)), ({0: batch}, {0: batch}), memory_planning_pass=unplanned)
