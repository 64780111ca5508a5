"""Compares etbuild's log-mel features of a second of sound with TensorFlow Lite Micro's front end: instructions, flash, RAM.

    python sound.py --sources FOLDER --etbuild PATH [--core m33 ...] [--profile]

`FOLDER` has checkouts of tflite-micro and kissfft (README.md says which). Both compute 40 bands from 20 Hz to 4 kHz of 49 frames of 480 samples
at 16 kHz: etbuild in 32 bits, the front end in 16 bits and with its reduction of noise, which it has always.
"""

import argparse
import pathlib

import torch
from safetensors.torch import save_file

import build
from image import Image
from measure import OUT, built, row

HERE = pathlib.Path(__file__).parent
FILES = ["fft.cc", "fft_util.cc", "kiss_fft_int16.cc", "filterbank.c", "filterbank_util.c", "frontend.c", "frontend_util.c", "log_lut.c", "log_scale.c"]
FILES += ["log_scale_util.c", "noise_reduction.c", "noise_reduction_util.c", "pcan_gain_control.c", "pcan_gain_control_util.c", "window.c", "window_util.c"]
FEATURES = "n_fft: 512, win_length: 480, hop_length: 320, n_mels: 40, f_min: 20, f_max: 4000, center: false, log: ln"


def write_data() -> None:
    """A second of sound, and a model that returns features as they are."""
    time = torch.arange(16000) / 16000
    sound = (0.4 * torch.sin(2 * torch.pi * 700 * time) + 0.05 * torch.randn(16000, generator=torch.Generator().manual_seed(0))) * 32768
    samples = sound.round().to(torch.int16)
    (OUT / "sound.raw").write_bytes(samples.numpy().tobytes())
    model = torch.nn.Identity()
    torch.export.save(torch.export.export(model, (torch.zeros(1, 49, 40),)), OUT / "sound.pt2")
    save_file({"input": samples[None].repeat(2, 1), "output_0": torch.zeros(2, 49, 40)}, OUT / "sound.safetensors")


def peer(arguments, core: build.Core) -> dict:
    """Builds, runs and measures the front end."""
    folder = OUT / core.name / "sound"
    shim = OUT / "kissfft" / "tools"
    shim.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    # Where the release of the front end has these files, which moved since.
    for name in ["kiss_fftr.c", "kiss_fftr.h"]:
        (shim / name).write_text(f'#include "{arguments.sources / "kissfft" / name}"\n')
    root = arguments.sources / "tflite-micro"
    architecture = core.architecture
    headers = [f"-I{root}", f"-I{arguments.sources / 'kissfft'}", f"-I{shim.parent}", "-DFIXED_POINT=16", *build.includes(arguments.sources, architecture)]
    tool, flags = architecture.prefix + "g++", [*architecture.flags, *core.flags, *build.COMMON, *headers]
    library = root / "tensorflow/lite/experimental/microfrontend/lib"
    objects = []
    for name in FILES:
        objects.append(folder / f"{name}.o")
        language = build.CXX if name.endswith(".cc") else ["-x", "c", "-std=c17"]
        build.run(tool, *flags, *language, "-O2", "-c", library / name, "-o", objects[-1])
    elf = folder / "sound.elf"
    defines = ["-DHEAP=24576", f'-DSAMPLES="{OUT / "sound.raw"}"']
    script = build.link_script(core, folder)
    command = [*flags, *build.CXX, "-Os", *defines, HERE / "sound.cc", *objects, "-o", elf, f"-T{script}", "-nostartfiles"]
    build.run(tool, *command, "-Wl,--gc-sections", *architecture.link)
    image = Image(elf, architecture.prefix)
    _, calls = image.run(core, OUT / "libcount.so", arguments.profile)
    return image.figures(calls[1], 0, None, b"")


def ours(arguments, core: build.Core) -> dict:
    """Builds, runs and measures etbuild."""
    image = built(arguments, core, "sound", [f"inputs: {{ input: {{ audio: {{ rate: 16000, length: 16000, features: {{ {FEATURES} }} }} }} }}"])
    if image is None:
        return {}
    _, calls = image.run(core, OUT / "libcount.so", arguments.profile)
    return image.figures(max(calls[2:]), 0, None, b"")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=pathlib.Path, required=True)
    parser.add_argument("--etbuild", type=pathlib.Path, required=True)
    parser.add_argument("--core", nargs="*", default=list(build.CORES))
    parser.add_argument("--profile", action="store_true", help="print where the instructions are")
    arguments = parser.parse_args()
    arguments.sources, arguments.etbuild = arguments.sources.resolve(), arguments.etbuild.resolve()
    OUT.mkdir(exist_ok=True)
    build.count_plugin(OUT)
    write_data()
    print("| core | network | instructions | flash | RAM | stack |\n|---|---|---|---|---|---|")
    for core in map(build.CORES.get, arguments.core):
        print(row(core.name, "sound", peer(arguments, core), ours(arguments, core)), flush=True)


if __name__ == "__main__":
    main()
