"""Measures what a call from Python costs: `x * y + y` on two tensors of 2 x 2 float32, in etbuild, ExecuTorch and ONNX Runtime.

    python overhead.py [--rounds 200] [--calls 500] [--out overhead.json]

Needs etbuild's wheel, executorch, onnx, onnxruntime and torch in one environment. A round calls each runtime a number of times, one runtime
after the other, so that a change of the machine meets all of them; a runtime's time is the median of its rounds. The time includes that of
a Python function which makes the call, about 0.05 us.
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy
import onnx
import onnxruntime
import torch
from executorch.exir import to_edge
from executorch.runtime import Runtime as ExecuTorch
from executorch.runtime import Verification

import etbuild


class MulAdd(torch.nn.Module):
    """The smallest model with two operators."""

    def forward(self, x, y):
        return x * y + y


def onnx_model(path):
    """The same model for ONNX Runtime."""
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 2])
    nodes = [onnx.helper.make_node("Mul", ["x", "y"], ["t"]), onnx.helper.make_node("Add", ["t", "y"], ["z"])]
    graph = onnx.helper.make_graph(nodes, "mul_add", [value("x"), value("y")], [value("z")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, path)


def callers(folder):
    """A function per runtime and kind of tensor, and what it has to give."""
    x, y = torch.rand(2, 2), torch.rand(2, 2)
    arrays = [x.numpy(), y.numpy()]
    exported = torch.export.export(MulAdd(), (x, y))
    program = folder / "mul_add.pte"
    program.write_bytes(to_edge(exported).to_executorch().buffer)

    ours = etbuild.Runtime.load(program).method("forward")
    from etbuild.runtime import Runtime

    ported = Runtime.get().load_program(program).load_method("forward")
    theirs = ExecuTorch.get().load_program(program, verification=Verification.Minimal).load_method("forward")
    onnx_model(folder / "mul_add.onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(folder / "mul_add.onnx", options, providers=["CPUExecutionProvider"])
    inputs = {"x": arrays[0], "y": arrays[1]}
    tensors, numpy_x, numpy_y = (x, y), *arrays
    calls = {
        "etbuild, NumPy": lambda: ours(numpy_x, numpy_y),
        "etbuild, PyTorch": lambda: ours(x, y),
        "etbuild.runtime, execute, PyTorch": lambda: ported.execute(tensors),
        "executorch.runtime, execute, PyTorch": lambda: theirs.execute(tensors),
        "ONNX Runtime, run, NumPy": lambda: session.run(None, inputs),
    }
    return calls, (x * y + y).numpy()


def first(outputs):
    """The only output as an array."""
    only = outputs[0] if isinstance(outputs, (list, tuple)) else outputs
    return numpy.asarray(only)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        calls, wanted = callers(Path(folder))
        for name, call in calls.items():
            assert numpy.allclose(first(call()), wanted), name
        times = {name: [] for name in calls}
        for _ in range(arguments.rounds):
            for name, call in calls.items():
                start = time.perf_counter_ns()
                for _ in range(arguments.calls):
                    call()
                times[name].append((time.perf_counter_ns() - start) / arguments.calls / 1e3)
    rows = {name: {"median_us": statistics.median(found), "least_us": min(found)} for name, found in times.items()}
    for name, row in rows.items():
        print(f"{name:40} {row['median_us']:8.2f} us  (least {row['least_us']:.2f})")
    executorch = rows["executorch.runtime, execute, PyTorch"]["median_us"]
    print(f"of executorch.runtime: {rows['etbuild, PyTorch']['median_us'] / executorch:.2f}")
    print(f"of ONNX Runtime: {rows['etbuild, NumPy']['median_us'] / rows['ONNX Runtime, run, NumPy']['median_us']:.2f}")
    if arguments.out:
        arguments.out.write_text(json.dumps({"rounds": arguments.rounds, "calls": arguments.calls, "rows": rows}, indent=2))


main()
