#!/usr/bin/env python3
"""Time to the first token of Qwen3-0.6B's shape with random int4 weights: etbuild beside llama.cpp, on the processor of this machine.

    cpu.py --etbuild ETBUILD --llama FOLDER --work FOLDER [--prompts 1,8,16,33,129] [--threads 1,2] [--rounds 7]

`--llama` is a folder with the libraries of llama.cpp and no library of a GPU. etbuild's weights are `8da4w` in groups of 32 with an
embedding in int4, llama.cpp's are `Q4_0`. A round times each prompt once with each, one after the other, in warm processes; the table has
medians over the rounds, their ratio, and the time over that of a straight line through the times of the first and the last prompt.
"""
import argparse
import json
import subprocess
from pathlib import Path
from statistics import median

from qwen3 import Llama, build, quantize, write_checkpoint, write_gguf

RECIPE = """etbuild: 1
name: qwen3
model: {{ checkpoint: {checkpoint} }}
export: {{ context: 2048 }}
quantize: {{ scheme: 8da4w, group_size: 32, embedding: 4w }}
targets: [linux-x86_64]
"""


def deploy(etbuild, work):
    """The binary of etbuild."""
    return build(etbuild, work, "qwen3", RECIPE.format(checkpoint=(work / "checkpoint").resolve()))


def time_etbuild(binary, count, threads):
    words = [binary, "--bench", f"prefill={count},decode=1", "--rounds", "3", "--threads", str(threads)]
    return median(json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["first_token_ms"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(number) for number in text.split(",")]
    parser.add_argument("--etbuild", required=True)
    parser.add_argument("--llama", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--prompts", type=numbers, default=[1, 8, 16, 33, 129])
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    model = arguments.work / "q4_0.gguf"
    if not model.exists():
        write_checkpoint(arguments.work / "checkpoint", 28, 151936)
        write_gguf(arguments.work / "f16.gguf", 28, 151936)
        quantize(arguments.llama, arguments.work / "f16.gguf", model, 2)
    binary = deploy(arguments.etbuild, arguments.work)
    print("| threads | tokens | etbuild, ms | llama.cpp, ms | ratio | over the line |\n|---|---|---|---|---|---|")
    for threads in arguments.threads:
        llama = Llama(arguments.llama, model, threads)
        rounds = [[(time_etbuild(binary, count, threads), llama.time(count, 4) * 1e3) for count in arguments.prompts] for _ in range(arguments.rounds)]
        first, last = arguments.prompts[0], arguments.prompts[-1]
        ours = [median(row[index][0] for row in rounds) for index in range(len(arguments.prompts))]
        for index, count in enumerate(arguments.prompts):
            line = ours[0] + (ours[-1] - ours[0]) * (count - first) / (last - first)
            theirs = median(row[index][1] for row in rounds)
            ratio = median(row[index][0] / row[index][1] for row in rounds)
            print(f"| {threads} | {count} | {ours[index]:.1f} | {theirs:.1f} | {ratio:.2f} | {ours[index] / line:.2f} |", flush=True)


if __name__ == "__main__":
    main()
