"""Compares etbuild with ExecuTorch's Arm backend on the networks of MLPerf Tiny: operators on an Ethos-U NPU, and Vela's estimates.

    python ethos.py --tools FOLDER --etbuild PATH [--network keyword-spotting ...]

`FOLDER` is a virtual environment with ethos-u-vela and tosa-tools. The Python that runs this script has torch, torchao, executorch and
safetensors. Both compilers quantize the same network with the same 32 inputs, and Vela compiles both graphs with the same options. Results are
written to `out/ethos`: graphs, Vela's tables for each layer, and etbuild's list of nodes with their backends.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tinyml"))

import torch
from safetensors.torch import save_file

import networks

OUT = HERE / "out" / "ethos"

NPUS = {
    "corstone-300": ("ethos-u55-128", "Ethos_U55_High_End_Embedded", "Shared_Sram"),
    "corstone-320": ("ethos-u85-256", "Ethos_U85_SYS_DRAM_Mid", "Sram_Only"),
}

RECIPE = """etbuild: 1
name: {name}
model: {{ pt2: {name}.pt2 }}
quantize: {{ scheme: w8a8, calibrate: {name}.safetensors }}
targets: [{target}]
verify: {{ inputs: {name}-test.safetensors, tolerance: null }}
"""

# A Vela that keeps the graphs which it gets.
KEEPING = """#!/bin/sh
for argument; do case $argument in *.tosa) cp "$argument" "{folder}/etbuild-$$.tosa";; esac; done
exec {vela} "$@"
"""


def vela(tools: pathlib.Path, npu, graph: pathlib.Path) -> dict:
    """Vela's estimate for a graph: cycles, and the operators of the NPU and of the processor."""
    accelerator, system_config, memory_mode = npu
    folder = graph.with_suffix("")
    options = ["--accelerator-config", accelerator, "--system-config", system_config, "--memory-mode", memory_mode]
    options += ["--config", "Arm/vela.ini", "--output-format", "raw", "--verbose-performance", "--output-dir", folder]
    ran = subprocess.run([tools / "bin/vela", *options, graph], capture_output=True, text=True, check=True)
    summary = next(folder.glob("*_summary_*.csv"))
    row = next(csv.DictReader(summary.open()))
    layers = [line for line in ran.stdout.splitlines() if "operators =" in line]
    (folder / "performance.txt").write_text(ran.stdout)
    return {"cycles": int(float(row["cycles_total"])), "sram": float(row["sram_memory_used"]), "operators": layers}


def ours(arguments, name: str, target: str) -> dict:
    """Builds with etbuild; the partition's nodes, and the estimate for its graphs."""
    folder = OUT / target / name
    folder.mkdir(parents=True, exist_ok=True)
    [old.unlink() for old in folder.glob("*.tosa")]
    keeping = folder / "vela"
    keeping.write_text(KEEPING.format(folder=folder.resolve(), vela=(arguments.tools / "bin/vela").resolve()))
    keeping.chmod(0o755)
    recipe = OUT / f"{name}-{target}.yaml"
    recipe.write_text(RECIPE.format(name=name, target=target))
    environment = {**os.environ, "VELA": str(keeping.resolve()), "ETBUILD_CACHE": str((folder / "cache").resolve())}
    subprocess.run(["rm", "-rf", folder / "cache"], check=True)
    words = [arguments.etbuild, "explain", "--partition", recipe]
    report = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
    (folder / "partition.txt").write_text(report)
    graphs = sorted(folder.glob("*.tosa"))
    found = [vela(arguments.tools, NPUS[target], graph) for graph in graphs]
    return {"graphs": len(graphs), "cycles": sum(one["cycles"] for one in found), "report": report}


def theirs(arguments, make, name: str, target: str) -> dict:
    """Lowers with ExecuTorch's Arm backend, and compiles its graphs."""
    from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
    from executorch.backends.arm.quantizer import EthosUQuantizer, get_symmetric_quantization_config
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    folder = OUT / target / name / "executorch"
    folder.mkdir(parents=True, exist_ok=True)
    [old.unlink() for old in folder.glob("*.tosa")]
    accelerator, system_config, memory_mode = NPUS[target]
    spec = EthosUCompileSpec(accelerator, system_config=system_config, memory_mode=memory_mode)
    spec.dump_intermediate_artifacts_to(str(folder))
    network, inputs = networks.build(make)
    example = (inputs[:1].clone(),)
    module = torch.export.export(network, example).module(check_guards=False)
    quantizer = EthosUQuantizer(spec)
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(module, quantizer)
    [prepared(case[None]) for case in inputs]
    program = torch.export.export(convert_pt2e(prepared), example)
    edge = to_edge_transform_and_lower(
        program, partitioner=[EthosUPartitioner(spec)], compile_config=EdgeCompileConfig(_check_ir_validity=False)
    )
    nodes = [node for node in edge.exported_program().graph.nodes if node.op == "call_function"]
    rest = [str(node.target) for node in nodes if "executorch_call_delegate" not in str(node.target)]
    graphs = sorted(folder.glob("output_tag*.tosa"))
    found = [vela(arguments.tools, NPUS[target], graph) for graph in graphs]
    return {"graphs": len(graphs), "cycles": sum(one["cycles"] for one in found), "rest": rest}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--etbuild", type=pathlib.Path, required=True)
    parser.add_argument("--network", nargs="*")
    parser.add_argument("--target", nargs="*", default=list(NPUS))
    arguments = parser.parse_args()
    sys.path += [str(path) for path in arguments.tools.glob("lib/python*/site-packages")]
    OUT.mkdir(parents=True, exist_ok=True)
    for make in networks.SHAPES:
        name = make.__name__.replace("_", "-")
        if arguments.network and name not in arguments.network:
            continue
        network, inputs = networks.build(make)
        torch.export.save(torch.export.export(network, (inputs[:1].clone(),)), OUT / f"{name}.pt2")
        save_file({"input": inputs}, OUT / f"{name}.safetensors")
        with torch.no_grad():
            save_file({"input": inputs[:2], "output_0": network(inputs[:2])}, OUT / f"{name}-test.safetensors")
        for target in arguments.target:
            mine, peer = ours(arguments, name, target), theirs(arguments, make, name, target)
            print(name, target, f"etbuild {mine['cycles']} in {mine['graphs']}", f"executorch {peer['cycles']} in {peer['graphs']}",
                  f"{mine['cycles'] / peer['cycles']:.3f}", "executorch's processor:", peer["rest"], flush=True)


if __name__ == "__main__":
    main()
