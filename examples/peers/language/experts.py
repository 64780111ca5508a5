#!/usr/bin/env python3
"""Tokens of a mixture of experts in the shape of Qwen3-30B-A3B, cut to some layers, with random int4 weights: etbuild beside llama.cpp and
beside the bandwidth of the memory, on the processor of this machine.

    experts.py --etbuild ETBUILD --llama FOLDER --work FOLDER [--layers 2] [--threads 1,2] [--rounds 5]

`--llama` is a folder with the libraries of llama.cpp and no library of a GPU. etbuild's weights are `8da4w` in groups of 32, llama.cpp's are
`Q4_0`: 18 bytes for 32 weights. Tokens differ, and so do their experts. The bandwidth is that of C's `memchr` over as many bytes as the model
has; a token reads the chosen experts, and other weights, once. A round measures everything once, in turns.
"""
import argparse
import ctypes
import json
import shutil
from pathlib import Path
from statistics import median
from threading import Thread
from time import perf_counter

import gguf
import numpy as np
from qwen3 import Llama, add_shape, bench, build, finish, quantize
from safetensors.numpy import save_file

HIDDEN, INNER, HEADS, KEY_HEADS, DEPTH, EXPERTS, CHOSEN, VOCABULARY = 2048, 768, 32, 4, 128, 128, 8, 8192
ATTENTION = [("q", "q", HEADS * DEPTH, HIDDEN), ("k", "k", KEY_HEADS * DEPTH, HIDDEN), ("v", "v", KEY_HEADS * DEPTH, HIDDEN), ("o", "output", HIDDEN, HEADS * DEPTH)]
EXPERT = [("gate", INNER, HIDDEN), ("up", INNER, HIDDEN), ("down", HIDDEN, INNER)]
NORMS = [("input_layernorm", "attn_norm", HIDDEN), ("post_attention_layernorm", "ffn_norm", HIDDEN), ("self_attn.q_norm", "attn_q_norm", DEPTH), ("self_attn.k_norm", "attn_k_norm", DEPTH)]
# Bytes of an int4 weight with its part of a scale of 16 bits for 32 weights.
WEIGHT = 18 / 32

RECIPE = """etbuild: 1
name: experts
model: {{ checkpoint: {checkpoint} }}
export: {{ context: 1024 }}
quantize: {{ scheme: 8da4w, group_size: 32, embedding: 4w }}
targets: [linux-x86_64]
"""


def tensors(layers):
    """Triples of the names in a checkpoint, the name in GGUF, and the numbers: those of all experts are one array there."""
    random = np.random.default_rng(0)
    matrix = lambda *shape: (random.standard_normal(shape, dtype=np.float32) * 0.02).astype(np.float16)
    yield ["model.embed_tokens.weight"], "token_embd.weight", matrix(VOCABULARY, HIDDEN)
    yield ["model.norm.weight"], "output_norm.weight", np.ones(HIDDEN, np.float16)
    for layer in range(layers):
        ours, theirs = f"model.layers.{layer}", f"blk.{layer}"
        for name, other, *shape in ATTENTION:
            yield [f"{ours}.self_attn.{name}_proj.weight"], f"{theirs}.attn_{other}.weight", matrix(*shape)
        for name, other, size in NORMS:
            yield [f"{ours}.{name}.weight"], f"{theirs}.{other}.weight", np.ones(size, np.float16)
        # Scores far apart: shares of few experts, as trained routers have.
        yield [f"{ours}.mlp.gate.weight"], f"{theirs}.ffn_gate_inp.weight", matrix(EXPERTS, HIDDEN)
        for name, *shape in EXPERT:
            yield [f"{ours}.mlp.experts.{expert}.{name}_proj.weight" for expert in range(EXPERTS)], f"{theirs}.ffn_{name}_exps.weight", matrix(EXPERTS, *shape)


def write_checkpoint(folder, layers):
    folder.mkdir(parents=True)
    config = dict(
        architectures=["Qwen3MoeForCausalLM"], model_type="qwen3_moe", hidden_size=HIDDEN, intermediate_size=3 * HIDDEN, moe_intermediate_size=INNER,
        num_attention_heads=HEADS, num_key_value_heads=KEY_HEADS, head_dim=DEPTH, num_hidden_layers=layers, vocab_size=VOCABULARY, num_experts=EXPERTS,
        num_experts_per_tok=CHOSEN, norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[], rms_norm_eps=1e-6, rope_theta=1e6,
        tie_word_embeddings=True, max_position_embeddings=4096, hidden_act="silu", attention_bias=False, torch_dtype="float16",
        bos_token_id=0, eos_token_id=VOCABULARY - 1,
    )
    (folder / "config.json").write_text(json.dumps(config))
    rows = lambda names, numbers: zip(names, numbers if len(names) > 1 else [numbers])
    save_file({name: row for names, _, numbers in tensors(layers) for name, row in rows(names, numbers)}, folder / "model.safetensors")


def write_gguf(path, layers):
    writer = gguf.GGUFWriter(path, "qwen3moe")
    add_shape(writer, layers=layers, hidden=HIDDEN, inner=3 * HIDDEN, heads=HEADS, key_heads=KEY_HEADS, depth=DEPTH, vocabulary=VOCABULARY)
    writer.add_expert_feed_forward_length(INNER)
    writer.add_expert_count(EXPERTS)
    writer.add_expert_used_count(CHOSEN)
    writer.add_tokenizer_model("none")
    for _, name, numbers in tensors(layers):
        is_float = numbers.ndim == 1 or "gate_inp" in name
        writer.add_tensor(name, numbers.astype(np.float32) if is_float else numbers)
    finish(writer)


def binary(etbuild, work, layers):
    """The binary of etbuild. The checkpoint goes when the program is built."""
    made = lambda: next(iter((work / "out").glob("experts*/linux-x86_64/experts")), None)
    if made() is None:
        if not (work / "checkpoint/model.safetensors").exists():
            write_checkpoint(work / "checkpoint", layers)
        build(etbuild, work, "experts", RECIPE.format(checkpoint=(work / "checkpoint").resolve()))
        shutil.rmtree(work / "checkpoint")
    return made()


def model(llama, work, layers):
    """The model of llama.cpp."""
    made = work / "q4_0.gguf"
    if not made.exists():
        write_gguf(work / "f16.gguf", layers)
        quantize(llama, work / "f16.gguf", made, 2)
        (work / "f16.gguf").unlink()
    return made


def bandwidth(threads, size):
    """Bytes per second of a search through memory of the size of the weights, each thread through its part."""
    search = ctypes.CDLL(None).memchr
    search.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    memory = np.ones(size // threads * threads, np.uint8)
    def read():
        starts = range(memory.ctypes.data, memory.ctypes.data + memory.nbytes, memory.nbytes // threads)
        workers = [Thread(target=search, args=(start, 2, memory.nbytes // threads)) for start in starts]
        start = perf_counter()
        [worker.start() for worker in workers]
        [worker.join() for worker in workers]
        return perf_counter() - start
    return memory.nbytes / min(read() for _ in range(5))


def time_etbuild(binary, threads):
    """Milliseconds of a token."""
    return 1e3 / median(bench(binary, "prefill=8,decode=64", threads)["decode_tok_s"])


def time_llama(llama):
    """Milliseconds of a token."""
    llama.clear()
    return llama.steps(64, VOCABULARY) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etbuild", required=True)
    parser.add_argument("--llama", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--threads", type=lambda text: [int(number) for number in text.split(",")], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    ours, theirs = binary(arguments.etbuild, arguments.work, arguments.layers), model(arguments.llama, arguments.work, arguments.layers)
    experts = CHOSEN * sum(rows * columns for _, rows, columns in EXPERT)
    others = sum(rows * columns for *_, rows, columns in ATTENTION) + EXPERTS * HIDDEN
    read = (arguments.layers * (experts + others) + VOCABULARY * HIDDEN) * WEIGHT
    print(f"a token reads {read / 1e6:.1f} MB, of which experts {arguments.layers * experts * WEIGHT / 1e6:.1f} MB")
    print("| threads | etbuild, ms | GB/s | of the bandwidth | llama.cpp, ms | ratio |\n|---|---|---|---|---|---|")
    for threads in arguments.threads:
        llama = Llama(arguments.llama, theirs, threads)
        rounds = [(time_etbuild(ours, threads), time_llama(llama), bandwidth(threads, theirs.stat().st_size)) for _ in range(arguments.rounds)]
        mine, other = (median(row[index] for row in rounds) for index in range(2))
        share = median(read / row[0] * 1e3 / row[2] for row in rounds)
        ratio = median(row[0] / row[1] for row in rounds)
        print(f"| {threads} | {mine:.2f} | {read / mine / 1e6:.1f} | {share:.2f} | {other:.2f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
