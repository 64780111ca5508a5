"""Tensors by name in safetensors files, which the command reads and writes; the format is at
https://huggingface.co/docs/safetensors."""

from __future__ import annotations

import json
from typing import Any, Mapping

#: The names of element types in files, by their names in NumPy.
_TYPES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
}


def write(path: str, tensors: Mapping[str, Any]) -> None:
    """Writes arrays of NumPy, tensors of PyTorch, or whatever ``numpy.asarray`` takes."""
    import numpy

    header: dict[str, Any] = {}
    contents: list[bytes] = []
    end = 0
    for name, tensor in tensors.items():
        # Tensors of PyTorch that require gradients refuse the conversion otherwise.
        detached = tensor.detach().cpu() if hasattr(tensor, "detach") else tensor
        kind = None
        if str(getattr(detached, "dtype", "")) == "torch.bfloat16":
            import torch

            # NumPy has no such elements: their bits are written.
            kind, detached = "BF16", detached.view(torch.int16)
        # Files are little-endian.
        array = numpy.ascontiguousarray(numpy.asarray(detached))
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        kind = kind or _TYPES.get(array.dtype.name)
        if kind is None:
            raise TypeError(f"{name}: a file has no elements of the type {array.dtype}")
        # `ascontiguousarray` gives a scalar a dimension.
        shape = list(numpy.shape(detached))
        contents.append(array.tobytes())
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + array.nbytes]}
        end += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.writelines(contents)


def read(path: str) -> dict[str, Any]:
    """Reads arrays of NumPy, and texts of the metadata."""
    import numpy

    names = {kind: name for name, kind in _TYPES.items()}
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        content = file.read()
    found: dict[str, Any] = dict(header.pop("__metadata__", {}))
    for name, entry in header.items():
        if entry["dtype"] not in names:
            hint = "`Runtime.load` runs the program in this process, and gives tensors of PyTorch"
            raise TypeError(f"{name}: NumPy has no elements of the type {entry['dtype']}; {hint}")
        start, end = entry["data_offsets"]
        array = numpy.frombuffer(bytearray(content[start:end]), dtype=names[entry["dtype"]])
        found[name] = array.reshape(entry["shape"])
    return found
