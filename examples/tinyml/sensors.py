"""What microphones and cameras give, and the inputs that the networks expect of it, as torchaudio and Pillow compute these.

Sound and pictures are synthetic: tones that come and go in noise, and soft patches of color.
"""

import math

import torch
from torch import Tensor

RATE = 16000


def sound(samples: int, seed: int) -> Tensor:
    """int16 samples of two tones in noise."""
    generator = torch.Generator().manual_seed(seed)
    time, numbers = torch.arange(samples) / RATE, torch.rand(4, generator=generator)
    pitch, middle = 120 + 900 * numbers[0], numbers[1] * samples / RATE
    tones = torch.sin(2 * math.pi * pitch * time) + 0.3 * torch.sin(2 * math.pi * 2.7 * pitch * time)
    envelope = torch.exp(-20 * (time - middle) ** 2)
    noise = 0.01 * torch.randn(samples, generator=generator)
    return ((0.5 * numbers[2] * tones * envelope + noise) * 32768).round().clamp(-32768, 32767).to(torch.int16)


def picture(height: int, width: int, seed: int) -> Tensor:
    """uint8 [height, width, 3]."""
    generator = torch.Generator().manual_seed(seed)
    patches = torch.rand(1, 3, 6, 8, generator=generator)
    soft = torch.nn.functional.interpolate(patches, size=(height, width), mode="bilinear")[0].permute(1, 2, 0)
    grain = 0.05 * torch.rand(height, width, 3, generator=generator)
    return ((soft + grain).clamp(0, 1) * 255).round().to(torch.uint8).contiguous()


def mel_filters(bins: int, bands: int, low: float, high: float) -> Tensor:
    """torchaudio.functional.melscale_fbanks with HTK's scale, [bins, bands]."""
    mel = lambda hertz: 2595 * math.log10(1 + hertz / 700)
    points = 700 * (10 ** (torch.linspace(mel(low), mel(high), bands + 2, dtype=torch.float64) / 2595) - 1)
    hertz = torch.linspace(0, RATE / 2, bins, dtype=torch.float64)[:, None]
    up = (hertz - points[:-2]) / (points[1:-1] - points[:-2])
    down = (points[2:] - hertz) / (points[2:] - points[1:-1])
    return torch.minimum(up, down).clamp(min=0)


def log_mel(samples: Tensor, n_fft: int, win_length: int, hop_length: int, n_mels: int, low=0.0, high=RATE / 2, center=False, log="ln") -> Tensor:
    """[frames, n_mels]: torchaudio.transforms.MelSpectrogram, and its logarithm or decibels."""
    window = torch.hann_window(win_length, dtype=torch.float64)
    sound = samples.flatten().double() / 32768
    spectrum = torch.stft(sound, n_fft, hop_length, win_length, window, center, return_complex=True).abs() ** 2
    energies = spectrum.T @ mel_filters(n_fft // 2 + 1, n_mels, low, high)
    return (energies + 1e-6).log() if log == "ln" else 10 * energies.clamp(min=1e-10).log10()


def mfcc(logarithms: Tensor, n_mfcc: int) -> Tensor:
    """The first coefficients of the orthonormal cosine transform."""
    bands = logarithms.shape[1]
    angles = math.pi / bands * (torch.arange(bands, dtype=torch.float64) + 0.5) * torch.arange(n_mfcc)[:, None]
    rows = angles.cos() * math.sqrt(2 / bands)
    rows[0] /= math.sqrt(2)
    return logarithms @ rows.T


def keyword_spotting(samples: Tensor) -> Tensor:
    """[1, 1, 49, 10] of 15,872 samples."""
    return mfcc(log_mel(samples, 512, 480, 320, 40, 20, 4000), 10).float()[None, None]


def anomaly_detection(samples: Tensor) -> Tensor:
    """[1, 640] of 3,072 samples: five frames of 128 bands in decibels."""
    return log_mel(samples, 1024, 1024, 512, 128, log="db").float().reshape(1, 640)


def visual_wake_words(pixels: Tensor) -> Tensor:
    """[1, 3, 96, 96] of a picture."""
    from PIL import Image

    resized = Image.fromarray(pixels.numpy()).resize((96, 96), Image.Resampling.BILINEAR)
    return image_classification(torch.frombuffer(bytearray(resized.tobytes()), dtype=torch.uint8).view(96, 96, 3))


def image_classification(pixels: Tensor) -> Tensor:
    """[1, 3, height, width] from 0 to 1."""
    return (pixels.float() / 255).permute(2, 0, 1)[None]


# By the name of a network: what a sensor gives for a seed, and the input that the network expects of it.
SENSORS = {
    "keyword-spotting": (lambda seed: sound(15872, seed), keyword_spotting),
    "anomaly-detection": (lambda seed: sound(3072, seed), anomaly_detection),
    "visual-wake-words": (lambda seed: picture(120, 160, seed), visual_wake_words),
    "image-classification": (lambda seed: picture(32, 32, seed), image_classification),
}
