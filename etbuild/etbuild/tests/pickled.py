"""Small models of random weights as `torch.save` writes them, and what transformers computes with them.

    python pickled.py FOLDER     writes FOLDER/NAME/model and FOLDER/NAME/expected.safetensors of each

`expected.safetensors` is as in `checkpoints.py`. The names of files are those of `save_pretrained(..., safe_serialization=False)` before
version 5 of transformers, which has safetensors only.
"""

import json
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file

from checkpoints import SMALL, drawn, expected, families

FOLDER = Path(sys.argv[1])


def saved(name, model, state=None, **options):
    """The configuration and the tensors of a model."""
    folder = FOLDER / name / "model"
    folder.mkdir(parents=True)
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)
    torch.save(model.state_dict() if state is None else state, folder / "pytorch_model.bin", **options)
    save_file(expected(model), folder.parent / "expected.safetensors")
    return folder


def of(family):
    return drawn(families()[family])


# Tied weights are two names of one storage.
saved("tied", of("smollm"))
# Parameters, of an optimizer's model; a part of a storage for each, and transposed matrices.
model = of("llama-biases")
state = {name: torch.nn.Parameter(tensor) for name, tensor in model.state_dict().items()}
saved("parameters", model, state)
model = of("mistral")
whole = {name: torch.cat([torch.zeros(3), tensor.flatten()])[3:].view(tensor.shape) for name, tensor in model.state_dict().items()}
strided = {name: tensor.t().contiguous().t() if name.endswith("q_proj.weight") else tensor for name, tensor in whole.items()}
saved("strided", model, strided, pickle_protocol=4)
# 16 bits.
model = of("qwen3")
state = {name: tensor.bfloat16() for name, tensor in model.state_dict().items()}
model.load_state_dict({name: tensor.float() for name, tensor in state.items()})
saved("bfloat16", model, state)
# Shards with an index.
model = of("qwen2")
folder = saved("shards", model)
(folder / "pytorch_model.bin").unlink()
names = sorted(model.state_dict())
parts = {f"pytorch_model-0000{part + 1}-of-00002.bin": names[part::2] for part in range(2)}
for file, held in parts.items():
    torch.save({name: model.state_dict()[name] for name in held}, folder / file)
index = dict(metadata=dict(total_size=0), weight_map={name: file for file, held in parts.items() for name in held})
(folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))
# GPT-2 as version 4 and before saved it: without the name of the inner model, with masks as buffers.
config = transformers.GPT2Config(vocab_size=211, n_embd=48, n_layer=2, n_head=4, n_positions=128)
model = drawn(config)
state = {name.removeprefix("transformer."): tensor for name, tensor in model.state_dict().items() if name != "lm_head.weight"}
for layer in range(2):
    state[f"h.{layer}.attn.bias"] = torch.tril(torch.ones(128, 128, dtype=torch.uint8)).view(1, 1, 128, 128)
    state[f"h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
saved("gpt2", model, state)
