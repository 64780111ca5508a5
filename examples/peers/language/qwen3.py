"""The shape of Qwen3-0.6B with random weights, as a checkpoint and as GGUF, and llama.cpp through its libraries."""
import ctypes
import json
import random
import subprocess
from statistics import median
from time import perf_counter

import gguf
import numpy as np
from safetensors.numpy import save_file

HIDDEN, INNER, HEADS, KEY_HEADS, DEPTH = 1024, 3072, 16, 8, 128
# The names in a checkpoint and in GGUF, and the shape.
MATRICES = [
    ("self_attn.q_proj", "attn_q", (HEADS * DEPTH, HIDDEN)),
    ("self_attn.k_proj", "attn_k", (KEY_HEADS * DEPTH, HIDDEN)),
    ("self_attn.v_proj", "attn_v", (KEY_HEADS * DEPTH, HIDDEN)),
    ("self_attn.o_proj", "attn_output", (HIDDEN, HEADS * DEPTH)),
    ("mlp.gate_proj", "ffn_gate", (INNER, HIDDEN)),
    ("mlp.up_proj", "ffn_up", (INNER, HIDDEN)),
    ("mlp.down_proj", "ffn_down", (HIDDEN, INNER)),
]
NORMS = [
    ("input_layernorm", "attn_norm", HIDDEN),
    ("post_attention_layernorm", "ffn_norm", HIDDEN),
    ("self_attn.q_norm", "attn_q_norm", DEPTH),
    ("self_attn.k_norm", "attn_k_norm", DEPTH),
]


def tensors(layers, vocabulary):
    """Triples of the name in a checkpoint, the name in GGUF, and the numbers."""
    random = np.random.default_rng(0)
    matrix = lambda *shape: (random.standard_normal(shape, dtype=np.float32) * 0.02).astype(np.float16)
    yield "model.embed_tokens.weight", "token_embd.weight", matrix(vocabulary, HIDDEN)
    yield "model.norm.weight", "output_norm.weight", np.ones(HIDDEN, np.float16)
    for layer in range(layers):
        for name, other, shape in MATRICES:
            yield f"model.layers.{layer}.{name}.weight", f"blk.{layer}.{other}.weight", matrix(*shape)
        for name, other, size in NORMS:
            yield f"model.layers.{layer}.{name}.weight", f"blk.{layer}.{other}.weight", np.ones(size, np.float16)


def write_checkpoint(folder, layers, vocabulary):
    folder.mkdir(parents=True, exist_ok=True)
    config = dict(
        architectures=["Qwen3ForCausalLM"], model_type="qwen3", hidden_size=HIDDEN, intermediate_size=INNER, num_attention_heads=HEADS,
        num_key_value_heads=KEY_HEADS, head_dim=DEPTH, num_hidden_layers=layers, vocab_size=vocabulary, rms_norm_eps=1e-6,
        rope_theta=1e6, tie_word_embeddings=True, max_position_embeddings=40960, hidden_act="silu", attention_bias=False,
        torch_dtype="float16", bos_token_id=0, eos_token_id=vocabulary - 1,
    )
    (folder / "config.json").write_text(json.dumps(config))
    save_file({name: numbers for name, _, numbers in tensors(layers, vocabulary)}, folder / "model.safetensors")


def random_vocabulary(count):
    """A tokenizer of bytes: texts of tokens by number, and pairs of texts that are merged."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    moved = [byte for byte in range(256) if byte not in kept]
    texts = [chr(byte) for byte in kept] + [chr(256 + index) for index in range(len(moved))]
    chance, seen, merges = random.Random(1), set(texts), []
    while len(texts) < count:
        left, right = chance.choice(texts[:4000]), chance.choice(texts[:4000])
        if len(left + right) <= 12 and left + right not in seen:
            seen.add(left + right)
            texts.append(left + right)
            merges.append((left, right))
    return texts, merges


def write_tokenizer(folder, vocabulary):
    texts, merges = vocabulary
    spaces = dict(type="ByteLevel", add_prefix_space=False, trim_offsets=False, use_regex=True)
    model = dict(type="BPE", vocab={text: token for token, text in enumerate(texts)}, merges=[list(pair) for pair in merges])
    made = dict(version="1.0", added_tokens=[], pre_tokenizer=spaces, decoder=spaces, model=model)
    (folder / "tokenizer.json").write_text(json.dumps(made))


def add_shape(writer, *, layers, hidden, inner, heads, key_heads, depth, vocabulary):
    """The keys of GGUF that all shapes of Qwen3 have."""
    writer.add_context_length(4096)
    writer.add_embedding_length(hidden)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(key_heads)
    writer.add_key_length(depth)
    writer.add_value_length(depth)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e6)
    writer.add_vocab_size(vocabulary)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_gguf(path, layers, vocabulary, tokenizer=None):
    writer = gguf.GGUFWriter(path, "qwen3")
    add_shape(writer, layers=layers, hidden=HIDDEN, inner=INNER, heads=HEADS, key_heads=KEY_HEADS, depth=DEPTH, vocabulary=vocabulary)
    if tokenizer is None:
        writer.add_tokenizer_model("none")
    else:
        texts, merges = tokenizer
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_list(texts)
        writer.add_token_types([gguf.TokenType.NORMAL] * len(texts))
        writer.add_token_merges([" ".join(pair) for pair in merges])
        writer.add_bos_token_id(0)
        writer.add_eos_token_id(vocabulary - 1)
    for _, name, numbers in tensors(layers, vocabulary):
        writer.add_tensor(name, numbers.astype(np.float32) if numbers.ndim == 1 else numbers)
    finish(writer)


def build(etbuild, work, name, recipe):
    """The binary of etbuild of a recipe's text for `name`."""
    path = work / f"{name}.yaml"
    path.write_text(recipe)
    subprocess.run([etbuild, "build", path, "--out", work / "out"], check=True)
    return next((work / "out").glob(f"{name}*/linux-x86_64/{name}"))


def bench(binary, tokens, threads):
    """What the binary measures in one round of prompts and tokens, such as `prefill=8,decode=64`."""
    words = [binary, "--bench", tokens, "--rounds", "1", "--temperature", "1", "--seed", "1", "--threads", str(threads)]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


class Parameters(ctypes.Structure):
    """Parameters of llama.cpp, more words than the structures have: the first of a context are its size, batch and micro-batch."""

    _fields_ = [("words", ctypes.c_uint32 * 64)]


class Batch(ctypes.Structure):
    """`llama_batch`."""

    _fields_ = [("count", ctypes.c_int32)] + [(name, ctypes.c_void_p) for name in ("token", "embd", "pos", "counts", "ids", "logits")]


def libraries(folder):
    """llama.cpp's libraries of a folder, with the backends that the folder has."""
    load = lambda pattern: ctypes.CDLL(str(next(folder.glob(pattern))), mode=ctypes.RTLD_GLOBAL)
    load("libggml-base.so")
    backends, library = load("libggml.*so*"), load("libllama.*so*")
    backends.ggml_backend_load_all_from_path(str(folder).encode())
    library.llama_backend_init()
    return library


def quantize(folder, model, quantized, file_type):
    """Writes a GGUF file with weights of another type, by llama.cpp's quantizer: 2 is `Q4_0`."""
    library = libraries(folder)
    library.llama_model_quantize_default_params.restype = Parameters
    library.llama_model_quantize.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Parameters)]
    parameters = library.llama_model_quantize_default_params()
    parameters.words[1] = file_type
    assert library.llama_model_quantize(str(model).encode(), str(quantized).encode(), parameters) == 0


class Llama:
    """A context of llama.cpp."""

    def __init__(self, folder, model, threads=None):
        library = libraries(folder)
        for name in ("llama_model_default_params", "llama_context_default_params"):
            getattr(library, name).restype = Parameters
        for name in ("llama_model_load_from_file", "llama_init_from_model", "llama_get_memory"):
            getattr(library, name).restype = ctypes.c_void_p
        library.llama_init_from_model.argtypes = [ctypes.c_void_p, Parameters]
        library.llama_batch_get_one.restype = Batch
        library.llama_decode.argtypes = [ctypes.c_void_p, Batch]
        library.llama_get_logits.restype = ctypes.POINTER(ctypes.c_float)
        loaded = library.llama_model_load_from_file(str(model).encode(), library.llama_model_default_params())
        parameters = library.llama_context_default_params()
        parameters.words[0:3] = [2048, 2048, 512]
        self.library, self.context = library, ctypes.c_void_p(library.llama_init_from_model(loaded, parameters))
        if threads:
            library.llama_set_n_threads(self.context, threads, threads)

    def read(self, count):
        tokens = (ctypes.c_int32 * count)(*[5 + index % 100 for index in range(count)])
        assert self.library.llama_decode(self.context, self.library.llama_batch_get_one(tokens, count)) == 0
        self.library.llama_synchronize(self.context)
        return self.library.llama_get_logits(self.context)[0]

    def time(self, count, rounds):
        """The median of the seconds of a prompt, without the first round."""
        times = []
        for _ in range(rounds):
            self.clear()
            start = perf_counter()
            self.read(count)
            times.append(perf_counter() - start)
        return median(times[1:])

    def steps(self, count, vocabulary):
        """The median of the seconds of a token, without the first eight: each is another."""
        times = []
        for index in range(count):
            word = (ctypes.c_int32 * 1)((37 * index + 5) % vocabulary)
            start = perf_counter()
            assert self.library.llama_decode(self.context, self.library.llama_batch_get_one(word, 1)) == 0
            self.library.llama_synchronize(self.context)
            times.append(perf_counter() - start)
        return median(times[8:])

    def clear(self):
        self.library.llama_memory_clear(ctypes.c_void_p(self.library.llama_get_memory(self.context)), True)
