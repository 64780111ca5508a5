"""A matrix in the form of MLX in each number of bits, and a stack of three of 3 bits, with the numbers of `mlx.core.dequantize`.

    python make_mlx.py      writes mlx.safetensors beside itself (mlx[cpu])
"""

from pathlib import Path

import mlx.core as mx

mx.random.seed(3)
matrix = mx.random.normal((4, 64))
tensors = {}
for bits in (2, 3, 4, 5, 6, 8):
    words, scales, biases = mx.quantize(matrix, group_size=32, bits=bits)
    numbers = mx.dequantize(words, scales, biases, group_size=32, bits=bits)
    parts = {"weight": words, "scales": scales, "biases": biases, "numbers": numbers}
    tensors |= {f"bits{bits}.{name}": tensor for name, tensor in parts.items()}
stack = mx.random.normal((3, 4, 64))
words, scales, biases = mx.quantize(stack, group_size=32, bits=3)
numbers = mx.dequantize(words, scales, biases, group_size=32, bits=3)
parts = {"weight": words, "scales": scales, "biases": biases, "numbers": numbers}
tensors |= {f"mlp.switch_mlp.gate_proj.{name}": tensor for name, tensor in parts.items()}
mx.save_safetensors(str(Path(__file__).parent / "mlx.safetensors"), tensors)
