#!/usr/bin/env python3
"""Whole models that read pictures or sounds, in their real configurations with random weights: logits of etbuild beside those of transformers.

    whole.py --etbuild ETBUILD --work FOLDER [--models gemma3,qwen2.5-vl,voxtral] [--tokens 8]

Weights are bfloat16 for both, and numbers between layers float32. transformers holds the weights of the decoder as bfloat16 and widens those of
one module at a time, so that the memory is twice the file at most. It reads the tokens that etbuild chose, in one pass.
"""
import argparse
import sys
from pathlib import Path

import numpy
import torch
import transformers
from PIL import Image
from safetensors.torch import load_file

sys.path.append(str(Path(__file__).parent))
import mtmd

TEXT = "abc"
# Layers and vocabulary of the decoder, and the shapes of the program.
SIZES = {"gemma3": (34, 262_144, "prefill: [256]"), "qwen2.5-vl": (36, 151_643, "image_tokens: 384"), "voxtral": (30, 131_000, "prefill: [128]")}


def widen(model, decoder):
    """Computes in float32: the weights of matrices of the decoder stay bfloat16 between calls."""
    held = [module for module in [*decoder.modules(), model.lm_head] if isinstance(module, (torch.nn.Linear, torch.nn.Embedding))]
    for module in model.modules():
        if module not in held:
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    module._parameters[name] = torch.nn.Parameter(parameter.data.float(), requires_grad=False)
            for name, buffer in module._buffers.items():
                if buffer is not None and buffer.is_floating_point():
                    module._buffers[name] = buffer.float()
    for module in held:
        if isinstance(module, torch.nn.Embedding):
            scale = getattr(module, "scalar_embed_scale", 1.0)
            module.forward = lambda read, module=module, scale=scale: torch.nn.functional.embedding(read, module.weight).float() * scale
        else:
            module.forward = lambda read, module=module: torch.nn.functional.linear(
                read, module.weight.float(), None if module.bias is None else module.bias.float())


def with_picture(folder, work):
    """Options of etbuild, and what transformers reads."""
    picture = work / "picture.png"
    mtmd.write_picture(picture)
    processor = transformers.AutoImageProcessor.from_pretrained(folder, use_fast=False)
    read = dict(processor(images=[Image.open(picture)], return_tensors="pt"))
    read.pop("num_crops", None)
    return ["--image", picture], read


def with_sound(folder, work):
    samples = mtmd.write_sound(work / "sound.wav")
    extractor = transformers.AutoFeatureExtractor.from_pretrained(folder)
    features = extractor(samples / numpy.float32(32768), sampling_rate=mtmd.RATE, padding="max_length", return_tensors="pt")["input_features"]
    return ["--audio", work / "sound.wav"], dict(input_features=features)


def prompt_of(folder, name, read):
    """The tokens of the prompt, with those that stand for the rows of a picture or sound."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    kind = "audio" if name == "voxtral" else "image"
    talk = [dict(role="user", content=[dict(type=kind), dict(type="text", text=TEXT)])]
    text = tokenizer.apply_chat_template(talk, add_generation_prompt=True, tokenize=False)
    start, end, soft = mtmd.GEMMA
    if name == "gemma3":
        text = text.replace(start, f"\n\n{start}{soft * 256}{end}\n\n")
    elif name == "voxtral":
        text = text.replace(mtmd.VOXTRAL[0], mtmd.VOXTRAL[0] * 375)
    else:
        text = text.replace(mtmd.QWEN[2], mtmd.QWEN[2] * int(read["image_grid_thw"].prod() // 4))
    return tokenizer(text, add_special_tokens=False)["input_ids"]


@torch.no_grad()
def expected(folder, read, prompt, tokens):
    """The logits ahead of each of the tokens."""
    model = transformers.AutoModelForImageTextToText if "pixel_values" in read else transformers.VoxtralForConditionalGeneration
    model = model.from_pretrained(folder, dtype=torch.bfloat16, attn_implementation="eager").eval()
    widen(model, model.model.language_model)
    ids = torch.tensor([prompt + tokens[:-1]])
    if "pixel_values" in read:
        is_image = (ids == model.config.image_token_id).long()
        read = dict(read, **{"mm_token_type_ids" if "image_grid_thw" in read else "token_type_ids": is_image})
    made = model(input_ids=ids, attention_mask=torch.ones_like(ids), logits_to_keep=len(tokens), use_cache=False, **read)
    return made.logits[0]


def compare(arguments, name):
    """A row of the table."""
    folder, work = arguments.work / name, arguments.work
    layers, vocabulary, export = SIZES[name]
    if not (folder / "tokenizer.json").exists():
        mtmd.write_checkpoint(folder, mtmd.MODELS[name](layers, vocabulary), vocabulary)
    media, read = (with_sound if name == "voxtral" else with_picture)(folder, work)
    binary = mtmd.deploy(arguments.etbuild, work, name, export)
    chosen, logits = work / f"{name}-tokens.txt", work / f"{name}-logits.safetensors"
    told, memory = mtmd.ran([binary, *media, "--prompt", TEXT, "--chat", "--temperature", "0", "--max-new-tokens", arguments.tokens,
                             "--tokens-out", chosen, "--logits", logits, "--stats"])
    print(told.strip().splitlines()[-1], file=sys.stderr)
    tokens = [int(token) for token in chosen.read_text().split()]
    found = load_file(logits)["logits"][-len(tokens):]
    wanted = expected(folder, read, prompt_of(folder, name, read), tokens)
    largest, apart = wanted.abs().max().item(), (found - wanted).abs().max().item()
    same = (found.argmax(-1) == wanted.argmax(-1)).sum().item()
    return f"| {name} | {largest:.3f} | {apart:.2e} | {apart / largest:.1e} | {same} of {len(found)} | {memory:.0f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etbuild", required=True)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--models", default=",".join(SIZES))
    parser.add_argument("--tokens", type=int, default=8)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    print("| model | largest logit | largest difference | ratio | same token | memory of etbuild, MiB |\n|---|---|---|---|---|---|")
    for name in arguments.models.split(","):
        print(compare(arguments, name), flush=True)


if __name__ == "__main__":
    main()
