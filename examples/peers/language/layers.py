#!/usr/bin/env python3
"""GGUF files in the shapes of Gemma 4 E2B, LFM2 1.2B and Qwen 3.5 0.8B, random weights in `Q4_0` and a small vocabulary: etbuild beside
llama.cpp, which read the same file, on the processor of this machine.

    layers.py --etbuild ETBUILD --llama FOLDER --work FOLDER [--models gemma4,lfm2,qwen35] [--threads 1,2] [--rounds 3]

`--llama` is a folder with the libraries of llama.cpp and no library of a GPU. A round measures a prompt and tokens once each, in turns.
"""
import argparse
from pathlib import Path

import gguf
import numpy

from formats import VOCABULARY, binary, report

Q4 = gguf.GGMLQuantizationType.Q4_0


class Writer(gguf.GGUFWriter):
    """A file with random blocks."""

    def __init__(self, path, arch):
        super().__init__(path, arch)
        self.random = numpy.random.default_rng(1)

    def matrix(self, name, rows, columns):
        count = rows * columns // 32
        blocks = self.random.integers(0, 256, (count, 18), dtype=numpy.uint8)
        scales = self.random.uniform(0.5, 1.5, (count, 1)) * 0.17 / columns**0.5
        blocks[:, :2] = scales.astype(numpy.float16).view(numpy.uint8)
        self.add_tensor(f"{name}.weight", blocks.reshape(rows, -1), raw_dtype=Q4)

    def vector(self, name, count, number=1.0):
        self.add_tensor(f"{name}.weight", numpy.full(count, number, numpy.float32))

    def finish(self):
        texts = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
        texts += [f"▁w{index}" for index in range(VOCABULARY - len(texts))]
        self.add_tokenizer_model("llama")
        self.add_token_list(texts)
        self.add_token_scores([-float(index) for index in range(VOCABULARY)])
        self.add_token_types([2, 3, 3] + [6] * 256 + [1] * (VOCABULARY - 259))
        self.add_bos_token_id(1)
        self.add_eos_token_id(2)
        self.write_header_to_file()
        self.write_kv_data_to_file()
        self.write_tensors_to_file()
        self.close()


def gemma4(path):
    """35 layers, of which the last 20 read KV caches of others and have networks of twice the width; four of five see a window."""
    width, layers, shared, inputs = 1536, 35, 20, 256
    slides = [(index + 1) % 5 != 0 for index in range(layers)]
    networks = [6144 if index < layers - shared else 12288 for index in range(layers)]
    writer = Writer(path, "gemma4")
    for add, number in [
        (writer.add_context_length, 4096), (writer.add_embedding_length, width), (writer.add_block_count, layers), (writer.add_head_count, 8),
        (writer.add_head_count_kv, 1), (writer.add_layer_norm_rms_eps, 1e-6), (writer.add_key_length, 512), (writer.add_value_length, 512),
        (writer.add_key_length_swa, 256), (writer.add_value_length_swa, 256), (writer.add_feed_forward_length, networks),
        (writer.add_sliding_window, 512), (writer.add_sliding_window_pattern, slides), (writer.add_shared_kv_layers, shared),
        (writer.add_embedding_length_per_layer_input, inputs), (writer.add_final_logit_softcapping, 30.0), (writer.add_rope_freq_base, 1e6),
        (writer.add_rope_freq_base_swa, 1e4), (writer.add_rope_dimension_count, 512), (writer.add_rope_dimension_count_swa, 256),
    ]:
        add(number)
    writer.add_tensor("rope_freqs.weight", numpy.array([1.0] * 64 + [1e30] * 192, numpy.float32))
    for index, (network, slide) in enumerate(zip(networks, slides)):
        layer, depth = f"blk.{index}.", 256 if slide else 512
        projections = [("attn_q", 8 * depth, width), ("attn_output", width, 8 * depth), ("ffn_gate", network, width),
                       ("ffn_up", network, width), ("ffn_down", width, network), ("inp_gate", inputs, width), ("proj", width, inputs)]
        vectors = [(name, width) for name in ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm", "post_norm")]
        vectors += [("attn_q_norm", depth)]
        if index < layers - shared:
            projections += [("attn_k", depth, width), ("attn_v", depth, width)]
            vectors += [("attn_k_norm", depth)]
        for name, *sizes in projections:
            writer.matrix(layer + name, *sizes)
        for name, size in vectors:
            writer.vector(layer + name, size)
        writer.vector(f"{layer}layer_output_scale", 1, 0.5)
    writer.matrix("per_layer_token_embd", VOCABULARY, layers * inputs)
    writer.matrix("per_layer_model_proj", layers * inputs, width)
    writer.vector("per_layer_proj_norm", inputs)
    writer.matrix("token_embd", VOCABULARY, width)
    writer.vector("output_norm", width)
    writer.finish()


def lfm2(path):
    """16 layers, of which 6 attend and the others are short convolutions."""
    width, network, attending = 2048, 8192, {2, 5, 8, 10, 12, 14}
    writer = Writer(path, "lfm2")
    for add, number in [
        (writer.add_context_length, 4096), (writer.add_embedding_length, width), (writer.add_block_count, 16), (writer.add_head_count, 32),
        (writer.add_head_count_kv, [8 if index in attending else 0 for index in range(16)]), (writer.add_layer_norm_rms_eps, 1e-5),
        (writer.add_feed_forward_length, network), (writer.add_shortconv_l_cache, 3), (writer.add_rope_freq_base, 1e6),
        (writer.add_vocab_size, VOCABULARY),
    ]:
        add(number)
    for index in range(16):
        layer = f"blk.{index}."
        projections = [("ffn_gate", network, width), ("ffn_up", network, width), ("ffn_down", width, network)]
        if index in attending:
            projections += [("attn_q", width, width), ("attn_k", 512, width), ("attn_v", 512, width), ("attn_output", width, width)]
            writer.vector(f"{layer}attn_q_norm", 64)
            writer.vector(f"{layer}attn_k_norm", 64)
        else:
            projections += [("shortconv.in_proj", 3 * width, width), ("shortconv.out_proj", width, width)]
            kernels = writer.random.standard_normal((width, 3)) * 0.3
            writer.add_tensor(f"{layer}shortconv.conv.weight", kernels.astype(numpy.float32))
        for name, *sizes in projections:
            writer.matrix(layer + name, *sizes)
        writer.vector(f"{layer}attn_norm", width)
        writer.vector(f"{layer}ffn_norm", width)
    writer.matrix("token_embd", VOCABULARY, width)
    writer.vector("token_embd_norm", width)
    writer.finish()


def qwen35(path):
    """Qwen 3.5 0.8B: 24 layers, of which each fourth attends and the others are gated delta rules."""
    width, network, depth, heads, head, sharing = 1024, 3584, 128, 16, 256, 2
    writer = Writer(path, "qwen35")
    for add, number in [
        (writer.add_context_length, 4096), (writer.add_embedding_length, width), (writer.add_block_count, 24), (writer.add_head_count, 8),
        (writer.add_head_count_kv, sharing), (writer.add_layer_norm_rms_eps, 1e-6), (writer.add_feed_forward_length, network),
        (writer.add_rope_freq_base, 1e7), (writer.add_key_length, head), (writer.add_value_length, head), (writer.add_rope_dimension_count, 64),
        (writer.add_rope_dimension_sections, [11, 11, 10, 0]), (writer.add_ssm_conv_kernel, 4), (writer.add_ssm_state_size, depth),
        (writer.add_ssm_group_count, heads), (writer.add_ssm_time_step_rank, heads), (writer.add_ssm_inner_size, heads * depth),
        (writer.add_full_attention_interval, 4), (writer.add_vocab_size, VOCABULARY),
    ]:
        add(number)
    for index in range(24):
        layer = f"blk.{index}."
        projections = [("ffn_gate", network, width), ("ffn_up", network, width), ("ffn_down", width, network)]
        if index % 4 == 3:
            projections += [("attn_q", 2 * 8 * head, width), ("attn_k", sharing * head, width), ("attn_v", sharing * head, width),
                            ("attn_output", width, 8 * head)]
            writer.vector(f"{layer}attn_q_norm", head)
            writer.vector(f"{layer}attn_k_norm", head)
        else:
            rows = heads * depth
            projections += [("attn_qkv", 3 * rows, width), ("attn_gate", rows, width), ("ssm_out", width, rows), ("ssm_alpha", heads, width),
                            ("ssm_beta", heads, width)]
            kernels = writer.random.standard_normal((3 * rows, 4)) * 0.3
            writer.add_tensor(f"{layer}ssm_conv1d.weight", kernels.astype(numpy.float32))
            writer.add_tensor(f"{layer}ssm_dt.bias", numpy.ones(heads, numpy.float32))
            writer.add_tensor(f"{layer}ssm_a", -writer.random.uniform(0.5, 8.0, heads).astype(numpy.float32))
            writer.vector(f"{layer}ssm_norm", depth)
        for name, *sizes in projections:
            writer.matrix(layer + name, *sizes)
        writer.vector(f"{layer}attn_norm", width)
        writer.vector(f"{layer}post_attention_norm", width)
    writer.matrix("token_embd", VOCABULARY, width)
    writer.vector("output_norm", width)
    writer.finish()


SHAPES = {"gemma4": gemma4, "lfm2": lfm2, "qwen35": qwen35}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etbuild", required=True)
    parser.add_argument("--llama", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--models", type=lambda text: text.split(","), default=list(SHAPES))
    parser.add_argument("--threads", type=lambda text: [int(number) for number in text.split(",")], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    for name in arguments.models:
        file = arguments.work / f"{name}.gguf"
        if not file.exists():
            SHAPES[name](file)
        ours = binary(arguments.etbuild, arguments.work, name, file)
        report(name, ours, arguments.llama, file, arguments.threads, arguments.rounds)


if __name__ == "__main__":
    main()
