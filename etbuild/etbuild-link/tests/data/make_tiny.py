"""Writes tiny.pte, a program of two operators, with ExecuTorch itself, and cases that PyTorch computed."""

import struct

import torch
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.passes import MemoryPlanningPass


class Tiny(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.tensor([[0.5, -1.0, 2.0, -0.25]]))

    def forward(self, x):
        return torch.relu(x + self.offset)


torch.manual_seed(0)
cases = torch.randn(8, 1, 4)
edge = to_edge(torch.export.export(Tiny(), (cases[0],)))
program = edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass()))
with open("tiny.pte", "wb") as file:
    program.write_to_file(file)
outputs = torch.stack([Tiny()(case) for case in cases])
for name, tensor in {"inputs": cases, "outputs": outputs}.items():
    with open(f"tiny.{name}.bin", "wb") as file:
        file.write(struct.pack(f"<{tensor.numel()}f", *tensor.flatten().tolist()))
plan = program.executorch_program.execution_plan[0]
print(plan.name, len(plan.values), plan.non_const_buffer_sizes, [(o.name, o.overload) for o in plan.operators])
