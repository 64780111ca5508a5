"""The four networks of MLPerf Tiny v1, with random weights and statistics of random data.

Each takes float32 and gives the result of the benchmark: probabilities, or the reconstruction of the autoencoder.
"""

import torch
from torch import Tensor, nn


def activated(inputs: int, outputs: int, kernel, stride=1, padding=0, groups=1) -> nn.Sequential:
    """A convolution with batch normalization and ReLU."""
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU())


def separable(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    """A depthwise and a pointwise convolution."""
    depthwise = activated(inputs, inputs, 3, stride, 1, groups=inputs)
    return nn.Sequential(depthwise, activated(inputs, outputs, 1))


def classifier(size, channels: int, classes: int) -> nn.Sequential:
    """Probabilities from an image of `size` pixels."""
    return nn.Sequential(nn.AvgPool2d(size), nn.Flatten(), nn.Linear(channels, classes), nn.Softmax(-1))


def keyword_spotting() -> nn.Sequential:
    """DS-CNN: [1, 1, 49, 10] features of a second of sound to 12 words."""
    blocks = [separable(64, 64) for _ in range(4)]
    return nn.Sequential(activated(1, 64, (10, 4), 2, (5, 1)), *blocks, classifier((25, 5), 64, 12))


def visual_wake_words() -> nn.Sequential:
    """MobileNetV1 0.25: [1, 3, 96, 96] to whether there is a person."""
    widths = [(8, 16, 1), (16, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2), *[(128, 128, 1)] * 5, (128, 256, 2)]
    blocks = [separable(*width) for width in [*widths, (256, 256, 1)]]
    return nn.Sequential(activated(3, 8, 3, 2, 1), *blocks, classifier((3, 3), 256, 2))


class Residual(nn.Module):
    """Two convolutions and their input, which a convolution fits to another shape."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        last = nn.Sequential(nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs))
        self.path = nn.Sequential(activated(inputs, outputs, 3, stride, 1), *last)
        self.fit = nn.Conv2d(inputs, outputs, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.path(x) + self.fit(x))


def image_classification() -> nn.Sequential:
    """ResNet-8: [1, 3, 32, 32] to ten classes."""
    blocks = [Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2)]
    return nn.Sequential(activated(3, 16, 3, 1, 1), *blocks, classifier((8, 8), 64, 10))


def anomaly_detection() -> nn.Sequential:
    """An autoencoder: [1, 640] spectral features to their reconstruction."""
    widths = [640, 128, 128, 128, 128, 8, 128, 128, 128, 128]
    hidden = [nn.Sequential(nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU()) for a, b in zip(widths, widths[1:])]
    return nn.Sequential(*hidden, nn.Linear(128, 640))


SHAPES = {
    keyword_spotting: (1, 49, 10),
    visual_wake_words: (3, 96, 96),
    image_classification: (3, 32, 32),
    anomaly_detection: (640,),
}


def build(make, inputs: Tensor | None = None) -> tuple[nn.Module, Tensor]:
    """A network in inference mode, and its inputs: if omitted, 32 between -1 and 1; equal in every run."""
    torch.manual_seed(0)
    network = make()
    if inputs is None:
        inputs = torch.rand(32, *SHAPES[make]) * 2 - 1
    # Batch normalization takes its statistics from passes over the data.
    network.train()
    with torch.no_grad():
        for _ in range(20):
            network(inputs)
    return network.eval(), inputs
