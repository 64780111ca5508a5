#!/usr/bin/env python3
"""A language model in the shape of Qwen3-0.6B with random weights: etbuild beside llama.cpp with Vulkan, on the GPU of this machine.

    gpu.py --etbuild ETBUILD --llama FOLDER --work FOLDER [--layers 28] [--vocabulary 151936] [--prompts 128,512] [--steps 128]

ETBUILD is the command with the feature `gpu`. `--llama` is the folder with the libraries of llama.cpp, such as `bins/linux-x64-vulkan` of
the npm package `@node-llama-cpp/linux-x64-vulkan`. Prints, for each, the time of prompts and the tokens per second of decoding. The
weights are fp16; the KV cache is float32 in etbuild and fp16 in llama.cpp.
"""
import argparse
import json
import re
import subprocess
from pathlib import Path
from time import perf_counter

from qwen3 import Llama, write_checkpoint, write_gguf

def run_llama(arguments, model):
    llama = Llama(arguments.llama, model)
    for count in arguments.prompts:
        print(f"llama.cpp: {count} tokens in {llama.time(count, 5) * 1e3:.2f} ms")
    llama.clear()
    llama.read(64)
    start = perf_counter()
    for _ in range(arguments.steps):
        llama.read(1)
    print(f"llama.cpp: {arguments.steps / (perf_counter() - start):.1f} tokens/s")


def run_etbuild(arguments, checkpoint):
    for count in arguments.prompts:
        recipe = arguments.work / f"{count}.yaml"
        recipe.write_text(
            f"etbuild: 1\nname: qwen\nmodel: {{ checkpoint: {checkpoint.resolve()} }}\npartition: [gpu, cpu]\n"
            f"export: {{ context: 1024, precision: model, prefill: {count} }}\ntargets: [linux-x86_64]\n"
        )
        tokens = arguments.work / f"{count}.txt"
        tokens.write_text(" ".join(str(5 + index % 100) for index in range(count)))
        words = [arguments.etbuild, "trace", recipe, "--tokens-in", tokens, "--max-new-tokens", "16", "--output", "json"]
        traced = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        prefill = next(method for method in traced["methods"] if method["method"] == "prefill")
        least = sum(row["least"] for row in prefill["rows"] if row["operator"] == "Dispatch")
        print(f"etbuild: {count} tokens in {least:.2f} ms by the clock of the GPU")
        words = [arguments.etbuild, "run", recipe, "--tokens-in", tokens, "--max-new-tokens", str(arguments.steps), "--stats"]
        text = subprocess.run(words, check=True, capture_output=True, text=True).stderr
        print(f"etbuild: {re.search(r'generated, ([0-9.]+) a second', text)[1]} tokens/s behind {count} tokens")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etbuild", required=True)
    parser.add_argument("--llama", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--layers", type=int, default=28)
    parser.add_argument("--vocabulary", type=int, default=151936)
    parser.add_argument("--prompts", type=lambda text: [int(number) for number in text.split(",")], default=[128, 512])
    parser.add_argument("--steps", type=int, default=128)
    arguments = parser.parse_args()
    checkpoint, model = arguments.work / "qwen", arguments.work / "qwen.gguf"
    write_checkpoint(checkpoint, arguments.layers, arguments.vocabulary)
    write_gguf(model, arguments.layers, arguments.vocabulary)
    run_etbuild(arguments, checkpoint)
    run_llama(arguments, model)


if __name__ == "__main__":
    main()
