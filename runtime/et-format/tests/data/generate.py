"""Makes the program files of this folder with ExecuTorch 1.5's exporter. Needs: pip install executorch."""

import pathlib

import torch
from executorch.devtools import BundledProgram
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import serialize_from_bundled_program_to_flatbuffer
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir._serialize._flatbuffer_program import _program_to_flatbuffer
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from executorch.exir.schema import SubsegmentOffsets

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


class Affine(torch.nn.Module):
    """Two constants."""

    def __init__(self):
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor([0.5, 0.25, 4.0]))
        self.offset = torch.nn.Parameter(torch.tensor([[1.0, 2.0, 3.0]]))

    def forward(self, x):
        return x * self.factor + self.offset


class Numbers(torch.nn.Module):
    """Inputs that are no tensors."""

    def forward(self, x, n: int, flag: bool, f: float):
        return x + x


def lower(model, inputs, dynamic_shapes=None, **config):
    with torch.no_grad():
        exported = torch.export.export(model, inputs, dynamic_shapes=dynamic_shapes)
    return to_edge(exported).to_executorch(ExecutorchBackendConfig(**config))


def save(name, *arguments, **options):
    (FOLDER / f"{name}.pte").write_bytes(lower(*arguments, **options).buffer)


def save_with_data(name, *arguments):
    program = lower(*arguments, external_constants=lambda node: name)
    (FOLDER / f"{name}.pte").write_bytes(program.buffer)
    program.write_tensor_data_to_file(str(FOLDER))


def save_old(name, *arguments):
    """Constants in the flatbuffer, as before there were segments."""
    program = lower(*arguments).executorch_program
    program.constant_segment = SubsegmentOffsets(segment_index=0, offsets=[])
    (FOLDER / f"{name}.pte").write_bytes(_program_to_flatbuffer(program).data)


def save_bundle(name, model, *cases):
    suite = MethodTestSuite("forward", [MethodTestCase(list(case), [model(*case)]) for case in cases])
    bundle = BundledProgram(lower(model, cases[0]), [suite])
    (FOLDER / f"{name}.bpte").write_bytes(serialize_from_bundled_program_to_flatbuffer(bundle))


save("add", Add(), (torch.ones(2, 3), torch.ones(2, 3)))
save("state", State(), (torch.ones(3), 2), passes=[InitializedMutableBufferPass(["total"])], emit_mutable_buffer_names=True)
batch = torch.export.Dim("batch", min=1, max=4)
save("branch", Branch(), (torch.tensor(True), torch.ones(3, 2)), (None, {0: batch}))
unplanned = MemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
save("unplanned", Add(), (torch.ones(3, 2), torch.ones(3, 2)), ({0: batch}, {0: batch}), memory_planning_pass=unplanned)
save_with_data("external", Affine(), (torch.ones(2, 3),))
save_old("old", Affine(), (torch.ones(2, 3),))
counting = torch.arange(6.0).reshape(2, 3)
save_bundle("bundled", Numbers(), (counting, 2, True, 0.5), (counting * 3, 2, True, 0.5))
