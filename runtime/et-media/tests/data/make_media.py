"""Writes the files of this folder: pictures by Pillow, recordings by Python's `wave`, and what torchvision and torchaudio make of them.

Needs torch, torchvision, torchaudio, Pillow, NumPy and safetensors.
"""

import wave

import numpy as np
import torch
import torchaudio.functional as audio
from PIL import Image
from safetensors.torch import save_file
from torchvision.transforms import functional as vision
from torchvision.transforms.functional import InterpolationMode

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def scene(height, width):
    """Smooth colors with edges and noise."""
    rows, columns = np.mgrid[0:height, 0:width]
    noise = np.random.default_rng(5).integers(0, 24, (height, width))
    red = 127 + 100 * np.sin(columns / 7) * np.cos(rows / 11) + noise
    green = 255 * rows / height - noise
    blue = np.where((rows // 9 + columns // 13) % 2 == 0, 220, 30) + noise
    return np.clip(np.stack([red, green, blue], 2), 0, 255).astype(np.uint8)


def pictures():
    rgb = Image.fromarray(scene(61, 83))
    rgb.save("rgb.png")
    rgb.convert("L").save("gray.png")
    rgb.convert("P", palette=Image.Palette.ADAPTIVE, colors=32).save("palette.png")
    rgba = rgb.convert("RGBA")
    rgba.putalpha(rgb.convert("L"))
    rgba.save("rgba.png")
    rgb.save("rgb.jpg", quality=90, subsampling=2)
    rgb.save("full.jpg", quality=90, subsampling=0)
    rgb.save("progressive.jpg", quality=80, progressive=True)
    rgb.convert("L").save("gray.jpg", quality=90)


def decoded():
    names = ["rgb.png", "gray.png", "palette.png", "rgb.jpg", "full.jpg", "progressive.jpg", "gray.jpg"]
    return {name: torch.from_numpy(np.array(Image.open(name).convert("RGB"))) for name in names}


def resized(picture):
    modes = {
        "bilinear": InterpolationMode.BILINEAR,
        "bicubic": InterpolationMode.BICUBIC,
        "lanczos": InterpolationMode.LANCZOS,
        "box": InterpolationMode.BOX,
        "nearest": InterpolationMode.NEAREST,
    }
    sizes = {"20": 20, "90": 90, "32,40": [32, 40], "61,30": [61, 30]}
    pairs = [(mode, size) for mode in modes for size in sizes if size in ("20", "32,40") or mode == "bilinear"]
    pairs.append(("bicubic", "90"))
    return {f"{mode}:{size}": torch.from_numpy(np.array(vision.resize(picture, sizes[size], modes[mode]))) for mode, size in pairs}


def classified(picture, resize, crop):
    """The preset of torchvision for classification (references/classification/presets.py)."""
    picture = vision.center_crop(vision.resize(picture, resize, InterpolationMode.BILINEAR), crop)
    picture = vision.convert_image_dtype(vision.pil_to_tensor(picture), torch.float32)
    return vision.normalize(picture, MEAN, STD)[None].contiguous()


def recording(name, rate, width, channels, seconds):
    time = np.arange(int(rate * seconds)) / rate
    low = 0.5 * np.sin(2 * np.pi * 440 * time) + 0.3 * np.sin(2 * np.pi * 3000 * time)
    tones = [low, 0.6 * np.cos(2 * np.pi * 700 * time)]
    samples = np.stack(tones[:channels], 1).reshape(-1)
    if width == 1:
        data = np.clip(np.round(samples * 127 + 128), 0, 255).astype(np.uint8).tobytes()
    elif width == 2:
        data = np.round(samples * 32767).astype("<i2").tobytes()
    else:
        integers = np.round(samples * 8388607).astype("<i4")
        data = b"".join(int(value).to_bytes(3, "little", signed=True) for value in integers)
    with wave.open(name, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(data)


def mono(name):
    with wave.open(name, "rb") as file:
        channels, width, rate, frames, _, _ = file.getparams()
        data = file.readframes(frames)
    if width == 1:
        samples = (np.frombuffer(data, np.uint8).astype(np.float32) - 128) / 128
    elif width == 2:
        samples = np.frombuffer(data, "<i2").astype(np.float32) / 32768
    else:
        integers = [int.from_bytes(data[at : at + 3], "little", signed=True) for at in range(0, len(data), 3)]
        samples = np.array(integers, np.float32) / 8388608
    return torch.from_numpy(samples.reshape(-1, channels)).mean(1), rate


def main():
    pictures()
    save_file(decoded(), "decoded.safetensors")
    picture = Image.open("rgb.png").convert("RGB")
    save_file(resized(picture), "resized.safetensors")
    presets = {"48,40": (48, 40), "50,49": (50, 49), "30,40": (30, 40)}
    save_file({name: classified(picture, *sizes) for name, sizes in presets.items()}, "classified.safetensors")
    recording("stereo-44100.wav", 44100, 2, 2, 0.05)
    recording("mono-8000.wav", 8000, 1, 1, 0.1)
    recording("mono-48000.wav", 48000, 3, 1, 0.03)
    heard = {}
    for name in ["stereo-44100.wav", "mono-8000.wav", "mono-48000.wav"]:
        samples, rate = mono(name)
        heard[name] = samples
        heard[f"{name}:16000"] = audio.resample(samples, rate, 16000)
    save_file(heard, "heard.safetensors")


main()
