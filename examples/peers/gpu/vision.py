#!/usr/bin/env python3
"""Vision models on the Vulkan driver of this machine: etbuild beside ncnn and ONNX Runtime's WebGPU provider, interleaved.

    vision.py --etbuild ETBUILD --latency LATENCY --work FOLDER [--models resnet18,...] [--rounds 5] [--runs 5]

ETBUILD is the command with the feature `gpu`, LATENCY the example `latency` of `etbuild-gpu`. Models are torchvision's with random
weights of seed 0. Prints a row per model: median latencies in ms, ratios, and the largest error relative to PyTorch.
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import monotonic

import numpy as np
import torch
import torchvision
from safetensors.numpy import load_file, save_file

SHAPE = (1, 3, 224, 224)
MODELS = ["mobilenet_v3_small", "resnet18", "resnet50", "vit_b_16", "swin_t"]


def prepare(name, folder):
    """The archive, an input and PyTorch's output."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    model = torchvision.models.get_model(name, weights=None)
    inputs = torch.randn(SHAPE)
    if any(isinstance(module, torch.nn.BatchNorm2d) for module in model.modules()):
        with torch.no_grad():
            model.train()(torch.randn(8, *SHAPE[1:]))
    model.eval()
    for parameter in model.parameters():
        if parameter.abs().sum() == 0:
            torch.nn.init.normal_(parameter, std=0.02)
    with torch.no_grad():
        expected = model(inputs).numpy()
    torch.export.save(torch.export.export(model, (inputs,)), folder / "model.pt2")
    save_file({"x": inputs.numpy()}, folder / "input.safetensors")
    return model, inputs, expected


def error(got, expected):
    return float(np.abs(got.ravel() - expected.ravel()).max() / np.abs(expected).max())


def etbuild(arguments, folder, expected):
    """Builds the program; its path and its error."""
    environment = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"))
    subprocess.run([arguments.etbuild, "run", folder / "model.pt2", "--partition", "gpu", "--inputs",
                    folder / "input.safetensors", "--outputs", folder / "output.safetensors"],
                   check=True, env=environment, capture_output=True)
    got = next(iter(load_file(folder / "output.safetensors").values()))
    programs = [path for path in (folder / "cache").rglob("*") if path.is_file() and path.open("rb").read(8)[4:] == b"ET12"]
    return max(programs, key=lambda path: path.stat().st_size), error(got, expected)


def run_etbuild(arguments, program):
    text = subprocess.run([arguments.latency, program, str(arguments.runs)], check=True, capture_output=True, text=True)
    return float(re.search(r"median ([0-9.]+) ms", text.stdout)[1])


def ncnn_runner(model, inputs, folder):
    import ncnn
    import pnnx
    weights = folder / "ncnn"
    weights.mkdir(exist_ok=True)
    place = os.getcwd()
    os.chdir(weights)
    pnnx.export(model, "m.pt", inputs, fp16=False)
    os.chdir(place)
    net = ncnn.Net()
    net.opt.use_vulkan_compute = True
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
    assert net.load_param(str(weights / "m.ncnn.param")) == 0 and net.load_model(str(weights / "m.ncnn.bin")) == 0
    picture = inputs[0].numpy()

    def run():
        extractor = net.create_extractor()
        extractor.input("in0", ncnn.Mat(picture))
        return np.array(extractor.extract("out0")[1])
    return run


def onnx_runner(model, inputs, folder):
    import onnxruntime
    path = folder / "model.onnx"
    torch.onnx.export(model, (inputs,), path, dynamo=True, input_names=["x"])
    session = onnxruntime.InferenceSession(str(path), providers=["WebGpuExecutionProvider"])
    assert "WebGpuExecutionProvider" in session.get_providers()
    return lambda: session.run(None, {"x": inputs.numpy()})[0]


def timed(run, runs):
    times = []
    for _ in range(runs):
        start = monotonic()
        run()
        times.append((monotonic() - start) * 1e3)
    return median(times)


def measure(name, arguments):
    folder = Path(arguments.work) / name
    model, inputs, expected = prepare(name, folder)
    program, own_error = etbuild(arguments, folder, expected)
    peers, cells = {}, []
    for peer, make in (("ncnn", ncnn_runner), ("onnxruntime-webgpu", onnx_runner)):
        if peer not in arguments.peers.split(","):
            continue
        try:
            run = make(model, inputs, folder)
            cells.append(f"{peer} error {error(np.asarray(run()), expected):.1e}")
            run()
            peers[peer] = run
        except Exception as problem:  # A peer that cannot run a model is a row of the table.
            cells.append(f"{peer}: {(str(problem).splitlines() or [repr(problem)])[0][:80]}")
    run_etbuild(arguments, program)
    own, others = [], {peer: [] for peer in peers}
    for _ in range(arguments.rounds):
        own.append(run_etbuild(arguments, program))
        for peer, run in peers.items():
            others[peer].append(timed(run, arguments.runs))
    ratios = ", ".join(f"{peer} {median(times):.1f} (ratio {median(own) / median(times):.2f})" for peer, times in others.items())
    print(f"| {name} | {median(own):.1f} | {ratios} | {own_error:.1e} | {'; '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etbuild", required=True)
    parser.add_argument("--latency", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--peers", default="ncnn,onnxruntime-webgpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    print("| model | etbuild ms | peers ms | error | peers' errors |\n|---|---|---|---|---|")
    for name in arguments.models.split(","):
        measure(name, arguments)


if __name__ == "__main__":
    sys.exit(main())
