"""Exports the networks of a Stable Diffusion pipeline of diffusers, an archive each.

    python export.py PIPELINE FOLDER [--size HEIGHT WIDTH] [--half] [--single]

PIPELINE is a folder or a name that `StableDiffusionPipeline.from_pretrained` takes. FOLDER gets `text_encoder.pt2`, `unet.pt2`,
`vae_decoder.pt2`, and in `pipeline/` the configurations and the tokenizer that a recipe names as `diffusion.pipeline`. By default, a call of
`unet.pt2` is for a prompt and a negative prompt together; `--single` makes a call for one of the two, with less memory. Needs torch,
transformers and diffusers.
"""

import argparse
from pathlib import Path

import torch
from diffusers import StableDiffusionPipeline


class TextEncoder(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model(tokens)[0]


class UNet(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, sample, timestep, encoder_hidden_states):
        return self.model(sample, timestep, encoder_hidden_states, return_dict=False)[0]


class VaeDecoder(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, latents):
        return self.model.decode(latents, return_dict=False)[0]


def export(pipeline, folder, size=None, single=False):
    """Writes the archives of a pipeline for pictures of `size`, height and width."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    unet, encoder = pipeline.unet, pipeline.text_encoder
    scale = pipeline.vae_scale_factor
    height, width = size or [unet.config.sample_size * scale] * 2
    batch = 1 if single else 2
    latents = torch.zeros(1, unet.config.in_channels, height // scale, width // scale, dtype=unet.dtype)
    tokens = torch.zeros(1, pipeline.tokenizer.model_max_length, dtype=torch.int64)
    states = torch.zeros(batch, tokens.shape[1], encoder.config.hidden_size, dtype=unet.dtype)
    networks = {
        "text_encoder": (TextEncoder(encoder), (tokens,)),
        "unet": (UNet(unet), (latents.repeat(batch, 1, 1, 1), torch.zeros(1), states)),
        "vae_decoder": (VaeDecoder(pipeline.vae), (latents,)),
    }
    for name, (network, inputs) in networks.items():
        with torch.no_grad():
            torch.export.save(torch.export.export(network.eval(), inputs), folder / f"{name}.pt2")
    pipeline.tokenizer.save_pretrained(folder / "pipeline/tokenizer")
    pipeline.scheduler.save_pretrained(folder / "pipeline/scheduler")
    (folder / "pipeline/vae").mkdir(parents=True, exist_ok=True)
    pipeline.vae.to_json_file(folder / "pipeline/vae/config.json")
    pipeline.to_json_file(folder / "pipeline/model_index.json")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("pipeline")
    parser.add_argument("folder")
    parser.add_argument("--size", type=int, nargs=2)
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--single", action="store_true")
    arguments = parser.parse_args()
    dtype = torch.float16 if arguments.half else torch.float32
    loaded = StableDiffusionPipeline.from_pretrained(arguments.pipeline, torch_dtype=dtype, safety_checker=None)
    export(loaded, arguments.folder, arguments.size, arguments.single)
