"""Writes `src/gguf/lattices.bin`, the points of the lattices of GGUF's formats IQ1, IQ2 and IQ3, from the package `gguf`.

    python generate_lattices.py

The formats follow each other in the order of `FORMATS`. A point takes two bytes: a code of 2 bits for each of eight coordinates, or of 4 bits for
each of four, the lowest bits first. What number a code stands for is in `src/gguf/lattices.rs`.
"""

from pathlib import Path

from gguf import quants

FORMATS = ["IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S"]

if __name__ == "__main__":
    points = b"".join(bytes.fromhex(getattr(quants, name).grid_hex.decode()) for name in FORMATS)
    (Path(__file__).parent / "src/gguf/lattices.bin").write_bytes(points)
