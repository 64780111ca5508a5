"""The cases: suites of names, each with a function that makes what is exported and its inputs."""

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401 (the operators `quantized_decomposed`)
import torch.nn.functional as F
import torchvision.ops as vision
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


UNARY = "abs ceil floor round trunc sign neg exp expm1 erf sin cos tan sinh cosh tanh atan asinh sigmoid relu relu6 " \
    "hardswish hardsigmoid silu mish gelu elu selu celu leaky_relu softplus softsign tanhshrink hardtanh hardshrink " \
    "softshrink logsigmoid frac square positive isnan isinf isfinite logical_not rad2deg deg2rad signbit sinc sgn"
POSITIVE = "log log2 log10 log1p sqrt rsqrt reciprocal"
UNIT = "acos asin atanh"


def named(name):
    return getattr(torch, name, None) or getattr(F, name)


elementwise = {name: lambda name=name: (named(name), x(3, 5) * 3) for name in UNARY.split()}
elementwise |= {name: lambda name=name: (named(name), positive(3, 5)) for name in POSITIVE.split() if hasattr(torch, name)}
elementwise |= {name: lambda name=name: (named(name), unit(3, 5)) for name in UNIT.split()}
elementwise |= {f"{name}_special": lambda name=name: (named(name), special()) for name in "round sign relu floor exp abs sqrt isnan isinf trunc sigmoid".split()}
elementwise |= {
    "gelu_tanh": lambda: (lambda a: F.gelu(a, approximate="tanh"), x(4, 6)),
    "threshold": lambda: (lambda a: F.threshold(a, 0.1, -2.0), x(4, 6)),
    "glu": lambda: (lambda a: F.glu(a, 1), x(3, 8, 2)),
    "prelu": lambda: (nn.PReLU(4), x(2, 4, 3)),
    "rrelu": lambda: (nn.RReLU(), x(4, 6)),
    "clamp_both": lambda: (lambda a: torch.clamp(a, -0.5, 0.5), x(4, 6)),
    "clamp_tensors": lambda: (lambda a, b, c: torch.clamp(a, b, c), x(4, 6), -positive(6), positive(6)),
    "clamp_integer_by_float": lambda: (lambda a: torch.clamp(a, -1.5, 2.5), x(4, 6, dtype=I32)),
    "clip": lambda: (lambda a: torch.clip(a, max=0.3), x(4, 6)),
    "nan_to_num": lambda: (torch.nan_to_num, special()),
    "round_decimals": lambda: (lambda a: torch.round(a, decimals=2), x(4, 6)),
    "round_tens": lambda: (lambda a: torch.round(a * 100, decimals=-1), x(4, 6)),
    "logit": lambda: (lambda a: torch.logit(a, 1e-3), torch.rand(4, 6)),
    "logit_without_eps": lambda: (torch.logit, torch.linspace(0.49, 0.51, 24)),
    "sigmoid_as_double": lambda: (lambda a: torch.sigmoid(a).double() * 2, x(3, 4)),
    "bitwise_not": lambda: (torch.bitwise_not, x(4, 6, dtype=I32)),
}
elementwise |= spread({
    "abs": each(torch.abs, (3, 4), dtypes=(I32, I64, F16, BF16, F64)),
    "neg": each(torch.neg, (3, 4), dtypes=(I8, I64, F16)),
    "exp": each(torch.exp, (3, 4), dtypes=(I64, F16, BF16, F64, BOOL)),
    "sigmoid": each(torch.sigmoid, (3, 4), dtypes=(I64, F16, BF16, F64)),
    "gelu": each(F.gelu, (3, 4), dtypes=(F16, BF16, F64)),
    "sqrt": each(torch.sqrt, (3, 4), make=positive, dtypes=(I32, F16, BF16, F64)),
    "relu": each(torch.relu, (3, 4), dtypes=(I8, I32, I64, F16, BF16)),
    "silu": each(F.silu, (3, 4), dtypes=(F16, BF16)),
})  # fmt: skip

binary = {
    "add_alpha": lambda: (lambda a, b: torch.add(a, b, alpha=2.5), x(3, 4), x(4)),
    "add_scalar_to_integers": lambda: (lambda a: a + 1.5, x(3, 4, dtype=I64)),
    "add_integer_to_float": lambda: (lambda a, b: a + b, x(3, 4), x(4, dtype=I64)),
    "add_half_to_float": lambda: (lambda a, b: a + b, x(3, 4, dtype=F16), x(3, 4)),
    "add_scalar_tensor_of_a_wider_type": lambda: (lambda a, b: a + b, x(3, 4), torch.tensor(1.5, dtype=F64)),
    "add_bools": lambda: (lambda a, b: a + b, x(3, 4, dtype=BOOL), x(3, 4, dtype=BOOL)),
    "sub_from_number": lambda: (lambda a: 2 - a, x(3, 4)),
    "rsub_alpha": lambda: (lambda a: torch.rsub(a, 3, alpha=2), x(3, 4)),
    "mul_bool_by_float": lambda: (lambda a, b: a * b, x(3, 4, dtype=BOOL), x(3, 4)),
    "div_of_integers": lambda: (lambda a, b: a / b, x(3, 4, dtype=I64), positive(3, 4, dtype=I64)),
    "div_number_by_tensor": lambda: (lambda a: 2 / a, positive(3, 4)),
    "div_floor": lambda: (lambda a, b: torch.div(a, b, rounding_mode="floor"), x(3, 4), positive(4)),
    "div_trunc_of_integers": lambda: (lambda a, b: torch.div(a, b, rounding_mode="trunc"), x(3, 4, dtype=I32), positive(4, dtype=I32)),
    "floor_divide": lambda: (lambda a, b: a // b, x(3, 4, dtype=I64), positive(4, dtype=I64)),
    "floor_divide_by_number": lambda: (lambda a: a // 2, x(3, 4)),
    "remainder": lambda: (lambda a, b: a % b, x(3, 4), positive(4)),
    "remainder_by_number": lambda: (lambda a: a % 3, x(3, 4, dtype=I64)),
    "fmod": lambda: (torch.fmod, x(3, 4), positive(4)),
    "pow_tensors": lambda: (torch.pow, positive(3, 4), x(4)),
    "pow_number_of": lambda: (lambda a: 2.0**a, x(3, 4)),
    "pow_zero_special": lambda: (lambda a: a**0.0, special()),
    "pow_square": lambda: (lambda a: a**2, x(3, 4, dtype=I64)),
    "maximum": lambda: (torch.maximum, x(3, 4), x(4)),
    "minimum_nan": lambda: (torch.minimum, special(), torch.flip(special(), [0])),
    "fmax": lambda: (torch.fmax, special(), torch.flip(special(), [0])),
    "atan2": lambda: (torch.atan2, x(3, 4), x(3, 4)),
    "hypot": lambda: (torch.hypot, x(3, 4), x(3, 4)),
    "logaddexp": lambda: (torch.logaddexp, x(3, 4), x(3, 4)),
    "xlogy": lambda: (torch.xlogy, x(3, 4), positive(3, 4)),
    "copysign": lambda: (torch.copysign, x(3, 4), x(3, 4)),
    "addcmul": lambda: (lambda a, b, c: torch.addcmul(a, b, c, value=0.5), x(3, 4), x(4), x(3, 1)),
    "addcdiv": lambda: (lambda a, b, c: torch.addcdiv(a, b, c, value=0.5), x(3, 4), x(4), positive(3, 1)),
    "lerp": lambda: (lambda a, b: torch.lerp(a, b, 0.3), x(3, 4), x(3, 4)),
    "eq_numbers": lambda: (lambda a: a == 3, x(3, 4, dtype=I64)),
    "lt_mixed": lambda: (lambda a, b: a < b, x(3, 4), x(4, dtype=I64)),
    "ge": lambda: (torch.ge, x(3, 4), x(4)),
    "not_equal": lambda: (torch.not_equal, x(3, 4, dtype=I8), x(4, dtype=I8)),
    "bitwise": lambda: (lambda a, b: (a & b) | (a ^ 5), x(3, 4, dtype=I32), x(4, dtype=I32)),
    "shifts": lambda: (lambda a: (a << 2) + (a >> 1), x(3, 4, dtype=I64)),
    "logical": lambda: (lambda a, b: torch.logical_and(a, b) ^ torch.logical_or(a, b), x(3, 4), x(3, 4, dtype=BOOL)),
    "where": lambda: (torch.where, x(3, 4, dtype=BOOL), x(3, 4), x(4)),
    "where_numbers": lambda: (lambda a, b: torch.where(a, b, 0.0), x(3, 4, dtype=BOOL), x(3, 4)),
    "where_promotes": lambda: (torch.where, x(3, 4, dtype=BOOL), x(3, 4, dtype=I64), x(4)),
    "masked_fill": lambda: (lambda a, m: a.masked_fill(m, float("-inf")), x(3, 4), x(4, dtype=BOOL)),
    "masked_fill_tensor": lambda: (lambda a, m, v: a.masked_fill(m, v), x(3, 4), x(4, dtype=BOOL), torch.tensor(2.0)),
    "isclose": lambda: (torch.isclose, x(3, 4), x(3, 4)),
    "dist": lambda: (torch.dist, x(3, 4), x(3, 4)),
    "cosine_similarity": lambda: (F.cosine_similarity, x(3, 4), x(3, 4)),
    "mse_loss": lambda: (F.mse_loss, x(3, 4), x(3, 4)),
    "l1_loss": lambda: (F.l1_loss, x(3, 4), x(3, 4)),
}
binary |= spread({
    "add": each(torch.add, (3, 4), (4,), dtypes=(U8, I8, I16, I32, I64, F16, BF16, F64)),
    "sub": each(torch.sub, (3, 4), (4,), dtypes=(I8, I64, F16)),
    "mul": each(torch.mul, (3, 4), (3, 1), dtypes=(U8, I32, I64, F16, BF16, F64)),
    "div": each(torch.div, (3, 4), (3, 1), make=positive, dtypes=(I64, F16, BF16, F64)),
    "maximum": each(torch.maximum, (3, 4), (4,), dtypes=(I64, F16, BOOL)),
    "gt": each(torch.gt, (3, 4), (4,), dtypes=(I8, I64, F16, BOOL)),
})  # fmt: skip

reduce = {
    "mean_of_a_large_map": lambda: (lambda a: a.mean((1, 2, 3)), torch.rand(2, 3, 300, 301)),
    "sum_of_many": lambda: (lambda a: a.sum(), torch.rand(300_001)),
    "amax_of_many": lambda: (lambda a: a.amax(0), x(70_001, 2)),
    "sum_all": lambda: (torch.sum, x(3, 4, 5)),
    "sum_dims": lambda: (lambda a: a.sum((0, -1), keepdim=True), x(3, 4, 5)),
    "sum_integers": lambda: (lambda a: a.sum(1), x(3, 4, dtype=I32)),
    "sum_bools": lambda: (lambda a: a.sum(), x(3, 4, dtype=BOOL)),
    "sum_to_double": lambda: (lambda a: a.sum(0, dtype=F64), x(3, 4)),
    "sum_half": lambda: (lambda a: a.sum(1), x(3, 40, dtype=F16)),
    "sum_of_scalar": lambda: (torch.sum, torch.tensor(2.0)),
    "mean_all": lambda: (torch.mean, x(3, 4)),
    "mean_dims": lambda: (lambda a: a.mean((-2, -1)), x(2, 3, 4, 5)),
    "mean_of_integers": lambda: (lambda a: a.mean(dtype=F32), x(3, 4, dtype=I64)),
    "prod_all": lambda: (torch.prod, positive(3, 4)),
    "prod_dim": lambda: (lambda a: a.prod(1), positive(3, 4)),
    "amax": lambda: (lambda a: a.amax(1), x(3, 4)),
    "amin_all": lambda: (lambda a: a.amin(), x(3, 4)),
    "aminmax": lambda: (lambda a: tuple(torch.aminmax(a, dim=1)), x(3, 4)),
    "max_all": lambda: (torch.max, x(3, 4)),
    "max_dim": lambda: (lambda a: tuple(a.max(1)), x(3, 4)),
    "min_dim": lambda: (lambda a: tuple(a.min(0, keepdim=True)), x(3, 4, dtype=I64)),
    "max_of_two": lambda: (torch.max, x(3, 4), x(3, 4)),
    "argmax": lambda: (lambda a: a.argmax(1), x(3, 4)),
    "argmax_all": lambda: (torch.argmax, x(3, 4)),
    "argmin_keepdim": lambda: (lambda a: a.argmin(0, keepdim=True), x(3, 4)),
    "any": lambda: (torch.any, x(3, 4, dtype=BOOL)),
    "any_dim": lambda: (lambda a: a.any(1), x(3, 4)),
    "all": lambda: (torch.all, x(3, 4, dtype=BOOL)),
    "all_dim": lambda: (lambda a: a.all(1, keepdim=True), x(3, 4, dtype=I64)),
    "std": lambda: (torch.std, x(3, 4)),
    "std_dim": lambda: (lambda a: a.std(1, unbiased=False), x(3, 4)),
    "var_dim": lambda: (lambda a: a.var(1), x(3, 4)),
    "var_correction": lambda: (lambda a: torch.var(a, (0, 1), correction=2, keepdim=True), x(3, 4, 2)),
    "var_mean": lambda: (lambda a: torch.var_mean(a, 1), x(3, 4)),
    "norm": lambda: (torch.norm, x(3, 4)),
    "norm_dim": lambda: (lambda a: a.norm(dim=1, keepdim=True), x(3, 4)),
    "vector_norm_1": lambda: (lambda a: torch.linalg.vector_norm(a, 1, dim=1), x(3, 4)),
    "vector_norm_inf": lambda: (lambda a: torch.linalg.vector_norm(a, float("inf"), dim=1), x(3, 4)),
    "normalize": lambda: (lambda a: F.normalize(a, dim=1), x(3, 4)),
    "logsumexp": lambda: (lambda a: a.logsumexp(1), x(3, 4)),
    "cumsum": lambda: (lambda a: a.cumsum(1), x(3, 4)),
    "cumsum_integers": lambda: (lambda a: a.cumsum(0), x(3, 4, dtype=I32)),
    "cumprod": lambda: (lambda a: a.cumprod(1), positive(3, 4)),
    "softmax": lambda: (lambda a: a.softmax(-1), x(3, 4)),
    "softmax_half": lambda: (lambda a: a.softmax(1), x(3, 4, 2, dtype=F16)),
    "softmax_to_float": lambda: (lambda a: F.softmax(a, -1, dtype=F32), x(3, 4, dtype=F16)),
    "log_softmax": lambda: (lambda a: a.log_softmax(0), x(3, 4)),
    "softmin": lambda: (lambda a: F.softmin(a, 1), x(3, 4)),
    "topk": lambda: (lambda a: tuple(a.topk(3, 1)), x(3, 7)),
    "sort": lambda: (lambda a: tuple(torch.sort(a, 1)), x(3, 7)),
    "argsort": lambda: (lambda a: torch.argsort(a, 1, descending=True), x(3, 7)),
    "median": lambda: (torch.median, x(3, 5)),
    "count_nonzero": lambda: (torch.count_nonzero, x(3, 4, dtype=I64)),
}

shape = {
    "view": lambda: (lambda a: a.view(4, -1), x(2, 6, 4)),
    "reshape_transposed": lambda: (lambda a: a.transpose(0, 1).reshape(-1), x(3, 4)),
    "flatten": lambda: (lambda a: a.flatten(1), x(2, 3, 4)),
    "unflatten": lambda: (lambda a: a.unflatten(1, (2, 3)), x(2, 6)),
    "permute": lambda: (lambda a: a.permute(2, 0, 1), x(2, 3, 4)),
    "transpose": lambda: (lambda a: a.transpose(-1, 0), x(2, 3, 4, dtype=I8)),
    "mT": lambda: (lambda a: a.mT, x(2, 3, 4)),
    "movedim": lambda: (lambda a: a.movedim(0, -1), x(2, 3, 4)),
    "movedims": lambda: (lambda a: a.movedim((0, 1), (1, 2)), x(2, 3, 4)),
    "squeeze": lambda: (lambda a: a.squeeze(1).unsqueeze(-1), x(2, 1, 3)),
    "expand": lambda: (lambda a: a.expand(2, -1, 4), x(3, 1)),
    "expand_as": lambda: (lambda a, b: a.expand_as(b), x(1, 4), x(3, 4)),
    "broadcast_to": lambda: (lambda a: torch.broadcast_to(a, (3, 4)), x(4)),
    "repeat": lambda: (lambda a: a.repeat(2, 3), x(2, 3)),
    "tile": lambda: (lambda a: torch.tile(a, (2,)), x(2, 3)),
    "repeat_interleave": lambda: (lambda a: a.repeat_interleave(2, dim=1), x(2, 3)),
    "cat": lambda: (lambda a, b: torch.cat([a, b], 1), x(2, 3), x(2, 1)),
    "cat_promotes": lambda: (lambda a, b: torch.cat([a, b]), x(2, 3), x(1, 3, dtype=I64)),
    "stack": lambda: (lambda a, b: torch.stack([a, b], -1), x(2, 3), x(2, 3)),
    "hstack": lambda: (lambda a, b: torch.hstack([a, b]), x(2, 3), x(2, 1)),
    "vstack": lambda: (lambda a, b: torch.vstack([a, b]), x(3), x(3)),
    "split": lambda: (lambda a: a.split(2, 1), x(2, 5)),
    "chunk": lambda: (lambda a: a.chunk(3, 0), x(5, 2)),
    "tensor_split": lambda: (lambda a: a.tensor_split(3, 1), x(2, 7)),
    "unbind": lambda: (lambda a: a.unbind(1), x(2, 3)),
    "slice": lambda: (lambda a: a[1:, ::2, -3:-1], x(3, 5, 4)),
    "select": lambda: (lambda a: a[:, -1], x(3, 5)),
    "narrow": lambda: (lambda a: a.narrow(1, 1, 2), x(3, 5)),
    "diagonal": lambda: (lambda a: a.diagonal(1), x(4, 5)),
    "diag_embed": lambda: (torch.diag_embed, x(2, 3)),
    "diag": lambda: (torch.diag, x(4)),
    "flip": lambda: (lambda a: a.flip(0, 2), x(2, 3, 4)),
    "roll": lambda: (lambda a: torch.roll(a, (1, -1), (0, 1)), x(3, 4)),
    "roll_flat": lambda: (lambda a: torch.roll(a, 2), x(3, 4)),
    "rot90": lambda: (lambda a: torch.rot90(a), x(3, 4)),
    "pixel_shuffle": lambda: (lambda a: F.pixel_shuffle(a, 2), x(1, 8, 3, 3)),
    "pixel_unshuffle": lambda: (lambda a: F.pixel_unshuffle(a, 2), x(1, 2, 4, 6)),
    "channel_shuffle": lambda: (lambda a: F.channel_shuffle(a, 2), x(1, 4, 3, 3)),
    "unfold": lambda: (lambda a: a.unfold(1, 3, 2), x(2, 9)),
    "im2col": lambda: (lambda a: F.unfold(a, 2, stride=2), x(1, 2, 4, 4)),
    "col2im": lambda: (lambda a: F.fold(a, (4, 4), 2, stride=2), x(1, 8, 4)),
    "meshgrid": lambda: (lambda a, b: torch.meshgrid(a, b, indexing="ij"), x(3), x(4)),
    "tril": lambda: (torch.tril, x(4, 5)),
    "triu": lambda: (lambda a: torch.triu(a, 1), x(2, 4, 4)),
    "pad_constant": lambda: (lambda a: F.pad(a, (1, 2, 0, 1), value=0.5), x(2, 3, 4)),
    "pad_crop": lambda: (lambda a: F.pad(a, (-1, 2)), x(2, 4)),
    "pad_reflect": lambda: (lambda a: F.pad(a, (1, 2), mode="reflect"), x(2, 3, 4)),
    "pad_replicate": lambda: (lambda a: F.pad(a, (1, 2, 1, 0), mode="replicate"), x(1, 2, 3, 4)),
    "pad_circular": lambda: (lambda a: F.pad(a, (1, 2, 1, 0), mode="circular"), x(1, 2, 3, 4)),
    "to_half_and_back": lambda: (lambda a: a.to(F16).float(), x(3, 4)),
    "to_integers": lambda: (lambda a: (a * 5).to(I32), x(3, 4)),
    "to_bool": lambda: (lambda a: a.bool(), x(3, 4, dtype=I64)),
    "type_as": lambda: (lambda a, b: a.type_as(b), x(3, 4, dtype=I64), x(1)),
    "empty_sum": lambda: (lambda a: a.sum(0), torch.zeros(0, 3)),
    "empty_cat": lambda: (lambda a, b: torch.cat([a, b]), torch.zeros(0, 3), x(2, 3)),
    "atleast_2d": lambda: (torch.atleast_2d, x(3)),
    "ravel": lambda: (torch.ravel, x(3, 2)),
}

create = {
    "zeros_like": lambda: (lambda a: torch.zeros_like(a) + a, x(3, 4)),
    "ones": lambda: (lambda a: a + torch.ones(4, dtype=F16), x(3, 4)),
    "full": lambda: (lambda a: a + torch.full((3, 4), 2), x(3, 4)),
    "arange": lambda: (lambda a: a + torch.arange(4), x(3, 4)),
    "arange_step": lambda: (lambda a: a + torch.arange(1.0, 3.0, 0.5), x(3, 4)),
    "linspace": lambda: (lambda a: a + torch.linspace(0, 1, 4), x(3, 4)),
    # Steps that binary fractions lack, ends that are no integers, and exact elements that only fused arithmetic hits.
    "linspace_integers": lambda: (lambda a: a + torch.linspace(-0.5, 50.7, 50, dtype=torch.int64), index(9, 50)),
    "linspace_integers_fused": lambda: (lambda a: a + torch.linspace(40, -41, 16, dtype=torch.int64), index(9, 16)),
    "eye": lambda: (lambda a: a @ torch.eye(4, 3), x(3, 4)),
    "tensor": lambda: (lambda a: a * torch.tensor([1.0, 2.0, 3.0, 4.0]), x(3, 4)),
    "new_zeros": lambda: (lambda a: torch.cat([a, a.new_zeros(1, 4)]), x(3, 4)),
    "full_like_bool": lambda: (lambda a: torch.full_like(a, True, dtype=BOOL) & (a > 0), x(3, 4)),
    "empty_filled": lambda: (lambda a: torch.empty(3, 4).fill_(2.0) + a, x(3, 4)),
    "one_hot": lambda: (lambda a: F.one_hot(a, 5), index(5, 3, 2)),
    "tri_mask": lambda: (lambda a: a.masked_fill(torch.ones(4, 4).tril() == 0, 0.0), x(4, 4)),
}

indexing = {
    "index_select": lambda: (lambda a, i: a.index_select(1, i), x(3, 5), index(5, 4)),
    "gather": lambda: (lambda a, i: a.gather(1, i), x(3, 5), index(5, 3, 2)),
    "take_along_dim": lambda: (lambda a, i: torch.take_along_dim(a, i, 1), x(3, 5), index(5, 3, 2)),
    "take": lambda: (torch.take, x(3, 5), index(15, 4)),
    "index_rows": lambda: (lambda a, i: a[i], x(5, 3), index(5, 2, 2)),
    "index_columns": lambda: (lambda a, i: a[:, i], x(3, 5), index(5, 4)),
    "index_pairs": lambda: (lambda a, i, j: a[i, j], x(3, 5), index(3, 4), index(5, 4)),
    "index_apart": lambda: (lambda a, i, j: a[i, :, j], x(3, 4, 5), index(3, 2), index(5, 2)),
    "index_put": lambda: (lambda a, i, v: a.index_put((i,), v), x(5, 3), torch.tensor([0, 3]), x(2, 3)),
    "index_put_accumulate": lambda: (lambda a, i, v: a.index_put((i,), v, accumulate=True), x(5, 3), torch.tensor([1, 1]), x(2, 3)),
    "index_add": lambda: (lambda a, i, v: a.index_add(0, i, v), x(5, 3), torch.tensor([0, 3]), x(2, 3)),
    "index_copy": lambda: (lambda a, i, v: a.index_copy(0, i, v), x(5, 3), torch.tensor([0, 3]), x(2, 3)),
    "index_fill": lambda: (lambda a, i: a.index_fill(1, i, 2.0), x(3, 5), torch.tensor([0, 3])),
    "scatter": lambda: (lambda a, i, v: a.scatter(1, i, v), x(3, 5), torch.tensor([[0, 2], [1, 3], [4, 0]]), x(3, 2)),
    "scatter_number": lambda: (lambda a, i: a.scatter(1, i, 2.0), x(3, 5), index(5, 3, 2)),
    "scatter_add": lambda: (lambda a, i, v: a.scatter_add(1, i, v), x(3, 5), index(5, 3, 2), x(3, 2)),
    "masked_scatter_by_where": lambda: (lambda a, m: torch.where(m, a * 2, a), x(3, 5), x(3, 5, dtype=BOOL)),
    "embedding": lambda: (nn.Embedding(7, 3, padding_idx=0), index(7, 2, 4)),
    "embedding_bag_mean": lambda: (nn.EmbeddingBag(7, 3), index(7, 6), torch.tensor([0, 2, 2])),
    "embedding_bag_max": lambda: (nn.EmbeddingBag(9, 19, mode="max", padding_idx=2), index(9, 8), torch.tensor([0, 3, 3])),
    "embedding_bag_weighted": lambda: (
        lambda w, i, o, s: F.embedding_bag(i, w, o, mode="sum", per_sample_weights=s, include_last_offset=True),
        x(9, 33), index(9, 7), torch.tensor([0, 2, 7]), x(7)),
    "embedding_bag_sum_2d": lambda: (nn.EmbeddingBag(7, 3, mode="sum"), index(7, 2, 4)),
    "embedding_bag_last_row_is_padding": lambda: (
        lambda w, i, o: F.embedding_bag(i, w, o, padding_idx=-1, mode="sum"), x(7, 3), torch.tensor([6, 1, 6, 2]), torch.tensor([0, 2])),
    "bucketize": lambda: (torch.bucketize, x(3, 4), torch.tensor([-1.0, 0.0, 1.0])),
    "searchsorted": lambda: (torch.searchsorted, torch.tensor([-1.0, 0.0, 1.0]), x(3, 4)),
    "select_scatter": lambda: (lambda a, b: torch.select_scatter(a, b, 1, 2), x(3, 5), x(3)),
    "slice_scatter_step": lambda: (lambda a, b: torch.slice_scatter(a, b, 1, 0, 5, 2), x(3, 5), x(3, 3)),
}


def fill_slice(a, b):
    y = a.clone()
    y[:, 1:3] = b
    y[0].add_(1)
    return y


def write_transposed(a):
    y = torch.zeros(4, 3)
    y.t().copy_(a)
    return y.view(2, 6)


def write_with_step(a):
    y = a * 1
    y[:, ::2] *= 2
    return y


def write_wider(a, b):
    y = a.clone()
    y += b
    return y


def write_by_mask(a):
    y = a.clone()
    y[y > 0] = -1.0
    return y


def write_diagonals(a):
    b = a.clone()
    b.diagonal(1).add_(1)
    b.mT.diagonal(0, -2, -1).mul_(2)
    return b


writes = {
    "diagonals": lambda: (write_diagonals, x(3, 4)),
    "slices": lambda: (fill_slice, x(3, 4), x(2)),
    "transposed": lambda: (write_transposed, x(3, 4)),
    "every_second": lambda: (write_with_step, x(3, 5)),
    "operand_of_a_wider_type": lambda: (write_wider, x(3, 4), x(4, dtype=F64)),
    "by_mask": lambda: (write_by_mask, x(3, 4)),
    "relu_of_input": lambda: (lambda a: F.relu(a, inplace=True) + 1, x(3, 4)),
    "add_to_input": lambda: (lambda a, b: a.add_(b) * 2, x(3, 4), x(4)),
    "chained_activations": lambda: (nn.Sequential(nn.Linear(4, 5), nn.ReLU(True), nn.Linear(5, 2), nn.Hardswish(True)), x(3, 4)),
}

products = {
    "linear": lambda: (nn.Linear(5, 3), x(2, 4, 5)),
    "linear_without_bias": lambda: (nn.Linear(5, 3, bias=False), x(5)),
    "linear_half": lambda: (nn.Linear(5, 3).half(), x(2, 5, dtype=F16)),
    "bilinear": lambda: (nn.Bilinear(3, 4, 2), x(5, 3), x(5, 4)),
    "mm": lambda: (torch.mm, x(3, 4), x(4, 5)),
    "bmm": lambda: (torch.bmm, x(2, 3, 4), x(2, 4, 5)),
    "matmul_vectors": lambda: (torch.matmul, x(4), x(4)),
    "matmul_broadcast": lambda: (torch.matmul, x(2, 1, 3, 4), x(5, 4, 2)),
    "mv": lambda: (torch.mv, x(3, 4), x(4)),
    "dot": lambda: (torch.dot, x(4), x(4)),
    "outer": lambda: (torch.outer, x(3), x(4)),
    "addmm": lambda: (lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2), x(5), x(3, 4), x(4, 5)),
    "baddbmm": lambda: (lambda a, b, c: torch.baddbmm(a, b, c, beta=0.5), x(2, 3, 5), x(2, 3, 4), x(2, 4, 5)),
    "addmv": lambda: (torch.addmv, x(3), x(3, 4), x(4)),
    "einsum": lambda: (lambda a, b: torch.einsum("bhqd,bhkd->bhqk", a, b), x(2, 2, 3, 4), x(2, 2, 5, 4)),
    "einsum_sum": lambda: (lambda a, b: torch.einsum("ij,j->i", a, b), x(3, 4), x(4)),
    "tensordot": lambda: (lambda a, b: torch.tensordot(a, b, 1), x(2, 3, 4), x(4, 5)),
    "mm_integers": lambda: (torch.mm, x(3, 4, dtype=I64), x(4, 5, dtype=I64)),
    "mm_bfloat16": lambda: (torch.mm, x(3, 4, dtype=BF16), x(4, 5, dtype=BF16)),
    "cdist": lambda: (torch.cdist, x(3, 4), x(5, 4)),
    "cross": lambda: (torch.linalg.cross, x(4, 3), x(4, 3)),
    "kron": lambda: (torch.kron, x(2, 3), x(3, 2)),
}

class ByteConvolution(nn.Module):
    """Weights in int8 with a scale for each output channel."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (8, 4, 3, 3), dtype=I8))
        self.register_buffer("scales", torch.rand(8) / 100 + 0.001)
        self.register_buffer("zero_points", torch.zeros(8, dtype=I64))

    def forward(self, a):
        dequantize = torch.ops.quantized_decomposed.dequantize_per_channel
        return F.conv2d(a, dequantize(self.weight, self.scales, self.zero_points, 0, -127, 127, I8), padding=1)


def convolution_beside_a_product(a, weight):
    """The product, which comes last, wants rows of the map together."""
    a = F.relu(a)
    return F.conv2d(a, weight, padding=1), a @ a.mT


class SlicedTransposed(nn.Module):
    """A transposed convolution of some channels, with weights that 16 bits hold."""

    def __init__(self):
        super().__init__()
        self.layer = halved(nn.ConvTranspose2d(8, 5, 3, stride=2))

    def forward(self, image):
        return self.layer(F.relu(image)[:, 2:10])


images = {
    "conv1d": lambda: (nn.Conv1d(4, 6, 3, padding=1, groups=2), x(2, 4, 9)),
    "conv2d": lambda: (nn.Conv2d(3, 5, 3, stride=2, padding=1), x(1, 3, 8, 9)),
    "conv2d_same": lambda: (nn.Conv2d(3, 5, 4, padding="same", dilation=2), x(1, 3, 9, 8)),
    "conv2d_reflect": lambda: (nn.Conv2d(3, 5, 3, padding=1, padding_mode="reflect"), x(1, 3, 6, 6)),
    "conv2d_channels_last": lambda: (nn.Conv2d(4, 8, 3, padding=1).to(memory_format=torch.channels_last), last(2, 4, 5, 6)),
    "conv2d_of_bytes": lambda: (ByteConvolution(), x(2, 4, 6, 7)),
    "conv1d_of_a_computed_map": lambda: (nn.Sequential(nn.ReLU(), nn.Conv1d(4, 6, 3, padding=1)), x(2, 4, 9)),
    "conv2d_beside_a_product": lambda: (convolution_beside_a_product, x(2, 2, 8, 8), x(3, 2, 3, 3)),
    "conv3d_of_a_computed_map": lambda: (nn.Sequential(nn.ReLU(), nn.Conv3d(4, 3, 3, padding=1)), x(1, 4, 3, 4, 5)),
    "conv2d_depthwise": lambda: (nn.Conv2d(4, 4, 3, groups=4, bias=False), x(1, 4, 6, 6)),
    "conv2d_unbatched": lambda: (nn.Conv2d(3, 5, 3), x(3, 6, 6)),
    "conv3d": lambda: (nn.Conv3d(2, 3, 2), x(1, 2, 4, 4, 4)),
    "conv3d_groups": lambda: (nn.Sequential(nn.Conv3d(4, 6, (3, 2, 3), stride=(2, 1, 2), padding=(2, 1, 0), dilation=(2, 1, 1), groups=2), nn.ReLU()), x(2, 4, 5, 4, 6)),
    "conv3d_depthwise": lambda: (nn.Conv3d(4, 4, 3, padding=1, groups=4), x(1, 4, 3, 4, 5)),
    "conv3d_patches": lambda: (nn.Conv3d(3, 8, (2, 4, 4), stride=(2, 4, 4)), x(1, 3, 4, 8, 8)),
    "conv_transpose2d": lambda: (nn.ConvTranspose2d(4, 3, 3, stride=2, output_padding=1), x(1, 4, 5, 5)),
    "conv_transpose1d": lambda: (nn.ConvTranspose1d(4, 6, 3, stride=2, groups=2), x(1, 4, 5)),
    "conv_transpose2d_relu": lambda: (nn.Sequential(nn.ConvTranspose2d(5, 17, 4, stride=2, padding=1), nn.ReLU()), x(2, 5, 6, 7)),
    "conv_transpose2d_dilated": lambda: (nn.ConvTranspose2d(4, 6, (3, 2), stride=(1, 3), padding=2, dilation=2, groups=2), x(2, 4, 5, 6)),
    "conv_transpose2d_depthwise": lambda: (nn.ConvTranspose2d(4, 4, 4, stride=2, padding=1, groups=4, bias=False), x(1, 4, 5, 6)),
    "conv_transpose3d": lambda: (nn.ConvTranspose3d(4, 3, (2, 3, 4), stride=2, padding=1, output_padding=1), x(2, 4, 3, 4, 3)),
    "conv_transpose2d_in_16_bits": lambda: (SlicedTransposed(), x(1, 12, 5, 6).contiguous(memory_format=torch.channels_last)),
    "conv_transpose_of_pixels": lambda: (nn.Sequential(nn.Conv2d(3, 8, 1), nn.ConvTranspose2d(8, 4, 2, stride=2)), x(1, 3, 4, 5)),
    "conv_bn_relu": lambda: (nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU6()), x(1, 3, 6, 6)),
    "conv_transpose_bn": lambda: (nn.Sequential(nn.ConvTranspose2d(4, 6, 3, stride=2), trained(nn.BatchNorm2d(6))), x(1, 4, 5, 5)),
    "conv_transpose_groups_bn": lambda: (nn.Sequential(nn.ConvTranspose1d(4, 6, 3, groups=2, bias=False), trained(nn.BatchNorm1d(6))), x(1, 4, 5)),
    "batch_norm1d": lambda: (nn.BatchNorm1d(4), x(3, 4)),
    "instance_norm": lambda: (nn.InstanceNorm2d(4, affine=True), x(2, 4, 5, 5)),
    "group_norm": lambda: (nn.GroupNorm(2, 4), x(2, 4, 5)),
    "layer_norm": lambda: (nn.LayerNorm(5), x(2, 4, 5)),
    "layer_norm_two": lambda: (nn.LayerNorm((4, 5), elementwise_affine=False), x(2, 4, 5)),
    "rms_norm": lambda: (nn.RMSNorm(5), x(2, 4, 5)),
    "local_response_norm": lambda: (nn.LocalResponseNorm(2), x(1, 4, 3, 3)),
    "max_pool1d": lambda: (nn.MaxPool1d(3, 2), x(2, 3, 9)),
    "max_pool2d": lambda: (nn.MaxPool2d(3, 2, 1, ceil_mode=True), x(1, 3, 8, 8)),
    "max_pool2d_indices": lambda: (nn.MaxPool2d(2, return_indices=True), x(1, 3, 6, 6)),
    "max_pool2d_channels_last": lambda: (nn.MaxPool2d(2), last(1, 3, 6, 6)),
    "max_pool3d_padded": lambda: (nn.MaxPool3d((3, 2, 3), stride=2, padding=1, ceil_mode=True), x(2, 3, 5, 6, 7)),
    "avg_pool3d_padded": lambda: (nn.AvgPool3d(3, stride=2, padding=1, count_include_pad=False), x(2, 3, 5, 6, 7)),
    "max_pool3d": lambda: (nn.MaxPool3d(2), x(1, 2, 4, 4, 4)),
    "avg_pool1d": lambda: (nn.AvgPool1d(3, 2, 1), x(2, 3, 9)),
    "avg_pool2d": lambda: (nn.AvgPool2d(3, 2, 1, count_include_pad=False, ceil_mode=True), x(1, 3, 8, 8)),
    "avg_pool3d": lambda: (nn.AvgPool3d(2), x(1, 2, 4, 4, 4)),
    "lp_pool2d": lambda: (nn.LPPool2d(2, 2), positive(1, 2, 4, 4)),
    "adaptive_avg_pool1d": lambda: (nn.AdaptiveAvgPool1d(3), x(2, 3, 7)),
    "adaptive_avg_pool2d": lambda: (nn.AdaptiveAvgPool2d((3, 2)), x(1, 3, 7, 5)),
    "adaptive_avg_pool2d_one": lambda: (nn.AdaptiveAvgPool2d(1), last(1, 3, 7, 5)),
    "adaptive_avg_pool3d": lambda: (nn.AdaptiveAvgPool3d(2), x(1, 2, 5, 4, 3)),
    "adaptive_max_pool1d": lambda: (nn.AdaptiveMaxPool1d(3), x(2, 3, 7)),
    "adaptive_max_pool2d": lambda: (nn.AdaptiveMaxPool2d(2), x(1, 3, 7, 5)),
    "upsample_nearest": lambda: (nn.Upsample(scale_factor=2), x(1, 2, 3, 4)),
    "upsample_nearest1d": lambda: (nn.Upsample(scale_factor=2), x(1, 2, 3)),
    "upsample_bilinear": lambda: (nn.Upsample(size=(5, 7), mode="bilinear"), x(1, 2, 3, 4)),
    "upsample_bilinear_corners": lambda: (nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), x(1, 2, 3, 4)),
    "upsample_linear1d": lambda: (nn.Upsample(scale_factor=2, mode="linear"), x(1, 2, 3)),
    "grid_sample": lambda: (lambda a, g: F.grid_sample(a, g, align_corners=False), x(1, 2, 4, 4), unit(1, 3, 3, 2)),
    "softmax2d": lambda: (nn.Softmax2d(), x(1, 3, 4, 4)),
    "dropout": lambda: (nn.Sequential(nn.Dropout(), nn.Dropout2d(), nn.AlphaDropout()), x(1, 3, 4, 4)),
}


class Recurrent(nn.Module):
    """A recurrent layer that returns its outputs and its last state."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, inputs, *states):
        return self.layer(inputs, states) if states else self.layer(inputs)


class Attention(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True, **options)

    def forward(self, inputs):
        return self.attention(inputs, inputs, inputs, need_weights=False)[0]


sequences = {
    "lstm": lambda: (Recurrent(nn.LSTM(4, 5, batch_first=True)), x(2, 3, 4)),
    "lstm_bidirectional": lambda: (Recurrent(nn.LSTM(4, 5, 2, bidirectional=True)), x(3, 2, 4)),
    "gru": lambda: (Recurrent(nn.GRU(4, 5)), x(3, 2, 4)),
    "rnn": lambda: (Recurrent(nn.RNN(4, 5)), x(3, 2, 4)),
    "lstm_of_states": lambda: (Recurrent(nn.LSTM(4, 19, batch_first=True, bidirectional=True)), x(3, 5, 4), x(2, 3, 19), x(2, 3, 19)),
    "gru_of_a_state": lambda: (nn.GRU(4, 21, 2, batch_first=True, bidirectional=True), x(2, 5, 4), x(4, 2, 21)),
    "gru_without_biases": lambda: (Recurrent(nn.GRU(9, 16, bias=False)), x(6, 1, 9)),
    "rnn_relu": lambda: (Recurrent(nn.RNN(4, 17, 2, nonlinearity="relu", bidirectional=True)), x(3, 2, 4)),
    "lstm_in_16_bits": lambda: (Recurrent(halved(nn.LSTM(8, 33))), x(4, 2, 8)),
    "lstm_unbatched": lambda: (Recurrent(nn.LSTM(4, 5)), x(3, 4)),
    "lstm_cell": lambda: (nn.LSTMCell(4, 5), x(2, 4)),
    "gru_cell": lambda: (nn.GRUCell(4, 5), x(2, 4)),
    "attention": lambda: (F.scaled_dot_product_attention, x(2, 2, 3, 4), x(2, 2, 5, 4), x(2, 2, 5, 4)),
    "attention_of_many_keys": lambda: (F.scaled_dot_product_attention, x(1, 2, 37, 20), x(1, 2, 101, 20), x(1, 2, 101, 12)),
    "attention_causal": lambda: (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), x(1, 2, 4, 4), x(1, 2, 4, 4), x(1, 2, 4, 4)),
    "attention_mask": lambda: (F.scaled_dot_product_attention, x(1, 2, 3, 4), x(1, 2, 5, 4), x(1, 2, 5, 4), x(3, 5)),
    "attention_bool_mask": lambda: (F.scaled_dot_product_attention, x(1, 2, 3, 4), x(1, 2, 5, 4), x(1, 2, 5, 4), torch.ones(3, 5, dtype=BOOL).tril(2)),
    "attention_grouped": lambda: (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True), x(1, 4, 3, 4), x(1, 2, 5, 4), x(1, 2, 5, 4)),
    "multihead": lambda: (Attention(), x(2, 3, 8)),
    "encoder_layer": lambda: (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), x(2, 3, 8)),
    "encoder_layer_gelu": lambda: (nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", norm_first=True), x(3, 2, 8)),
    "decoder_layer": lambda: (nn.TransformerDecoderLayer(8, 2, 16), x(3, 2, 8), x(4, 2, 8)),
}

composite = {
    "addbmm": lambda: (lambda a, b, c: torch.addbmm(a, b, c, beta=0.5, alpha=2), x(3, 5), x(2, 3, 4), x(2, 4, 5)),
    "addr": lambda: (lambda a, b, c: torch.addr(a, b, c, beta=2, alpha=0.5), x(3, 4), x(3), x(4)),
    "angle": lambda: (torch.angle, special()),
    "as_strided_scatter": lambda: (lambda a, b: torch.as_strided_scatter(a, b, (2, 2), (1, 2), 1), x(3, 3), x(2, 2)),
    "block_diag": lambda: (lambda a, b, c: torch.block_diag(a, b, c), x(2, 3), x(4), x(3, 1)),
    "cartesian_prod": lambda: (lambda a, b, c: torch.cartesian_prod(a, b, c), x(2), x(3), x(2)),
    "clamp_max_tensor": lambda: (torch.clamp_max, x(3, 4), x(4)),
    "clamp_min_tensor": lambda: (torch.clamp_min, x(3, 4), x(4)),
    "combinations": lambda: (lambda a: (torch.combinations(a, 3), torch.combinations(a, 2, True)), x(5)),
    "cross": lambda: (torch.cross, x(2, 3, 4), x(2, 3, 4)),
    "diagonal_scatter": lambda: (lambda a, b, c: (torch.diagonal_scatter(a, b, 1), torch.diagonal_scatter(a, c, -2)), x(4, 5), x(4), x(2)),
    "diff_twice": lambda: (lambda a: torch.diff(a, 2, 0), x(5, 3)),
    "diff_bool": lambda: (torch.diff, x(6, dtype=BOOL)),
    "exp2": lambda: (torch.exp2, x(3, 4)),
    "float_power": lambda: (torch.float_power, positive(3, 4), x(4)),
    "flips": lambda: (lambda a: (a.fliplr(), a.flipud()), x(3, 4)),
    "heaviside": lambda: (torch.heaviside, special(), x(10)),
    "inner": lambda: (torch.inner, x(2, 3, 4), x(5, 4)),
    "isclose_integers": lambda: (lambda a, b: torch.isclose(a, b, rtol=0.5), x(6, dtype=I64), x(6, dtype=I64)),
    "isclose_nan": lambda: (lambda a, b: torch.isclose(a, b, equal_nan=True), special(), special()),
    "isin": lambda: (lambda a, b: (torch.isin(a, b), torch.isin(a, b, invert=True)), x(3, 4, dtype=I64), x(5, dtype=I64)),
    "infinities": lambda: (lambda a: (torch.isposinf(a), torch.isneginf(a), torch.isreal(a)), special()),
    "ldexp": lambda: (torch.ldexp, x(3, 4), x(4, dtype=I64)),
    "logaddexp2": lambda: (torch.logaddexp2, x(3, 4), x(4)),
    "msort": lambda: (torch.msort, x(5, 3)),
    "multi_dot": lambda: (lambda a, b, c: torch.linalg.multi_dot([a, b, c]), x(4), x(4, 5), x(5, 3)),
    "nansum": lambda: (lambda a: torch.nansum(a), torch.tensor([1.0, float("nan"), 2.5])),
    "pairwise_distance": lambda: (F.pairwise_distance, x(3, 4), x(3, 4)),
    "safe_softmax": lambda: (lambda a: torch.ops.aten._safe_softmax(a, 1), torch.tensor([[1.0, 2.0], [-float("inf"), -float("inf")]])),
    "splits": lambda: (lambda a: (*a.hsplit(2), *a.vsplit([1, 2]), *a.dsplit(3), *torch.unsafe_split(a, 2)), x(3, 4, 3)),
    "sum_to_size": lambda: (lambda a: a.sum_to_size(3, 1), x(2, 3, 4)),
    "take_negative": lambda: (torch.take, x(3, 4), torch.tensor([0, -1, 5])),
    "trace": lambda: (torch.trace, x(3, 4)),
    "vecdot": lambda: (torch.linalg.vecdot, x(3, 4), x(3, 4)),
    "entr": lambda: (torch.special.entr, torch.tensor([0.0, 0.5, 2.0, -1.0])),
}

losses = {
    f"{name}_{reduction}": (lambda name=name, reduction=reduction, extra=extra, options=options: (
        lambda *operands: getattr(F, name)(*operands, reduction=reduction, **options), *(make() for make in extra)))
    for name, extra, options in (
        ("binary_cross_entropy", (lambda: torch.rand(3, 4), lambda: torch.rand(3, 4)), {}),
        ("binary_cross_entropy_with_logits", (lambda: x(3, 4), lambda: torch.rand(3, 4)), {}),
        ("hinge_embedding_loss", (lambda: x(3, 4), lambda: torch.randint(0, 2, (3, 4)) * 2.0 - 1), {"margin": 0.5}),
        ("huber_loss", (lambda: x(3, 4), lambda: x(3, 4)), {"delta": 0.7}),
        ("kl_div", (lambda: -torch.rand(3, 4), lambda: torch.rand(3, 4)), {}),
        ("margin_ranking_loss", (lambda: x(4), lambda: x(4), lambda: torch.tensor([1.0, -1.0, 1.0, -1.0])), {"margin": 0.2}),
        ("smooth_l1_loss", (lambda: x(3, 4), lambda: x(3, 4)), {"beta": 0.7}),
        ("soft_margin_loss", (lambda: x(3, 4), lambda: torch.randint(0, 2, (3, 4)) * 2.0 - 1), {}),
        ("triplet_margin_loss", (lambda: x(3, 4), lambda: x(3, 4), lambda: x(3, 4)), {"swap": True}),
    )
    for reduction in ("none", "mean", "sum")
}  # fmt: skip

special_functions = {
    **{name: (lambda name=name: (getattr(torch.special, name), x(4, 6) * 4)) for name in (
        "airy_ai bessel_j0 bessel_j1 digamma erfc erfcx gammaln i0 i0e i1 i1e log_ndtr ndtr spherical_bessel_j0").split()},
    **{name: (lambda name=name: (getattr(torch.special, name), positive(4, 6))) for name in (
        "bessel_y0 bessel_y1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0").split()},
    **{name: (lambda name=name: (getattr(torch.special, name), x(4, 6), x(6).abs() * 4)) for name in (
        "chebyshev_polynomial_t hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p").split()},
    "erfinv": lambda: (torch.erfinv, unit(4, 6)),
    "ndtri": lambda: (torch.special.ndtri, torch.rand(4, 6)),
    "incomplete_gamma": lambda: (lambda a, b: (torch.igamma(a, b), torch.igammac(a, b)), positive(4, 6), positive(6)),
    "mvlgamma": lambda: (lambda a: torch.mvlgamma(a, 3), positive(4, 6) + 2),
    "polygamma": lambda: (lambda a: (torch.polygamma(0, a), torch.polygamma(2, a)), positive(4, 6)),
    "zeta": lambda: (torch.special.zeta, positive(4, 6) + 1.5, positive(6)),
    "xlog1py": lambda: (torch.special.xlog1py, x(4, 6), positive(6)),
    "xlogy_numbers": lambda: (lambda a: (torch.xlogy(2.0, a), torch.xlogy(a, 3)), positive(4, 6)),
    "gcd_lcm": lambda: (lambda a, b: (torch.gcd(a, b), torch.lcm(a, b)), x(4, 6, dtype=I64), x(6, dtype=I64)),
    "frexp": lambda: (lambda a: tuple(torch.frexp(a)), x(4, 6) * 50),
    "nextafter": lambda: (torch.nextafter, x(4, 6), x(6)),
}  # fmt: skip

ordered = {
    "cummax": lambda: (lambda a: tuple(torch.cummax(a, 1)), x(3, 7, dtype=I64)),
    "cummin": lambda: (lambda a: tuple(torch.cummin(a, 0)), x(5, 3)),
    "cumprod": lambda: (lambda a, b: (torch.cumprod(a, 1), torch.cumprod(b, 0)), x(3, 5), x(5, dtype=I64)),
    "cumprod_long": lambda: (lambda a: torch.cumprod(a, 0), torch.rand(600) * 0.02 + 0.99),
    "logcumsumexp": lambda: (lambda a: torch.logcumsumexp(a, 1), x(3, 5)),
    "kthvalue": lambda: (lambda a: tuple(torch.kthvalue(a, 3, 1)), x(3, 5)),
    "mode": lambda: (lambda a: torch.mode(a, 1)[0], x(3, 9, dtype=I64) % 3),
    "nanmedian": lambda: (lambda a: (torch.nanmedian(a), *torch.nanmedian(a, 1)), torch.tensor([[1.0, float("nan"), 5.0, 2.0]])),
    "nanmean": lambda: (lambda a: torch.nanmean(a, 1), torch.tensor([[1.0, float("nan"), 5.0, 2.0]])),
    "quantile": lambda: (lambda a, q: (torch.quantile(a, 0.3), torch.quantile(a, q, 1, True)), x(3, 5), torch.tensor([0.1, 0.5, 1.0])),
    "quantile_modes": lambda: (lambda a: tuple(torch.quantile(a, 0.35, 0, interpolation=mode)
                                               for mode in ("lower", "higher", "midpoint", "nearest")), x(6, 2)),
    "nanquantile": lambda: (lambda a: torch.nanquantile(a, 0.4, 1), torch.tensor([[1.0, float("nan"), 5.0, 2.0]])),
    "sort_bool": lambda: (lambda a: tuple(torch.sort(a, stable=True)), x(3, 5, dtype=BOOL)),
    "sort_stable": lambda: (lambda a: tuple(torch.sort(a, dim=0, descending=True, stable=True)), x(7, 3, dtype=I64)),
    "histc": lambda: (lambda a: (torch.histc(a, 5), torch.histc(a, 4, -1, 1)), x(40)),
    "histogram": lambda: (lambda a: tuple(torch.histogram(a, 5, range=(-2.0, 2.0))), x(40)),
    "argwhere": lambda: (torch.argwhere, x(3, 4, dtype=BOOL)),
    "unique_consecutive": lambda: (lambda a: torch.unique_consecutive(a), torch.tensor([1, 1, 2, 2, 3, 1])),
    "unique": lambda: (lambda a: torch.unique(a), x(20, dtype=I64)),
    "trapezoid": lambda: (lambda a, b: (torch.trapezoid(a, b), torch.cumulative_trapezoid(a, dx=0.5, dim=0)), x(3, 5), x(5)),
    "gradient": lambda: (lambda a: torch.gradient(a, spacing=2.0), x(4, 5)),
}  # fmt: skip

reductions_by_index = {
    **{f"scatter_reduce_{how}": (lambda how=how: (
        lambda a, i, b: (a.scatter_reduce(1, i, b, how), a.scatter_reduce(1, i, b, how, include_self=False)),
        x(3, 4), index(4, 3, 4), x(3, 4))) for how in ("sum", "prod", "mean", "amax", "amin")},
    **{f"index_reduce_{how}": (lambda how=how: (
        lambda a, i, b: a.index_reduce(1, i, b, how, include_self=False), x(3, 4), index(4, 5), x(3, 5)))
       for how in ("prod", "mean", "amax", "amin")},
    "scatter_mean_of_integers": lambda: (lambda a, i, b: a.scatter_reduce(0, i, b, "mean"), x(4, dtype=I64), index(4, 9), x(9, dtype=I64)),
    "scatter_multiply": lambda: (lambda a, i, b: a.scatter(0, i, b, reduce="multiply"), x(4), index(4, 4), x(4)),
    "put": lambda: (lambda a, i, b: a.put(i, b, accumulate=True), x(3, 4), index(12, 6), x(6)),
    "index_copy_of_a_number": lambda: (lambda a, i, b: a.index_copy(0, i, b), x(), torch.tensor(0), x()),
    "max_unpool2d": lambda: (lambda a: F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2), x(1, 2, 4, 6)),
}  # fmt: skip


def definite(*shape):
    """Symmetric matrices with positive eigenvalues."""
    factor = torch.randn(*shape, shape[-1])
    return factor @ factor.mT + torch.eye(shape[-1])


linear_algebra = {
    "cholesky": lambda: (lambda a: (torch.linalg.cholesky(a), torch.linalg.cholesky(a, upper=True)), definite(2, 4)),
    "cholesky_solve": lambda: (lambda a, b: torch.cholesky_solve(b, torch.linalg.cholesky(a)), definite(4), x(4, 2)),
    "cholesky_inverse": lambda: (lambda a: torch.cholesky_inverse(torch.linalg.cholesky(a)), definite(4)),
    "cond": lambda: (lambda a: (torch.linalg.cond(a), torch.linalg.cond(a, 1)), definite(4)),
    "det": lambda: (lambda a: (torch.det(a), *torch.linalg.slogdet(a)), x(2, 4, 4)),
    "double_solve": lambda: (torch.linalg.solve, definite(4).double(), x(4, 2, dtype=F64)),
    "eigvalsh": lambda: (lambda a: torch.linalg.eigvalsh(a), definite(2, 4)),
    "eigh": lambda: (lambda a: (lambda l, v: v @ torch.diag_embed(l) @ v.mT)(*torch.linalg.eigh(a)), definite(2, 4)),
    "inv": lambda: (torch.linalg.inv, definite(2, 4)),
    "lu": lambda: (lambda a: tuple(torch.linalg.lu(a)), x(4, 3)),
    "lu_solve": lambda: (lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b, adjoint=True), x(2, 4, 4), x(2, 4, 3)),
    "matrix_exp": lambda: (torch.linalg.matrix_exp, x(2, 3, 3) * 2),
    "matrix_norms": lambda: (lambda a: tuple(torch.linalg.matrix_norm(a, how) for how in ("fro", "nuc", 1, -1, 2, -2, float("inf"))), x(2, 3, 4)),
    "matrix_power": lambda: (lambda a: (torch.linalg.matrix_power(a, 5), torch.linalg.matrix_power(a, -2)), definite(3)),
    "matrix_rank": lambda: (lambda a: torch.linalg.matrix_rank(a @ a.mT), x(5, 2)),
    "pinv": lambda: (torch.linalg.pinv, x(2, 5, 3)),
    "qr": lambda: (lambda a: (*torch.linalg.qr(a), *torch.linalg.qr(a, "complete")), x(2, 5, 3)),
    "solve": lambda: (lambda a, b, c: (torch.linalg.solve(a, b), torch.linalg.solve(a, c, left=False)), definite(2, 4), x(2, 4, 3), x(2, 3, 4)),
    "solve_vector": lambda: (torch.linalg.solve, definite(4), x(4)),
    "solve_triangular": lambda: (lambda a, b: torch.linalg.solve_triangular(a, b, upper=True), definite(4), x(4, 2)),
    "svdvals": lambda: (torch.linalg.svdvals, x(2, 3, 5)),
    "svd": lambda: (lambda a: (lambda u, s, v: u @ torch.diag_embed(s) @ v)(*torch.linalg.svd(a, full_matrices=False)), x(2, 3, 5)),
    "einsum_ellipsis": lambda: (lambda a, b: torch.einsum("...ij,...jk->...ik", a, b), x(2, 3, 4, 5), x(3, 5, 2)),
    "einsum_ellipsis_implicit": lambda: (lambda a, b: torch.einsum("i...,...i", a, b), x(4, 2, 3), x(2, 3, 4)),
    "einsum_diagonal": lambda: (lambda a, b: (torch.einsum("ii->i", a), torch.einsum("bii,bi->b", b, a[:2])), x(4, 4), x(2, 4, 4)),
    "einsum_broadcast": lambda: (lambda a, b: torch.einsum("ij,jk->ik", a, b), x(3, 1), x(4, 5)),
    "vander": lambda: (lambda a: torch.linalg.vander(a), x(2, 4)),
}  # fmt: skip

signals = {
    "fft_of_complex": lambda: (lambda a, b: torch.view_as_real(torch.fft.ifft(torch.fft.fft(torch.complex(a, b)), norm="forward")), x(2, 12), x(2, 12)),
    "hfft": lambda: (torch.fft.hfft, x(2, 5)),
    "irfft_of_real": lambda: (torch.fft.irfft, x(2, 5)),
    "fftshift": lambda: (lambda a: (torch.fft.fftshift(a), torch.fft.ifftshift(a, 1)), x(3, 5)),
    "stft": lambda: (lambda a, w: torch.view_as_real(torch.stft(a, 16, 4, window=w, return_complex=True)), x(2, 80), torch.hann_window(16)),
    "bicubic": lambda: (lambda a: F.interpolate(a, (7, 9), mode="bicubic"), x(1, 2, 4, 5)),
    "bicubic_corners": lambda: (lambda a: F.interpolate(a, scale_factor=2, mode="bicubic", align_corners=True), x(1, 2, 4, 5)),
    "bicubic_antialiased": lambda: (lambda a: F.interpolate(a, (5, 3), mode="bicubic", antialias=True), x(1, 2, 12, 9)),
    "nearest_exact": lambda: (lambda a: F.interpolate(a, (7, 9), mode="nearest-exact"), x(1, 2, 4, 5)),
    "grid_sample_3d": lambda: (lambda a, g: tuple(F.grid_sample(a, g, mode, padding, False) for mode in ("bilinear", "nearest")
                                                  for padding in ("zeros", "border", "reflection")), x(1, 2, 3, 4, 5), unit(1, 2, 3, 4, 3) * 1.5),
    "conv_of_integers": lambda: (lambda a, w: F.conv2d(a, w, padding=1), x(1, 2, 5, 5, dtype=I64), x(3, 2, 3, 3, dtype=I64)),
}  # fmt: skip

classification = {
    f"{name}_{reduction}": (lambda name=name, reduction=reduction, extra=extra, options=options: (
        lambda *operands: getattr(F, name)(*operands, reduction=reduction, **options), *(make() for make in extra)))
    for name, extra, options in (
        ("cross_entropy", (lambda: x(4, 5), lambda: index(5, 4)), {"ignore_index": 2}),
        ("nll_loss", (lambda: -torch.rand(2, 5, 3), lambda: index(5, 2, 3)), {}),
        ("multi_margin_loss", (lambda: x(4, 5), lambda: index(5, 4)), {"p": 2}),
        ("multilabel_margin_loss", (lambda: x(2, 4), lambda: torch.tensor([[3, 0, -1, 1], [1, -1, 2, 0]])), {}),
        ("poisson_nll_loss", (lambda: x(3, 4), lambda: positive(3, 4)), {"full": True}),
        ("cosine_embedding_loss", (lambda: x(4, 5), lambda: x(4, 5), lambda: torch.tensor([1, -1, 1, -1])), {"margin": 0.2}),
    )
    for reduction in ("none", "mean", "sum")
} | {
    "cross_entropy_smoothed": lambda: (lambda a, b, w: F.cross_entropy(a, b, w, label_smoothing=0.1), x(4, 5), index(5, 4), positive(5)),
    "cross_entropy_of_probabilities": lambda: (F.cross_entropy, x(4, 5), torch.softmax(x(4, 5), 1)),
}  # fmt: skip

def pairs(*shape):
    """The parts of complex numbers."""
    return x(*shape, 2)


def complex_function(function):
    """A function of complex tensors as one of their parts."""
    def of_parts(*parts):
        result = function(*(torch.view_as_complex(part) for part in parts))
        return torch.view_as_real(result) if result.is_complex() else result
    return of_parts


class RotaryEmbedding(nn.Module):
    """The rotation of queries and keys by complex numbers, as in the first Llama."""

    def __init__(self):
        super().__init__()
        angles = torch.outer(torch.arange(8).float(), 1.0 / 100 ** (torch.arange(4) / 4))
        self.register_buffer("freqs_cis", torch.polar(torch.ones_like(angles), angles))

    def rotated(self, a):
        turned = torch.view_as_complex(a.float().reshape(*a.shape[:-1], -1, 2)) * self.freqs_cis.view(1, 8, 1, 4)
        return torch.view_as_real(turned).flatten(3).type_as(a)

    def forward(self, queries, keys):
        return self.rotated(queries), self.rotated(keys)


complex_numbers = {
    "rotary_embedding": lambda: (RotaryEmbedding(), x(2, 8, 3, 8), x(2, 8, 1, 8)),
    "rotary_embedding_of_halves": lambda: (RotaryEmbedding(), x(1, 8, 2, 8, dtype=BF16), x(1, 8, 1, 8, dtype=BF16)),
    "mul": lambda: (complex_function(torch.mul), pairs(3, 4), pairs(4)),
    "add": lambda: (complex_function(torch.add), pairs(3, 1), pairs(4)),
    "add_alpha": lambda: (complex_function(lambda a, b: torch.add(a, b, alpha=2.5)), pairs(3, 4), pairs(4)),
    "sub": lambda: (complex_function(torch.sub), pairs(3, 4), pairs(4)),
    "div": lambda: (complex_function(torch.div), pairs(3, 4), pairs(3, 1)),
    "div_large_and_small": lambda: (complex_function(torch.div), pairs(6) * 1e30, torch.tensor([[1e30, 1], [1, -1e30], [1e-30, 1e-30], [0, 1], [1, 0], [-2, 0.0]])),
    "div_by_zero": lambda: (complex_function(torch.div), pairs(1), torch.zeros(1, 2)),
    "real_operands": lambda: (lambda a, b: tuple(torch.view_as_real(each) for each in (
        torch.view_as_complex(a) * b, b - torch.view_as_complex(a), torch.view_as_complex(a) / b, b / torch.view_as_complex(a), b + torch.view_as_complex(a))),
        pairs(3, 4), x(4)),
    "numbers": lambda: (complex_function(lambda a: (2 * a + 1) / 3 - 0.5), pairs(3, 4)),
    "negative": lambda: (complex_function(torch.neg), pairs(3, 4)),
    "conjugate": lambda: (complex_function(lambda a: a.conj().resolve_conj() * a), pairs(3, 4)),
    "abs": lambda: (complex_function(torch.abs), pairs(3, 4)),
    "angle": lambda: (complex_function(torch.angle), pairs(3, 4)),
    "exp": lambda: (complex_function(torch.exp), pairs(3, 4)),
    "sum": lambda: (complex_function(lambda a: a.sum(1)), pairs(3, 4)),
    "sum_and_mean_of_all": lambda: (complex_function(lambda a: a.sum() * a.mean()), pairs(3, 4)),
    "parts": lambda: (lambda a, b: (torch.complex(a, b).real + 1, torch.complex(a, b).conj().imag * 2), x(3, 4), x(4)),
    "polar": lambda: (lambda a, b: torch.view_as_real(torch.polar(a, b)), positive(3, 4), x(3, 4)),
    "double": lambda: (complex_function(lambda a, b: a * b / (a + b)), x(3, 2, dtype=F64), x(3, 2, dtype=F64)),
    "shapes": lambda: (complex_function(lambda a, b: torch.cat([a.transpose(0, 1), b[1:].expand(2, -1, -1).sum(0)]) * b[0, 1]), pairs(3, 4), pairs(5, 3)),
    "matmul": lambda: (complex_function(torch.matmul), pairs(2, 3, 4), pairs(4, 5)),
}  # fmt: skip


def ends(*positions):
    return torch.tensor(positions, dtype=I32)


class Experts(nn.Module):
    """A mixture of experts that sorts tokens by their expert."""

    def __init__(self, experts=3, width=8, inner=16):
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.up = nn.Parameter(torch.randn(experts, width, inner) / 4)
        self.down = nn.Parameter(torch.randn(experts, inner, width) / 4)

    def forward(self, a):
        weight, chosen = self.router(a).softmax(-1).max(-1)
        order = chosen.argsort(stable=True)
        counts = (chosen[:, None] == torch.arange(self.up.shape[0])).sum(0)
        offs = counts.cumsum(0).to(I32)
        inner = F.silu(F.grouped_mm(a[order], self.up, offs=offs))
        outer = F.grouped_mm(inner, self.down, offs=offs)
        return torch.zeros_like(a).index_copy(0, order, outer) * weight[:, None]


grouped_products = {
    "rows": lambda: (lambda a, b, o: F.grouped_mm(a, b, offs=o), x(16, 8), x(3, 8, 12), ends(4, 4, 16)),
    "rows_bfloat16": lambda: (lambda a, b, o: F.grouped_mm(a, b, offs=o), x(16, 8, dtype=BF16), x(3, 8, 16, dtype=BF16), ends(4, 9, 16)),
    "rows_transposed_weights": lambda: (lambda a, b, o: F.grouped_mm(a, b.transpose(-2, -1), offs=o), x(16, 8), x(3, 12, 8), ends(1, 9, 16)),
    "columns": lambda: (lambda a, b, o: F.grouped_mm(a, b, offs=o), x(3, 8, 12), x(12, 16), ends(4, 9, 16)),
    "inner": lambda: (lambda a, b, o: F.grouped_mm(a, b, offs=o), x(8, 16), x(16, 12), ends(4, 4, 16)),
    "inner_half": lambda: (lambda a, b, o: F.grouped_mm(a, b, offs=o), x(8, 16, dtype=F16), x(16, 8, dtype=F16), ends(4, 9, 16)),
    "batch": lambda: (lambda a, b: F.grouped_mm(a, b), x(3, 5, 8), x(3, 8, 12)),
    "batch_bfloat16": lambda: (lambda a, b: F.grouped_mm(a, b), x(3, 16, 8, dtype=BF16), x(3, 8, 16, dtype=BF16)),
    "experts": lambda: (Experts(), x(12, 8)),
}  # fmt: skip

filters = {
    "hann": lambda: (lambda a: (a * torch.hann_window(16), torch.hann_window(9, periodic=False), torch.hann_window(1), torch.hann_window(16, dtype=F64)), x(16)),
    "hamming": lambda: (lambda a: (a * torch.hamming_window(16), torch.hamming_window(9, False), torch.hamming_window(7, True, 0.5), torch.hamming_window(8, False, 0.6, 0.4)), x(16)),
    "blackman": lambda: (lambda a: (a * torch.blackman_window(16), torch.blackman_window(9, periodic=False)), x(16)),
    "bartlett": lambda: (lambda a: (a * torch.bartlett_window(16), torch.bartlett_window(9, periodic=False)), x(16)),
    "kaiser": lambda: (lambda a: (a * torch.kaiser_window(16), torch.kaiser_window(9, False), torch.kaiser_window(16, True, beta=8.5)), x(16)),
    "general_cosine": lambda: (lambda a: a * torch.signal.windows.general_cosine(16, a=[0.46, 0.23, 0.31]), x(16)),
    "istft": lambda: (lambda a, w: torch.istft(torch.view_as_complex(a), 16, 4, window=w), x(2, 9, 20, 2), torch.hann_window(16)),
    "istft_length": lambda: (lambda a: torch.istft(torch.view_as_complex(a), 16, 5, 12, torch.hamming_window(12), normalized=True, length=70), x(9, 15, 2)),
    "istft_longer": lambda: (lambda a: torch.istft(torch.view_as_complex(a), 16, 4, length=90, center=False), x(2, 9, 20, 2)),
    "istft_all_bins": lambda: (lambda a, w: torch.istft(torch.stft(a, 16, 4, window=w, onesided=False, return_complex=True), 16, 4, window=w, onesided=False), x(80), torch.hann_window(16)),
    "stft_and_back": lambda: (lambda a, w: torch.istft(torch.stft(a, 16, 4, window=w, return_complex=True) * 0.5, 16, 4, window=w, length=80), x(2, 80), torch.hann_window(16)),
}  # fmt: skip

conveniences = {
    "affine_grid": lambda: (lambda a, b: (F.affine_grid(a, (2, 3, 4, 5)), F.affine_grid(a, (2, 3, 4, 1), align_corners=True), F.affine_grid(b, (2, 3, 4, 5, 6), align_corners=True)), x(2, 2, 3), x(2, 3, 4)),
    "spatial_transformer": lambda: (lambda a, t: F.grid_sample(a, F.affine_grid(t, a.size(), False), align_corners=False), x(2, 3, 4, 5), x(2, 2, 3)),
    "affine_grid_half": lambda: (lambda a: F.affine_grid(a, (2, 3, 4, 5)), x(2, 2, 3, dtype=F64)),
    "tril_indices": lambda: (lambda a: (a[tuple(torch.tril_indices(4, 5))], torch.tril_indices(4, 3, 1), torch.tril_indices(3, 4, -2, dtype=I32)), x(4, 5)),
    "triu_indices": lambda: (lambda a: (a[tuple(torch.triu_indices(4, 5))], torch.triu_indices(4, 3, 1), torch.triu_indices(3, 4, -2, dtype=I32)), x(4, 5)),
    "logspace": lambda: (lambda a: (a * torch.logspace(0, 2, 7), torch.logspace(-1, 1, 4, base=3.0), torch.logspace(0, 3, 4, dtype=I64), torch.logspace(2, 3, 1)), x(7)),
    "vander": lambda: (lambda a: (torch.vander(a), torch.vander(a, 3, True), torch.vander(a, 1)), x(5)),
    "vander_of_integers": lambda: (lambda a: torch.vander(a, 4), x(5, dtype=I64)),
    "chain_matmul": lambda: (lambda a, b, c: torch.chain_matmul(a, b, c), x(3, 4), x(4, 5), x(5, 2)),
    "chain_of_one": lambda: (lambda a: torch.chain_matmul(a) + 1, x(3, 4)),
    "multi_dot_matrices": lambda: (lambda a, b, c, d: torch.linalg.multi_dot([a, b, c, d]), x(3, 4), x(4, 5), x(5, 2), x(2)),
    "pad_sequence": lambda: (lambda a, b, c: nn.utils.rnn.pad_sequence([a, b, c], batch_first=True, padding_value=7.0), x(3, 4), x(5, 4), x(1, 4)),
    "pad_sequence_left": lambda: (lambda a, b: nn.utils.rnn.pad_sequence([a, b], padding_side="left"), x(3, dtype=I64), x(5, dtype=I64)),
    "unsafe_index": lambda: (lambda a, i: torch.ops.aten._unsafe_index(a, [None, i]), x(3, 4), torch.tensor([1, -1, 0])),
    "unsafe_index_put": lambda: (lambda a, i, b: (torch.ops.aten._unsafe_index_put(a, [i], b, True), torch.ops.aten._unsafe_index_put(a, [None, i], b[:, :2])), x(2, 4), torch.tensor([1, 0]), x(2, 4)),
    "unsafe_masked_index": lambda: (lambda a, m, i: torch.ops.aten._unsafe_masked_index(a, m, [i], 5.0), x(4), torch.tensor([True, False, True]), torch.tensor([1, 9, 3])),
    "unsafe_masked_index_put": lambda: (lambda a, m, i, b: torch.ops.aten._unsafe_masked_index_put_accumulate(a, m, [i], b), x(4), torch.tensor([True, False, True]), torch.tensor([1, 9, 1]), x(3)),
    "fake_quantize": lambda: (lambda a: (torch.fake_quantize_per_tensor_affine(a, 0.1, 3, -128, 127), torch.fake_quantize_per_tensor_affine(a, 0.02, 0, 0, 15)), x(3, 40)),
    "fake_quantize_by_tensors": lambda: (lambda a, s, z: torch.fake_quantize_per_tensor_affine(a, s, z, 0, 255), x(3, 40), torch.tensor(0.1), torch.tensor(100, dtype=I32)),
    "fake_quantize_channels": lambda: (lambda a, s, z: torch.fake_quantize_per_channel_affine(a, s, z, 1, 0, 255), x(30, 4, 2), torch.rand(4) / 10 + 0.01, ends(1, 22, 133, 4)),
    "fake_quantize_channels_in_floats": lambda: (lambda a, s, z: torch.fake_quantize_per_channel_affine(a, s, z, 0, -8, 7), x(4, 30), torch.rand(4) / 10 + 0.01, torch.tensor([0.0, 1.0, -2.0, 3.0])),
}  # fmt: skip

def boxes(count, size=10.0):
    """Boxes in a square, by their edges."""
    corner = torch.rand(count, 2) * size
    return torch.cat([corner, corner + torch.rand(count, 2) * size / 2 + 0.1], 1)


def best_boxes(a, scores):
    """The chosen boxes with their scores, as detectors go on with them."""
    kept = vision.nms(a, scores, 0.3)
    return a[kept], scores[kept]


detection = {
    "nms": lambda: (lambda a, s: vision.nms(a, s, 0.3), boxes(40), torch.rand(40)),
    "nms_double": lambda: (lambda a, s: vision.nms(a, s, 0.1), boxes(30).double(), torch.rand(30, dtype=F64)),
    "nms_equal_scores": lambda: (lambda a, s: vision.nms(a, s, 0.5), boxes(30), torch.randint(0, 3, (30,)) / 4),
    "nms_of_classes": lambda: (lambda a, s, c: vision.batched_nms(a, s, c, 0.4), boxes(40), torch.rand(40), index(3, 40)),
    "best_boxes": lambda: (best_boxes, boxes(40), torch.rand(40)),
    "roi_align": lambda: (lambda a, b: vision.roi_align(a, [b[:3], b[3:]], (3, 4), 0.5), x(2, 3, 12, 10), boxes(7, 15)),
    "roi_align_samples": lambda: (lambda a, b: vision.roi_align(a, b, 5, 1.0, 2, True), x(2, 3, 12, 10), torch.cat([index(2, 6, 1).float(), boxes(6, 14) - 3], 1)),
    "roi_align_double": lambda: (lambda a, b: vision.roi_align(a, b, 2, 0.25, -1, True), x(1, 2, 8, 8, dtype=F64), torch.cat([torch.zeros(4, 1), boxes(4, 40)], 1).double()),
    "deform_conv2d": lambda: (vision.DeformConv2d(3, 4, 3, padding=1), x(2, 3, 6, 7), x(2, 18, 6, 7)),
    "deform_conv2d_mask": lambda: (vision.DeformConv2d(4, 6, (3, 2), stride=2, padding=(1, 0), dilation=(1, 2), groups=2), x(2, 4, 9, 8), x(2, 24, 5, 3) * 2, torch.rand(2, 12, 5, 3)),
    "deform_conv2d_double": lambda: (lambda a, o, w: vision.deform_conv2d(a, o, w), x(1, 2, 5, 5, dtype=F64), x(1, 8, 4, 4, dtype=F64), x(3, 2, 2, 2, dtype=F64)),
}  # fmt: skip

CASES = {
    "elementwise": elementwise, "binary": binary, "reduce": reduce, "shape": shape, "create": create,
    "indexing": indexing, "writes": writes, "products": products, "images": images, "sequences": sequences,
    "composite": composite, "losses": losses, "classification": classification, "special_functions": special_functions,
    "ordered": ordered, "reductions_by_index": reductions_by_index, "linear_algebra": linear_algebra, "signals": signals,
    "complex_numbers": complex_numbers, "grouped_products": grouped_products, "filters": filters, "conveniences": conveniences, "detection": detection,
}  # fmt: skip
