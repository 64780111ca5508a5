"""Operators of single elements."""

import torch
import torch.nn.functional as F
from torch import nn

from .inputs import BF16, BOOL, F16, F64, I16, I32, I64, I8, U8, each, positive, special, spread, unit, x

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
    "cosine_of_broadcast_rows": lambda: (lambda a, b: F.cosine_similarity(a, b, dim=-2), x(1, 2, 3), x(2, 1, 3)),
    "hypot_of_nan": lambda: (torch.hypot, torch.tensor([float("inf"), float("nan")]), torch.tensor([float("nan"), 1.0])),
    "hypot_infinite": lambda: (torch.hypot, torch.tensor([float("inf"), 3.0, 0.0]), torch.tensor([-float("inf"), float("inf"), 0.0])),
    "half_norms": lambda: (lambda a: (torch.linalg.vector_norm(a), F.cosine_similarity(a, a + 1, dim=0), torch.dist(a, -a, 3)), x(9, dtype=F16) * 300),
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
