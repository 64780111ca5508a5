"""Makes the safetensors file of this folder. Needs: pip install safetensors numpy."""

import pathlib

import numpy
from safetensors.numpy import save_file

tensors = {
    "x": numpy.arange(12, dtype=numpy.float32).reshape(2, 2, 3),
    "flags": numpy.array([True, False, True]),
    "h\u00e9 \"quoted\"": numpy.array([1.5, -2.0], dtype=numpy.float16),
    "scalar": numpy.array(-7, dtype=numpy.int64),
    "none": numpy.zeros((0, 4), dtype=numpy.uint8),
}
save_file(tensors, pathlib.Path(__file__).parent / "made_by_python.safetensors", metadata={"format": "np"})
