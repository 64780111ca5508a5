"""Makes program files of every kind that upstream's exporter writes, with inputs and what eager mode computes from them.

    python programs.py OUT                                   (executorch, torch, safetensors)

OUT gets one folder per program, and `runs.json`: a list of runs. A run has the `file`, its `data` files, the `method`,
the folder of the `case` (`inputs.safetensors`, `inputs.json` for what is no tensor, `case.json` with the order of the
names, `outputs.safetensors` from eager mode, `upstream.safetensors` from upstream's runtime), or what the run is
`refused` with. Every program passes upstream's own verification and runs there, but for those that it cannot load.
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import torch
from executorch.devtools import BundledProgram
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import serialize_from_bundled_program_to_flatbuffer
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir._serialize._flatbuffer_program import _program_to_flatbuffer
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from executorch.exir.schema import SubsegmentOffsets
from executorch.runtime import Runtime, Verification
from safetensors.torch import save_file
from torch.export import Dim, export
from torch.utils._pytree import tree_leaves

NN = torch.nn


class Mlp(NN.Module):
    def __init__(self, dtype=torch.float32):
        super().__init__()
        self.first, self.second = NN.Linear(4, 8, dtype=dtype), NN.Linear(8, 3, dtype=dtype)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Scale(NN.Module):
    """Sizes that follow the inputs."""

    def forward(self, x, y):
        return torch.cat([x * 2.0, y], 0), (x + y).reshape(-1)


class Total(NN.Module):
    """A buffer that remembers."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.tensor([1.0, -2.0, 3.0]))

    def forward(self, x):
        self.total.add_(x)
        return self.total * 0.5


class Cache(NN.Module):
    """Writes rows at given positions of a buffer, as a cache of keys and values does."""

    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(8, 4))

    def forward(self, position, x):
        self.rows[position] = x
        return self.rows * 1.0


class Branch(NN.Module):
    def forward(self, flag, x):
        return torch.cond(flag, lambda x: x + 1.0, lambda x: x * 3.0, (x,))


class Map(NN.Module):
    def forward(self, rows, y):
        return torch._higher_order_ops.map(lambda row, y: row * y + 1.0, rows, y)


class Scan(NN.Module):
    def forward(self, first, rows):
        step = lambda sum, row: (sum + row, sum * row)
        return torch._higher_order_ops.scan(step, first, rows)


class Mixed(NN.Module):
    """Inputs that are no tensors."""

    def forward(self, x, count: int, factor: float, flag: bool, text: str, nothing=None):
        return (x * factor + count if flag else x), count, factor, flag


class Pieces(NN.Module):
    """A list of outputs."""

    def forward(self, x):
        return torch.split(x, [1, 2, 3]), {"sum": x.sum(0), "none": None}


class Changes(NN.Module):
    """An input that the model changes."""

    def forward(self, x, y):
        x.add_(y)
        return x * 2.0


class Image(NN.Module):
    """Channels-last memory."""

    def __init__(self):
        super().__init__()
        self.convolution = NN.Conv2d(3, 4, 3, padding=1)

    def forward(self, x):
        return self.convolution(x.to(memory_format=torch.channels_last))


@dataclass
class Writer:
    """Writes the programs and the list of runs."""

    out: Path
    runs: list = field(default_factory=list)

    def file(self, name, data):
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(data))
        return path

    def case(self, name, leaves, outputs=None):
        """Writes a case; inputs are named against the order of the alphabet."""
        folder = self.out / name
        folder.mkdir(parents=True, exist_ok=True)
        names = [f"input_{chr(ord('z') - index)}" for index in range(len(leaves))]
        tensors = {n: v.contiguous().clone() for n, v in zip(names, leaves) if isinstance(v, torch.Tensor)}
        others = {n: v for n, v in zip(names, leaves) if not isinstance(v, torch.Tensor)}
        save_file(tensors, folder / "inputs.safetensors")
        if others:
            (folder / "inputs.json").write_text(json.dumps(others))
        (folder / "case.json").write_text(json.dumps({"inputs": [{"name": name} for name in names]}))
        if outputs is not None:
            self.outputs(folder / "outputs.safetensors", outputs)
        return folder

    def outputs(self, path, values):
        tensors, texts = {}, {}
        for index, value in enumerate(values):
            if isinstance(value, str):
                texts[f"output_{index}"] = value
            elif value is not None:
                dtype = torch.float64 if isinstance(value, float) else None
                tensor = torch.as_tensor(value, dtype=dtype) if dtype else torch.as_tensor(value)
                tensors[f"output_{index}"] = tensor.detach().clone(memory_format=torch.contiguous_format)
        save_file(tensors, path, metadata=texts or None)

    def run(self, name, file, leaves, expected, *, method="forward", data=(), upstream=True):
        """A run that agrees with eager mode and with upstream's runtime."""
        folder = self.case(name, leaves, expected)
        if upstream:
            results = in_upstream(file, method, leaves, data)[-len(expected) :]
            self.outputs(folder / "upstream.safetensors", results)
        self.add(file, case=folder, method=method, data=data)

    def refuse(self, name, file, leaves, words, *, method="forward", data=()):
        self.add(file, case=self.case(name, leaves), method=method, data=data, refused=words)

    def add(self, file, *, case=None, method="forward", data=(), **more):
        run = {"file": str(file), "data": [str(path) for path in data], "method": method, **more}
        self.runs.append(run | ({"case": str(case)} if case else {}))


def in_upstream(file, method, leaves, data):
    """What upstream's runtime computes, or an error."""
    path = str(data[0]) if data else None
    program = Runtime.get().load_program(file, verification=Verification.InternalConsistency, data_path=path)
    return [v.clone() if isinstance(v, torch.Tensor) else v for v in program.load_method(method).execute(leaves)]


def eager(model, inputs):
    with torch.no_grad():
        clones = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
        return [v for v in tree_leaves(model(*clones)) ]


def lower(model, inputs, dynamic_shapes=None, constants=None, **config):
    """A program manager for one method, or for each of a dictionary."""
    models = model if isinstance(model, dict) else {"forward": (model, inputs)}
    with torch.no_grad():
        exported = {
            name: export(model.eval(), inputs, dynamic_shapes=dynamic_shapes, strict=False)
            for name, (model, inputs) in models.items()
        }
    return to_edge(exported, constant_methods=constants).to_executorch(ExecutorchBackendConfig(**config))


def plain(writer, name, model, inputs, **options):
    file = writer.file(f"{name}/program.pte", lower(model, inputs, **options).buffer)
    writer.run(f"{name}/case", file, tree_leaves(inputs), eager(model, inputs))
    return file


def old_constants(writer):
    """Constants in the flatbuffer, no segment, no header: how files were written before 2024."""
    model, x = Mlp(), torch.randn(2, 4)
    program = lower(model, (x,)).executorch_program
    program.constant_segment = SubsegmentOffsets(segment_index=0, offsets=[])
    file = writer.file("old_constants/program.pte", _program_to_flatbuffer(program).data)
    assert b"eh00" not in file.read_bytes()
    writer.run("old_constants/case", file, [x], eager(model, [x]), upstream=False)  # built to refuse such files


def dynamic(writer):
    batch = Dim("batch", min=1, max=6)
    inputs = lambda count: (torch.randn(count, 3), torch.randn(count, 3))
    unplanned = MemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
    for name, config in {"dynamic": {}, "dynamic_unplanned": {"memory_planning_pass": unplanned}}.items():
        lowered = lower(Scale(), inputs(3), ({0: batch}, {0: batch}), **config)
        file = writer.file(f"{name}/program.pte", lowered.buffer)
        for count in (1, 4, 6):
            x, y = inputs(count)
            writer.run(f"{name}/case_{count}", file, [x, y], eager(Scale(), [x, y]))
        writer.refuse(f"{name}/too_large", file, inputs(7), "Float[7, 3] was given, at most Float[6, 3] is wanted")
        writer.refuse(f"{name}/too_large_by_far", file, inputs(12), "Float[12, 3] was given, at most Float[6, 3]")
        writer.refuse(f"{name}/too_wide", file, [torch.ones(3, 4), torch.ones(3, 4)], "Float[3, 4] was given")


def stateful(writer):
    """Three calls of one module: cases are stacked along the first dimension."""
    state = InitializedMutableBufferPass(["total"])
    file = writer.file("stateful/program.pte", lower(Total(), (torch.ones(3),), passes=[state]).buffer)
    x, model = torch.randn(9), Total()
    expected = torch.cat([model(part) for part in x.split(3)])
    writer.run("stateful/case", file, [x], [expected], upstream=False)
    writer.run("stateful/first", file, [x[:3]], eager(Total(), [x[:3]]))


def cache(writer):
    file = writer.file("cache/program.pte", lower(Cache(), (torch.tensor([0, 1]), torch.ones(2, 4))).buffer)
    positions, x = torch.tensor([1, 2, 2, 7, 0, 1]), torch.randn(6, 4)
    model = Cache()
    expected = torch.cat([model(p, rows) for p, rows in zip(positions.split(2), x.split(2))])
    writer.run("cache/case", file, [positions, x], [expected], upstream=False)
    writer.run("cache/first", file, [positions[:2], x[:2]], eager(Cache(), [positions[:2], x[:2]]))


def methods(writer):
    models = {"forward": (Mlp(), (torch.randn(2, 4),)), "double": (Scale(), (torch.randn(2, 3), torch.randn(2, 3)))}
    constants = {
        "get_length": 128,
        "get_ratio": 0.25,
        "get_flag": True,
        "get_name": "tiny",
        "get_table": torch.arange(6).reshape(2, 3),
        "get_ends": [1, 2],
    }
    file = writer.file("methods/program.pte", lower(models, None, constants=constants).buffer)
    for method, (model, inputs) in models.items():
        writer.run(f"methods/{method}", file, list(inputs), eager(model, inputs), method=method)
    for method, value in constants.items():
        writer.run(f"methods/{method}", file, [], tree_leaves(value), method=method)
    writer.refuse("methods/missing", file, [], "no method backward; there are: double, forward", method="backward")


def external(writer):
    """Weights in one data file, and in two."""
    model, x = Mlp(), torch.randn(2, 4)
    lowered = lower(model, (x,), external_constants=True)
    lowered.write_tensor_data_to_file(str(writer.file("external/none", b"").parent))
    file = writer.file("external/program.pte", lowered.buffer)
    (data,) = (writer.out / "external").glob("*.ptd")
    writer.run("external/case", file, [x], eager(model, [x]), data=[data])
    writer.refuse("external/none_given", file, [x], "first.weight: it is in a data file, and none was given")

    tag = lambda node: "one" if "first" in node.name else "two"
    lowered = lower(model, (x,), external_constants=tag)
    lowered.write_tensor_data_to_file(str(writer.out / "external"))
    parts = writer.file("external/parts.pte", lowered.buffer)
    one, two = writer.out / "external/one.ptd", writer.out / "external/two.ptd"
    writer.run("external/parts", parts, [x], eager(model, [x]), data=[one, two], upstream=False)
    writer.refuse("external/one_lacks", parts, [x], "no data file has it", data=[one])
    writer.refuse("external/twice", parts, [x], "is in", data=[one, one])
    writer.refuse("external/no_data_file", parts, [x], "a data file is malformed", data=[file])

    wider = NN.Sequential()
    wider.add_module("first", NN.Linear(4, 9)), wider.add_module("second", NN.Linear(9, 3))
    other = lower(wider, (x,), external_constants=True)
    folder = writer.file("external/other/none", b"").parent
    other.write_tensor_data_to_file(str(folder))
    (wrong,) = folder.glob("*.ptd")
    writer.refuse("external/wrong", file, [x], "the data file has Float[9, 4], the program wants Float[8, 4]", data=[wrong])

    mutable = lower(Total(), (torch.ones(3),), external_mutable_weights=True)
    folder = writer.file("external_state/none", b"").parent
    mutable.write_tensor_data_to_file(str(folder))
    file = writer.file("external_state/program.pte", mutable.buffer)
    data = list(folder.glob("*.ptd"))
    if data:
        x = torch.randn(3)
        writer.run("external_state/case", file, [x], eager(Total(), [x]), data=data)


def bundled(writer):
    model, inputs = Mlp(), [torch.randn(2, 4) for _ in range(3)]
    lowered = lower(model, (inputs[0],))
    suite = lambda outputs: MethodTestSuite("forward", [MethodTestCase([x], y) for x, y in zip(inputs, outputs)])
    bundle = lambda outputs: serialize_from_bundled_program_to_flatbuffer(BundledProgram(lowered, [suite(outputs)]))
    right = [eager(model, [x]) for x in inputs]
    file = writer.file("bundled/right.bpte", bundle(right))
    writer.add(file, bundled=3)
    writer.run("bundled/case", file, [inputs[0]], right[0], upstream=False)
    wrong = [right[0], [right[1][0] + 1e-3], right[2]]
    writer.add(writer.file("bundled/wrong.bpte", bundle(wrong)), refused="case 1: output_0: 6 of 6 elements")
    mixed = (torch.ones(3), 2, 0.5, True)
    adder = Numbers()
    suite = MethodTestSuite("forward", [MethodTestCase(list(mixed), eager(adder, mixed))])
    program = BundledProgram(lower(adder, mixed), [suite])
    writer.add(writer.file("bundled/numbers.bpte", serialize_from_bundled_program_to_flatbuffer(program)), bundled=1)


class Numbers(NN.Module):
    def forward(self, x, count: int, factor: float, flag: bool):
        return x * factor + count


def mixed(writer):
    inputs = (torch.randn(3), 2, 0.5, True, "rounded", None)
    file = plain(writer, "mixed", Mixed(), inputs)
    writer.refuse("mixed/other", file, [inputs[0], 3, *inputs[2:]], "input_y: 3 was given, the program was made for 2")


def control_flow(writer):
    x = torch.randn(2, 3)
    file = plain(writer, "branch", Branch(), (torch.tensor(True), x))
    writer.run("branch/other", file, [torch.tensor(False), x], eager(Branch(), [torch.tensor(False), x]))
    plain(writer, "map", Map(), (torch.randn(4, 3), torch.randn(3)))
    plain(writer, "scan", Scan(), (torch.randn(3), torch.randn(4, 3)))


def main(out):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    writer = Writer(Path(out))
    plain(writer, "static", Mlp(), (torch.randn(2, 4),))
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        plain(writer, str(dtype).removeprefix("torch."), Mlp(dtype), (torch.randn(2, 4, dtype=dtype),))
    plain(writer, "pieces", Pieces(), (torch.randn(6, 2),))
    plain(writer, "changes", Changes(), (torch.randn(3), torch.randn(3)))
    plain(writer, "image", Image(), (torch.randn(1, 3, 5, 5),))
    steps = [old_constants, dynamic, stateful, cache, methods, external, bundled, mixed, control_flow]
    for step in steps:
        step(writer)
    (writer.out / "runs.json").write_text(json.dumps(writer.runs, indent=1))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
