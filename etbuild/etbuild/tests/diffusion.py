"""Small Stable Diffusion pipelines of random weights, and what diffusers makes with them.

    python diffusion.py FOLDER SCRIPT     SCRIPT is examples/diffusion/export.py

Writes FOLDER/NAME with the archives and `expected.json`: the tokens of texts, and pictures, each with the arguments of the call, the folder of
the pipeline and the file with the bytes of the pixels. `pipeline_words` is a folder with `vocab.json` and `merges.txt` in the place of
`tokenizer.json`, and `case.safetensors` has pictures as numbers.
"""

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import diffusers
import numpy
import torch
from safetensors.torch import save_file
from diffusers import AutoencoderKL, StableDiffusionPipeline, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

# As CompVis/stable-diffusion-v1-4 has it.
PNDM = dict(beta_end=0.012, beta_schedule="scaled_linear", beta_start=0.00085, skip_prk_steps=True, steps_offset=1)
DDIM = dict(beta_end=0.012, beta_schedule="scaled_linear", beta_start=0.00085, clip_sample=False, set_alpha_to_one=False)
TEXTS = ["a lighthouse at dusk", "", "Ein  LEUCHTTURM\nüber 12 Häuser!?", "it's we'll <|endoftext|> 漢字 \u0130", "light " * 90]
# By pipeline: whether a call of the UNet is for one text, the type, and pictures by scheduler.
VELOCITY = dict(prediction_type="v_prediction")
TRAILING = dict(timestep_spacing="trailing")
PIPELINES = {
    "both": (False, torch.float32, [
        ("PNDMScheduler", PNDM, dict(steps=5, guidance=7.5, seed=3)),
        ("PNDMScheduler", PNDM, dict(steps=1, guidance=1.0, seed=3)),
        ("PNDMScheduler", PNDM | VELOCITY, dict(steps=6, guidance=4.0, seed=9)),
        ("DDIMScheduler", PNDM, dict(steps=4, guidance=3.0, seed=1 << 40)),
        ("DDIMScheduler", DDIM | VELOCITY | TRAILING, dict(steps=4, guidance=4.0, seed=9)),
        ("EulerDiscreteScheduler", PNDM, dict(steps=4, guidance=3.0, seed=5)),
        ("EulerDiscreteScheduler", PNDM | VELOCITY | TRAILING, dict(steps=4, guidance=4.0, seed=9))]),
    "single": (True, torch.float32, [
        ("DDIMScheduler", DDIM, dict(steps=4, guidance=5.0, seed=1, negative="dark")),
        ("DDIMScheduler", DDIM, dict(steps=3, guidance=0.5, seed=1, negative="dark"))]),
    "half": (False, torch.float16, [("PNDMScheduler", PNDM, dict(steps=4, guidance=7.5, seed=3))]),
}
SIZE = (32, 48)
PROMPT = "a lighthouse at dusk"


def tokenizer(folder):
    """A tokenizer of the form of CLIP's, with few words."""
    letters = sorted(set(map(chr, (*range(33, 127), *range(161, 173), *range(174, 256), *range(256, 324)))))
    merges = ["l i", "li g", "lig h", "ligh t</w>", "ligh t", "h o", "ho u", "hou s", "hous e</w>", "a t</w>", "d u", "i n</w>"]
    words = letters + [letter + "</w>" for letter in letters] + [merge.replace(" ", "") for merge in merges]
    vocabulary = {word: index for index, word in enumerate([*words, "<|startoftext|>", "<|endoftext|>"])}
    folder.mkdir(parents=True)
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]))
    pairs = [tuple(merge.split()) for merge in merges]
    return CLIPTokenizer(vocab=vocabulary, merges=pairs, model_max_length=77)


def networks():
    """Networks of the sizes of diffusers' own tests."""
    torch.manual_seed(0)
    unet = UNet2DConditionModel(
        block_out_channels=(32, 64), layers_per_block=1, sample_size=16, in_channels=4, out_channels=4, cross_attention_dim=32,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"))
    vae = AutoencoderKL(
        block_out_channels=[32, 64], in_channels=3, out_channels=3, latent_channels=4,
        down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2)
    encoder = CLIPTextModel(CLIPTextConfig(
        hidden_size=32, intermediate_size=37, num_attention_heads=4, num_hidden_layers=5, vocab_size=1000, bos_token_id=0, eos_token_id=2,
        pad_token_id=1))
    for parameter in encoder.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, 0.0, 0.3)
    return dict(unet=unet.eval(), vae=vae.eval(), text_encoder=encoder.eval())


def configured(pipeline, scheduler, config):
    """The pipeline with another scheduler, whose configuration is read as a file: the scheduler has defaults for other keys."""
    made = StableDiffusionPipeline(**pipeline.components | dict(
        scheduler=getattr(diffusers, scheduler).from_config(config)), requires_safety_checker=False)
    made.set_progress_bar_config(disable=True)
    return made


def picture(pipeline, call, **more):
    return pipeline(
        PROMPT, negative_prompt=call.get("negative"), num_inference_steps=call["steps"], guidance_scale=call["guidance"],
        generator=torch.Generator("cpu").manual_seed(call["seed"]), height=SIZE[0], width=SIZE[1], **more).images


def write_cases(folder, pipeline, call, tokens):
    """Two pictures as numbers: the tokens, the noise, and the output of the VAE."""
    noise = torch.randn(2, 4, SIZE[0] // 2, SIZE[1] // 2)
    outputs = []
    for one in noise:
        latents = picture(pipeline, call, latents=one[None], output_type="latent")
        with torch.no_grad():
            outputs.append(pipeline.vae.decode(latents / pipeline.vae.config.scaling_factor).sample)
    prompt, negative = (torch.tensor([row] * 2) for row in tokens)
    save_file(dict(tokens=prompt, negative=negative, noise=noise, output_0=torch.cat(outputs)), folder / "case.safetensors")


def write(folder, script, single, dtype, pictures):
    words = tokenizer(folder / "words")
    parts = networks()
    scheduler, config, _ = pictures[0]
    make = lambda: StableDiffusionPipeline(
        **parts, tokenizer=words, scheduler=getattr(diffusers, scheduler).from_config(config), safety_checker=None,
        feature_extractor=None, requires_safety_checker=False)
    texts = words(TEXTS, padding="max_length", truncation=True, max_length=77)["input_ids"]
    expected = dict(texts=[dict(text=text, tokens=tokens) for text, tokens in zip(TEXTS, texts)], pictures=[])
    pipeline = make()
    if dtype == torch.float16:
        for part in parts.values():
            part.half()
    script.export(pipeline, folder, SIZE, single)
    # Pictures are made in float32, of the numbers in the archives.
    for part in parts.values():
        part.float()
    for index, (name, config, call) in enumerate(pictures):
        pixels = (picture(configured(pipeline, name, config), call, output_type="np")[0] * 255).round().astype(numpy.uint8)
        file, made = f"picture_{index}.rgb", f"pipeline_{index}"
        (folder / file).write_bytes(pixels.tobytes())
        shutil.copytree(folder / "pipeline", folder / made)
        (folder / made / "scheduler/scheduler_config.json").write_text(json.dumps(dict(_class_name=name) | config))
        expected["pictures"].append(call | dict(prompt=PROMPT, file=file, pipeline=made, size=pixels.shape[:2]))
    shutil.copytree(folder / "pipeline_0", folder / "pipeline_words")
    (folder / "pipeline_words/tokenizer/tokenizer.json").unlink()
    shutil.copytree(folder / "words", folder / "pipeline_words/tokenizer", dirs_exist_ok=True)
    write_cases(folder, configured(pipeline, *pictures[0][:2]), pictures[0][2], texts[:2])
    (folder / "expected.json").write_text(json.dumps(expected))


specification = importlib.util.spec_from_file_location("export", sys.argv[2])
script = importlib.util.module_from_spec(specification)
specification.loader.exec_module(script)
for name, pipeline in PIPELINES.items():
    write(Path(sys.argv[1]) / name, script, *pipeline)
