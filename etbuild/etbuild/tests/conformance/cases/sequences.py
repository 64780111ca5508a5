"""Layers of sequences, compositions and losses."""

import torch
import torch.nn.functional as F
from torch import nn

from .inputs import BOOL, F64, I64, halved, index, last, positive, special, x

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
