"""Products of groups of matrices, and conveniences."""

import torch
import torch.nn.functional as F
from torch import nn

from .inputs import BF16, F16, F64, I32, I64, x

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
