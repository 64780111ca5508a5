#!/usr/bin/env bash
# Ten minutes of docs/tutorial-vision.md: an image model from PyTorch to a fast binary. Needs `etbuild`, and Python with torch,
# safetensors and numpy. Works in the current folder.
set -euo pipefail

cat > export.py <<'PYTHON'
import numpy, torch
from safetensors.torch import save_file

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 3, stride=2, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(),
    torch.nn.Conv2d(16, 32, 3, stride=2, padding=1), torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(32, 10),
).eval()
images = torch.rand(32, 3, 32, 32)
torch.export.save(torch.export.export(model, (images[:1],)), "classifier.pt2")
with torch.no_grad():
    save_file({"input": images, "output_0": model(images)}, "test.safetensors")
save_file({"input": images}, "calibration.safetensors")
numpy.save("image.npy", images[:1].numpy())
PYTHON
python3 export.py

etbuild run classifier.pt2 --inputs image.npy --outputs scores.npy
etbuild init classifier.pt2
etbuild deploy classifier.yaml --set verify.inputs=test.safetensors
etbuild deploy classifier.yaml --quantize int8 --calibrate calibration.safetensors
out/classifier/linux-x86_64/classifier --inputs image.npy --outputs scores.npy
out/classifier/linux-x86_64/classifier --bench
