"""Writes digit.png, a test image of examples/digits as another program saves it, and digit.safetensors, PyTorch's outputs for it.

    python make_digit.py            (Pillow, NumPy, safetensors)
"""

from pathlib import Path

import numpy as np
from PIL import Image
from safetensors.numpy import load_file, save_file

# The gray levels of the digits are 0 to 16, which the model sees divided by 16: 15 per level divided by 240.
LEVEL = 15

data = load_file(Path(__file__).parents[4] / "examples/digits/test.safetensors")
index = int(np.argmax(data["labels"] == 7))
pixels = np.round(data["x"][index, 0] * 16 * LEVEL).astype(np.uint8)
Image.fromarray(pixels).save("digit.png")
save_file({"output_0": data["output_0"][index : index + 1]}, "digit.safetensors")
