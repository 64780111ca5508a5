"""Writes models whose inputs are what microphones and cameras give, with what torch and Pillow compute.

    python front_ends.py features FOLDER      (identities: the outputs are features)
    python front_ends.py stream FOLDER
    python front_ends.py camera FOLDER
    python front_ends.py causal FOLDER        (causal convolutions whose last rows are state)
    python front_ends.py tinyml FOLDER        (the files of `examples/tinyml`, for four seeds)
                                                           (torch, safetensors, Pillow)
"""

import sys
import wave
from pathlib import Path

import torch
from PIL import Image
from safetensors.torch import save_file

sys.path.insert(0, str(Path(__file__).parents[3] / "examples/tinyml"))
import export
import networks
import sensors

FOLDER = Path(sys.argv[2])


class Same(torch.nn.Module):
    def forward(self, input):
        return input * 1.0


def identity(name, shape):
    torch.export.save(torch.export.export(Same(), (torch.zeros(shape),)), FOLDER / f"{name}.pt2")


def features():
    samples = sensors.sound(16000, 1)
    found = {
        "mfcc": sensors.mfcc(sensors.log_mel(samples, 512, 480, 320, 40, 20, 4000), 10).T[None],
        "bands": sensors.log_mel(samples, 400, 400, 160, 32, center=True, log="db")[None],
        "flat": sensors.log_mel(samples, 640, 640, 320, 20).reshape(1, -1),
    }
    for name, expected in found.items():
        identity(name, expected.shape)
        save_file({"output_0": expected.float().contiguous()}, FOLDER / f"{name}.expected.safetensors")
    save_file({"input": samples[None]}, FOLDER / "sound.safetensors")
    with wave.open(str(FOLDER / "sound.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sensors.RATE)
        file.writeframes(samples.numpy().tobytes())


def stream():
    """Steps of 320 samples, and the features after each: before the first there was silence."""
    identity("stream", (1, 49, 40))
    samples, before = sensors.sound(8 * 640, 2), torch.zeros(15872, dtype=torch.int16)
    whole = torch.cat([before, samples])
    ends = [15872 + 640 * (step + 1) for step in range(8)]
    expected = torch.stack([sensors.log_mel(whole[end - 15872 : end], 512, 480, 320, 40, 20, 4000) for end in ends])
    save_file({"input": samples.reshape(8, 640)}, FOLDER / "steps.safetensors")
    save_file({"output_0": expected.float()}, FOLDER / "stream.expected.safetensors")


def camera():
    """A picture, in 24 and in 16 bits, and its luma of the latter."""
    pixels = sensors.picture(120, 160, 0)
    Image.fromarray(pixels.numpy()).save(FOLDER / "picture.png")
    save_file({"input": pixels[None]}, FOLDER / "picture.safetensors")
    red, green, blue = (pixels.int() >> torch.tensor([3, 2, 3])).unbind(-1)
    word = red << 11 | green << 5 | blue
    save_file({"input": torch.stack([word >> 8, word & 255], -1).to(torch.uint8)[None]}, FOLDER / "short.safetensors")
    full = [red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2]
    luma = Image.fromarray(torch.stack(full, -1).to(torch.uint8).numpy()).convert("L").resize((64, 48), Image.Resampling.BICUBIC)
    save_file({"output_0": torch.frombuffer(bytearray(luma.tobytes()), dtype=torch.uint8).float().view(1, 1, 48, 64)}, FOLDER / "luma.safetensors")
    for name, shape in {"colors": (1, 3, 96, 96), "rows": (1, 96, 96, 3), "luma": (1, 1, 48, 64)}.items():
        identity(name, shape)


def tinyml():
    (FOLDER / "out").mkdir()
    for make in networks.SHAPES:
        name = make.__name__.replace("_", "-")
        given, expects = sensors.SENSORS[name]
        signals = torch.stack([given(seed) for seed in range(8)])
        network, expected = networks.build(make, torch.cat([expects(signal) for signal in signals]))
        export.write(FOLDER / "out", f"{name}-sensor", network, expected, signals, cases=2)
    stream_of_keywords()


def stream_of_keywords():
    """Steps of 320 samples for keyword spotting, and the outputs for the last 15,872 samples after each."""
    samples = torch.cat([torch.zeros(15872, dtype=torch.int16), sensors.sound(16000, 3)])
    windows = torch.stack([samples[320 * step : 320 * step + 15872] for step in range(51)])
    expected = torch.cat([sensors.keyword_spotting(window) for window in windows])
    network, _ = networks.build(networks.keyword_spotting, expected)
    torch.export.save(torch.export.export(network, (expected[:1].clone(),)), FOLDER / "out/stream.pt2")
    with torch.no_grad():
        outputs = network(expected[1:7])
    save_file({"input": windows}, FOLDER / "out/stream-calibration.safetensors")
    save_file({"input": samples[15872:][: 6 * 320].reshape(6, 320).clone(), "output_0": outputs}, FOLDER / "out/stream-test.safetensors")


class Causal(torch.nn.Module):
    """A convolution over time, without the rows that are to come."""

    def __init__(self, channels, results):
        super().__init__()
        self.conv = torch.nn.Conv1d(channels, results, 5)
        self.register_buffer("past", torch.zeros(1, channels, 4))

    def forward(self, rows):
        rows = torch.cat([self.past, rows], 2)
        self.past.copy_(rows[:, :, -4:])
        return torch.relu(self.conv(rows))


class Window(torch.nn.Module):
    """The last rows, flattened."""

    def __init__(self, channels, rows):
        super().__init__()
        self.register_buffer("past", torch.zeros(1, channels, rows))

    def forward(self, rows):
        rows = torch.cat([self.past[:, :, rows.shape[2] :], rows], 2)
        self.past.copy_(rows)
        return rows.flatten(1)


def causal():
    """Steps of two rows of 40 features, and the outputs after each."""
    torch.manual_seed(0)
    layers = [Causal(40, 32), Causal(32, 32), Window(32, 8), torch.nn.Linear(256, 12)]
    network = torch.nn.Sequential(*layers).eval()
    steps = torch.randn(80, 40, 2)
    torch.export.save(torch.export.export(network, (steps[:1].clone(),)), FOLDER / "causal.pt2")
    for buffer in network.buffers():
        buffer.zero_()
    with torch.no_grad():
        outputs = torch.cat([network(step[None]) for step in steps[:16]])
    save_file({"input": steps[16:]}, FOLDER / "calibration.safetensors")
    save_file({"input": steps[:16], "output_0": outputs}, FOLDER / "test.safetensors")


{"features": features, "causal": causal, "stream": stream, "camera": camera, "tinyml": tinyml}[sys.argv[1]]()
