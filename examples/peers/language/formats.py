#!/usr/bin/env python3
"""GGUF files of llama.cpp's quantizer in the shape of Qwen3-0.6B with random weights: etbuild beside llama.cpp, which read the same file,
on the processor of this machine.

    formats.py --etbuild ETBUILD --llama FOLDER --work FOLDER [--formats Q4_K_M,Q8_0] [--threads 1,2] [--rounds 5]

`--llama` is a folder with the libraries of llama.cpp and no library of a GPU. Both multiply the stored integers by int8 activations, as both
do by default. A round measures a prompt and tokens once each, in turns.
"""
import argparse
from pathlib import Path
from statistics import median

from qwen3 import Llama, bench, build, quantize, random_vocabulary, write_gguf

LAYERS, VOCABULARY, PROMPT, TOKENS = 28, 32768, 128, 32
# The numbers of file types in `llama.h`.
FILE_TYPES = {"F16": 1, "Q4_0": 2, "Q8_0": 7, "Q3_K_M": 12, "Q4_K_M": 15, "Q5_K_M": 17, "Q6_K": 18, "IQ4_XS": 30, "BF16": 32}

RECIPE = """etbuild: 1
name: {name}
model: {{ checkpoint: {file} }}
export: {{ context: 1024 }}
targets: [linux-x86_64]
"""


def model(llama, work, name):
    """The file of a type."""
    made, plain = work / f"{name}.gguf", work / "f16.gguf"
    if not plain.exists():
        write_gguf(plain, LAYERS, VOCABULARY, random_vocabulary(VOCABULARY))
    if not made.exists():
        quantize(llama, plain, made, FILE_TYPES[name])
    return made


def binary(etbuild, work, name, file):
    """The binary of etbuild."""
    name = name.lower().replace("_", "-")
    return build(etbuild, work, name, RECIPE.format(name=name, file=file.resolve()))


def time_etbuild(binary, threads):
    """Milliseconds of a prompt, and of a token."""
    made = bench(binary, f"prefill={PROMPT},decode={TOKENS}", threads)
    return 1e3 * PROMPT / median(made["prefill_tok_s"]), 1e3 / median(made["decode_tok_s"])


def time_llama(llama):
    """Milliseconds of a prompt, and of a token behind it."""
    prompt = 1e3 * llama.time(PROMPT, 2)
    llama.clear()
    llama.read(8)
    return prompt, 1e3 * llama.steps(TOKENS, VOCABULARY)


def report(name, ours, llama, file, threads, count):
    """Prints the medians of so many rounds in turns, for each number of threads."""
    for number in threads:
        peer = Llama(llama, file, number)
        rounds = [(time_etbuild(ours, number), time_llama(peer)) for _ in range(count)]
        for index, what in enumerate([f"prompt of {PROMPT}", "token"]):
            mine, theirs = [median(both[side][index] for both in rounds) for side in (0, 1)]
            print(f"{name:7} {number} threads, {what:13} etbuild {mine:8.2f} ms, llama.cpp {theirs:8.2f} ms, ratio {mine / theirs:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etbuild", required=True)
    parser.add_argument("--llama", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--formats", type=lambda text: text.split(","), default=["Q4_0", "Q4_K_M", "Q6_K", "Q8_0"])
    parser.add_argument("--threads", type=lambda text: [int(number) for number in text.split(",")], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    for name in arguments.formats:
        file = model(arguments.llama, arguments.work, name)
        ours = binary(arguments.etbuild, arguments.work, name, file)
        report(name, ours, arguments.llama, file, arguments.threads, arguments.rounds)


if __name__ == "__main__":
    main()
