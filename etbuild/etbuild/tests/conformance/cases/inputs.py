"""The inputs of cases, and tables of cases for several types."""

import torch
from torch import nn

BOOL, U8, I8, I16, I32, I64 = torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64
F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64


def x(*shape, dtype=F32):
    """Normal numbers; for integers small ones of both signs."""
    if dtype == BOOL:
        return torch.rand(shape) < 0.5
    if dtype.is_floating_point:
        return torch.randn(shape).to(dtype)
    return torch.randint(0 if dtype == U8 else -9, 10, shape, dtype=dtype)


def positive(*shape, dtype=F32):
    return (torch.rand(shape) * 3 + 0.1).to(dtype) if dtype.is_floating_point else torch.randint(1, 10, shape, dtype=dtype)


def unit(*shape):
    return torch.rand(shape) * 1.8 - 0.9


def index(limit, *shape):
    return torch.randint(0, limit, shape)


def last(*shape):
    """An image whose channels are innermost in memory."""
    return torch.randn(shape).contiguous(memory_format=torch.channels_last)


def special():
    return torch.tensor([0.0, -0.0, 1.5, -1.5, 2.5, -2.5, 0.5, float("inf"), -float("inf"), float("nan")])


def trained(norm):
    """The batch norm with statistics and weights that change its input."""
    for tensor in (norm.running_mean, norm.weight, norm.bias):
        nn.init.normal_(tensor)
    nn.init.uniform_(norm.running_var, 0.5, 2)
    return norm


def halved(layer):
    """The layer with weights that 16 bits hold."""
    return layer.to(BF16).to(F32)


def each(function, *shapes, make=x, dtypes=(F32,)):
    """The same call for several types: a name behind the call's for each."""
    kind = {dtype: str(dtype).removeprefix("torch.") for dtype in dtypes}
    return {kind[dtype]: lambda dtype=dtype: (function, *(make(*shape, dtype=dtype) for shape in shapes)) for dtype in dtypes}


def spread(table):
    """One flat table of a table of tables."""
    return {f"{name}_{kind}": build for name, kinds in table.items() for kind, build in kinds.items()}
