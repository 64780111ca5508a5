"""Products of matrices."""

import torch
from torch import nn

from .inputs import BF16, F16, I64, x

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
