"""Trains the digit classifier and writes every file that the digits recipe reads.

    python train.py            (torch, scikit-learn, safetensors; seconds on one core)

The data are scikit-learn's 1797 handwritten digits: 8 x 8 grey images scaled to 0..1. Every fifth image
(0, 5, 10, ...) is a test image, the others are training images.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from sklearn.datasets import load_digits
from torch import Tensor, nn

FOLDER = Path(__file__).parent
EPOCHS = 60
BATCH = 32
CALIBRATION_IMAGES = 64


class Digits(nn.Module):
    """Two convolution stages, each halving the image, then one linear layer: 6,186 parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(32)
        self.pool = nn.MaxPool2d(2)
        self.dropout = nn.Dropout(0.25)
        self.classify = nn.Linear(32 * 2 * 2, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(torch.relu(self.norm1(self.conv1(x))))
        x = self.pool(torch.relu(self.norm2(self.conv2(x))))
        return self.classify(self.dropout(torch.flatten(x, 1)))


def make_deterministic() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


def load_split() -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Images [N, 1, 8, 8] and labels [N], training and test."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target, dtype=torch.int64)
    test = torch.arange(len(labels)) % 5 == 0
    return (images[~test], labels[~test]), (images[test], labels[test])


def shift(images: Tensor) -> Tensor:
    """Moves a whole batch by at most one pixel in each direction, so that the model ignores position."""
    row, column = torch.randint(0, 3, (2,)).tolist()
    return nn.functional.pad(images, (1, 1, 1, 1))[:, :, row : row + 8, column : column + 8]


def train(model: nn.Module, images: Tensor, labels: Tensor) -> None:
    batches = -(-len(labels) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=EPOCHS * batches)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(labels)).split(BATCH):
            logits = model(shift(images[batch]))
            # Smoothing keeps logits small, so that rounding in another order of summation stays small too.
            loss = nn.functional.cross_entropy(logits, labels[batch], label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


def export(model: nn.Module, path: Path) -> None:
    """Saves the undecomposed program, without the source paths that torch records per node."""
    program = torch.export.export(model, (torch.zeros(1, 1, 8, 8),))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    torch.export.save(program, path)


@torch.no_grad()
def eager_logits(model: nn.Module, images: Tensor) -> Tensor:
    """One image at a time, as a device runs it: a batch may be summed in another order."""
    return torch.cat([model(image.unsqueeze(0)) for image in images])


def main() -> None:
    make_deterministic()
    (images, labels), (test_images, test_labels) = load_split()
    model = Digits()
    train(model.train(), images, labels)
    logits = eager_logits(model.eval(), test_images)
    export(model, FOLDER / "digits.pt2")
    save_file({"x": test_images, "output_0": logits, "labels": test_labels}, FOLDER / "test.safetensors")
    save_file({"x": images[:CALIBRATION_IMAGES].clone()}, FOLDER / "calibration.safetensors")
    correct = int((logits.argmax(1) == test_labels).sum())
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {correct} of {len(test_labels)} test images correct")


if __name__ == "__main__":
    main()
