"""Compares etbuild with TensorFlow Lite Micro and CMSIS-NN on the networks of MLPerf Tiny: instructions, flash, RAM, stack, outputs.

    python measure.py --sources FOLDER --etbuild PATH [--core m33 ...] [--network keyword-spotting ...] [--logits] [--profile]

`FOLDER` has checkouts of tflite-micro, flatbuffers, gemmlowp, ruy, CMSIS-NN and CMSIS_6 (README.md says which). Results are written to
`out/`; needs gcc and QEMU for the cores (README.md), and Python with torch, torchao, flatbuffers and safetensors.
"""

import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tinyml"))

import numpy as np
import torch
from safetensors.torch import save_file

import build
import networks
import quantize
import tflite
from image import Image

OUT = HERE / "out"


def write_models(sources: pathlib.Path, make, logits: bool) -> str:
    """Writes the files of a network for both runtimes, without softmax if `logits`; returns its name."""
    name = make.__name__.replace("_", "-") + ("-logits" if logits else "")
    if (OUT / f"{name}.pt2").exists():
        return name
    network, inputs = networks.build(make)
    layers = quantize.quantize(network, inputs)
    layers = {key: layer for key, layer in layers.items() if not logits or layer.kind != "SOFTMAX"}
    model = quantize.Quantized(layers).eval()
    integers = quantize.integers(inputs[:2], layers["input"])
    (OUT / f"{name}.tflite").write_bytes(tflite.write(sources, layers))
    first = integers[0].numpy()
    mirrored = first[:, ::-1, ::-1].transpose(1, 2, 0) if first.ndim == 3 else first
    (OUT / f"{name}.tflite.in").write_bytes(np.ascontiguousarray(mirrored).tobytes())
    kinds = dict.fromkeys(layer.kind for layer in list(layers.values())[1:])
    (OUT / f"{name}.ops").write_text(" ".join(kinds))
    constants = [layer for layer in layers.values() if layer.weights is not None]
    (OUT / f"{name}.weights").write_text(str(sum(layer.weights.nbytes + layer.bias.nbytes for layer in constants)))
    with torch.no_grad():
        outputs = torch.cat([model(case[None]) for case in integers])
    save_file({"x": integers, "output_0": outputs}, OUT / f"{name}.safetensors")
    torch.export.save(torch.export.export(model, (integers[:1].clone(),)), OUT / f"{name}.pt2")
    return name


def peer(arguments, core: build.Core, name: str, weights: int) -> dict:
    """Builds, runs and measures TensorFlow Lite Micro."""
    image = Image(build.firmware(core, arguments.sources, OUT, OUT / f"{name}.tflite", 160 << 10), core.architecture.prefix)
    lines, calls = image.run(core, OUT / "libcount.so", arguments.profile)
    found = {line.split()[0]: bytes.fromhex(line.split()[1]) for line in lines if " " in line}
    if "arena" not in found:
        return {}
    # The interpreter runs twice; the fourth call ends the second run.
    return image.figures(calls[3], weights, int.from_bytes(found["arena"], "little"), found["outputs"])


def ours(arguments, core: build.Core, name: str, weights: int) -> dict:
    """Builds, runs and measures etbuild; the second case is measured, between the reports of the first and the second."""
    image = built(arguments, core, name, [])
    if image is None:
        return {}
    lines, calls = image.run(core, OUT / "libcount.so", arguments.profile)
    outputs = [bytes.fromhex(line.split('"')[3]) for line in lines if line.startswith('{"outputs"')]
    return image.figures(max(calls[2:]), weights, None, outputs[0])


def built(arguments, core: build.Core, name: str, keys: list) -> Image | None:
    """etbuild's firmware of the model and the cases of a name, with further keys of its recipe; `None` where the build fails."""
    recipe, unit = OUT / f"{name}-{core.name}.yaml", f"{name}-{core.name}"
    verify = f"verify: {{ inputs: {name}.safetensors, tolerance: 1e6 }}"
    targets = f"targets: [{target(core)}]"
    recipe.write_text("\n".join(["etbuild: 1", f"name: {unit}", f"model: {{ pt2: {name}.pt2 }}", targets, *keys, verify, ""]))
    folder = OUT / "etbuild"
    done = subprocess.run([arguments.etbuild, "build", recipe, "--out", folder], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return None
    elf = next(path for path in (folder / unit).rglob(unit) if path.is_file())
    return Image(elf, core.architecture.prefix)


def target(core: build.Core) -> str:
    """Writes the target of a core beside the recipes; returns its name."""
    name = f"peer-{core.name}"
    rust = f"triple: {core.triple}" + (f", cpu: {core.cpu}" if core.cpu else "")
    facts = {"name": name, "rust": rust, "flash": hex(core.flash), "ram": hex(core.ram)}
    text = (HERE / "target.yaml").read_text()
    for key, value in (facts | {"size": f"{core.ram_size >> 10} KiB"}).items():
        text = text.replace(f"@{key}@", value)
    (OUT / "targets").mkdir(exist_ok=True)
    (OUT / "targets" / f"{name}.yaml").write_text(text)
    return name


def row(core: str, name: str, peer: dict, ours: dict) -> str:
    """A line of the table: both figures, and the ratio."""
    cells = [core, name]
    for key in ["instructions", "flash", "ram", "stack"]:
        a, b = ours.get(key), peer.get(key)
        ratio = f" ({a / b:.2f})" if a and b else ""
        cells.append(f"{a or '-'} / {b or '-'}{ratio}")
    if ours.get("outputs") and peer.get("outputs"):
        distance = max(abs(a - b) for a, b in zip(*(np.frombuffer(side["outputs"], np.int8).astype(int) for side in (ours, peer))))
        cells.append(f"{distance}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=pathlib.Path, required=True)
    parser.add_argument("--etbuild", type=pathlib.Path, required=True)
    parser.add_argument("--core", nargs="*", default=list(build.CORES))
    parser.add_argument("--network", nargs="*", default=[make.__name__.replace("_", "-") for make in networks.SHAPES])
    parser.add_argument("--logits", action="store_true", help="measure the networks without softmax")
    parser.add_argument("--profile", action="store_true", help="print where the instructions are")
    arguments = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    build.count_plugin(OUT)
    print("| core | network | instructions | flash beyond weights | RAM | stack | largest difference |\n|---|---|---|---|---|---|---|")
    for make in networks.SHAPES:
        if make.__name__.replace("_", "-") not in arguments.network:
            continue
        name = write_models(arguments.sources, make, arguments.logits)
        weights = int((OUT / f"{name}.weights").read_text())
        for core in map(build.CORES.get, arguments.core):
            results = [side(arguments, core, name, weights) for side in (peer, ours)]
            print(row(core.name, name, *results), flush=True)


if __name__ == "__main__":
    main()
