"""Small language models of random weights in Hugging Face's layout, and what transformers computes with them.

    python checkpoints.py FOLDER [FAMILY ..]      writes FOLDER/FAMILY/model and FOLDER/FAMILY/expected.safetensors of each,
                                                  and expected-bytes.safetensors: with the weights of linear layers in bytes,
                                                  and expected-cache.safetensors: with a cache in bytes

Such a file has `prompt`, int64 [1, 37], `prompt_logits`, float32 [1, v], `tokens`, int64 [1, 20], and `logits`, float32 [20, v]:
the tokens that follow the prompt one by one, and the logits behind each.
"""

import inspect
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file

PROMPT, STEPS = 37, 20

SMALL = dict(vocab_size=211, hidden_size=48, intermediate_size=80, num_hidden_layers=3, num_attention_heads=6,
             num_key_value_heads=2, max_position_embeddings=512, pad_token_id=0, bos_token_id=1, eos_token_id=2)
LLAMA3 = dict(rope_type="llama3", rope_theta=500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=32)
LONG = dict(rope_type="longrope", rope_theta=10000.0, partial_rotary_factor=0.75, short_factor=[1.0, 1.1, 1.3],
            long_factor=[1.5, 2.0, 4.0])


def families():
    """Each family with its configuration; the cases are what published models have, and what they could have."""
    from transformers import Gemma2Config, Gemma3TextConfig, LlamaConfig, MistralConfig, Phi3Config, Qwen2Config
    from transformers import Qwen3Config
    layers = ["sliding_attention", "full_attention", "sliding_attention"]
    gemma = SMALL | dict(head_dim=12, sliding_window=9, layer_types=layers, query_pre_attn_scalar=10)
    return {
        "llama": LlamaConfig(**SMALL, rope_parameters=LLAMA3, tie_word_embeddings=True),
        "llama-biases": LlamaConfig(**SMALL, attention_bias=True, mlp_bias=True, tie_word_embeddings=False),
        "smollm": LlamaConfig(**SMALL | dict(num_attention_heads=3, num_key_value_heads=1), tie_word_embeddings=True),
        "mistral": MistralConfig(**SMALL, head_dim=10, sliding_window=9),
        "qwen2": Qwen2Config(**SMALL, use_sliding_window=True, sliding_window=11, max_window_layers=1),
        "qwen3": Qwen3Config(**SMALL, head_dim=16, tie_word_embeddings=True),
        # The prompt is longer than the first context of one, and every text is shorter than the first context of the other.
        "phi3": Phi3Config(**SMALL | dict(max_position_embeddings=64), rope_parameters=dict(LONG), sliding_window=1000,
                           original_max_position_embeddings=32, tie_word_embeddings=True),
        "phi3-short": Phi3Config(**SMALL, rope_parameters=dict(LONG), original_max_position_embeddings=128),
        "gemma2": Gemma2Config(**gemma, attn_logit_softcapping=5.0, final_logit_softcapping=3.0),
        "gemma3": Gemma3TextConfig(**gemma, rope_parameters={
            "full_attention": dict(rope_type="linear", rope_theta=1000000.0, factor=8.0),
            "sliding_attention": dict(rope_type="default", rope_theta=10000.0)}),
    }


def write(family, folder):
    model = stored(family, folder / "model")
    tokens = draw(model.config)
    for name, cache in [("expected", transformers.DynamicCache), ("expected-cache", ByteCache)]:
        save_file(expected(model, tokens, cache(config=model.config)), folder / f"{name}.safetensors")
    as_bytes(model)
    save_file(expected(model), folder / "expected-bytes.safetensors")


def stored(family, folder):
    """Writes a model to a folder, and returns it as it was stored."""
    folder.mkdir(parents=True, exist_ok=True)
    model = drawn(families()[family])
    # One family is stored in halves, and one in shards.
    if family == "qwen3":
        model = model.bfloat16()
    if family == "smollm":
        model = model.half()
    shards = dict(max_shard_size="40KB") if family == "llama" else {}
    model.save_pretrained(folder, **shards)
    return read(folder)


def auto(config):
    """The class of a model that answers, with or without an encoder of pictures."""
    return transformers.AutoModelForImageTextToText if hasattr(config, "vision_config") else transformers.AutoModelForCausalLM


def drawn(config):
    """A model with random weights."""
    torch.manual_seed(5)
    config._attn_implementation = "eager"
    model = auto(config).from_config(config, dtype=torch.float32).eval()
    for name, parameter in model.named_parameters():
        # Far from what a model starts with: no weight is 0, and attention is not even.
        width = 0.25 if parameter.dim() == 1 else 2.0 / parameter.shape[-1] ** 0.5
        with torch.no_grad():
            parameter.add_(torch.randn_like(parameter) * width)
    for name, buffer in model.named_buffers():
        # What corrects the choice of experts, and factors of layers, are no parameters, and 0 or 1 at first.
        if name.endswith(("correction_bias", "expert_bias", "layer_scalar")):
            buffer.add_(torch.randn_like(buffer) * 0.25)
    return model


def read(folder):
    # As stored: a conversion in memory would round the frequencies of rotation too.
    config = transformers.AutoConfig.from_pretrained(folder)
    return auto(config).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


class ByteCache(transformers.DynamicCache):
    """Gives keys and values the numbers that bytes with a scale for each head and position can have."""

    def update(self, keys, values, *rest, **more):
        def rounded(rows):
            scale = rows.abs().amax(-1, keepdim=True) / 127
            return torch.round(rows / scale) * scale

        return super().update(rounded(keys), rounded(values), *rest, **more)


def as_bytes(model):
    """Gives the weights of linear layers the values that bytes with a scale for each row can have."""
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            weight = module.weight.detach()
            scale = weight.abs().amax(1, keepdim=True) / 127
            # Halves are often midway between two bytes: what is divided by, or multiplied with, decides.
            module.weight = torch.nn.Parameter(torch.round(weight * (1 / scale)) * scale)
    if model.config.tie_word_embeddings:
        model.get_input_embeddings().weight = model.get_output_embeddings().weight


def draw(config):
    return torch.randint(3, config.vocab_size, (1, PROMPT + STEPS))


def expected(model, tokens=None, cache=None):
    tokens = draw(model.config) if tokens is None else tokens
    prompt, rest = tokens[:, :PROMPT], tokens[:, PROMPT:]
    with torch.no_grad():
        out = model(prompt, past_key_values=cache, use_cache=True)
        first, cache, logits = out.logits[:, -1], out.past_key_values, []
        for step in range(STEPS):
            out = model(rest[:, step : step + 1], past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            logits.append(out.logits[:, -1])
    return {"prompt": prompt.contiguous(), "prompt_logits": first.contiguous(), "tokens": rest.contiguous(),
            "logits": torch.cat(logits).contiguous()}


@torch.no_grad()
def greedy(model, read, steps):
    """The likeliest tokens behind what the model reads, a dictionary with the prompt as `input_ids`."""
    # Models without attention name the cache otherwise, and pass over other arguments.
    is_common = "past_key_values" in inspect.signature(model.forward).parameters
    cache = {"past_key_values" if is_common else "cache_params": transformers.DynamicCache(config=model.config)}
    first = model(**read, **cache, use_cache=True).logits[:, -1]
    tokens, logits = [], [first]
    for step in range(steps):
        tokens.append(logits[-1].argmax(-1, keepdim=True))
        if model.config.model_type == "bamba":  # which counts positions from 0 in each call
            cache["position_ids"] = torch.tensor([[read["input_ids"].shape[1] + step]])
        logits.append(model(input_ids=tokens[-1], **cache, use_cache=True).logits[:, -1])
    return {"prompt": read["input_ids"], "prompt_logits": first.contiguous(), "tokens": torch.cat(tokens, 1),
            "logits": torch.cat(logits[1:]).contiguous()}


if __name__ == "__main__":
    for name in sys.argv[2:] or families():
        write(name, Path(sys.argv[1]) / name)
