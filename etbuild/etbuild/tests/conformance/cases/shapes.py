"""Reductions, views, new tensors, indexing, and writes in place."""

import torch
import torch.nn.functional as F
from torch import nn

from .inputs import BOOL, F16, F32, F64, I32, I64, I8, index, positive, x

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
    "spaces_between_tensors": lambda: (lambda a, b: (torch.linspace(a, b, 7, dtype=I64), torch.logspace(a, b, 5, base=2.0), torch.linspace(a, 9, 4)), torch.tensor(-3), torch.tensor(20)),
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
    "nonzero_static": lambda: (lambda a: (torch.nonzero_static(a > 0, size=4), torch.nonzero_static(a, size=20, fill_value=7)), x(3, 4)),
    "repeat_by_tensor": lambda: (lambda a, r: (a.repeat_interleave(r, 0, output_size=6), a.repeat_interleave(r[:1], output_size=12)), x(3, 2), torch.tensor([2, 0, 4])),
    "take_along_from_the_end": lambda: (lambda a, i: a.take_along_dim(i, 1), x(3, 4), torch.tensor([[-1, 0], [3, -4], [1, -2]])),
    "embedding_of_bounded_rows": lambda: (lambda a, i: F.embedding(i, a.clone(), max_norm=1.0), x(5, 3), index(4, 2, 3)),
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
