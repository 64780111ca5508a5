"""Signals and complex numbers."""

import torch
import torch.nn.functional as F
from torch import nn

from .inputs import BF16, F64, I64, each, positive, unit, x

signals = {
    "ihfft": lambda: (lambda a: (*(torch.view_as_real(b.resolve_conj()) for b in (torch.fft.ihfft(a), torch.fft.ihfft2(a, norm="ortho"), torch.fft.ihfftn(a, (4, 6), norm="forward"))),), x(5, 8)),
    "gradient_of_spacings": lambda: (lambda a: (*torch.gradient(a, spacing=[2.0, 0.5], edge_order=2), *torch.gradient(a, dim=[1])), x(5, 8)),
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
    "number_as_factor": lambda: (lambda a: torch.view_as_real(a * 1j + (2 - 3j)), x(3, 4)),
    "number_as_term": lambda: (complex_function(lambda a: (a + 1j) / (2 + 0.5j) - 1j), pairs(3, 4)),
    "number_as_fill": lambda: (lambda a: torch.view_as_real(torch.full((2, 3), 1 - 2j) * a), x(3)),
    "conversions": lambda: (lambda a: (torch.view_as_real(a.to(torch.complex64) * 1j), (a * (1 + 1j)).to(torch.complex128).real), x(3, 4)),
    "reciprocal": lambda: (complex_function(lambda a: a.reciprocal() + a.rsqrt() + a.sgn()), pairs(3, 4)),
    "sqrt": lambda: (complex_function(torch.sqrt), torch.tensor([[4.0, 0], [-4, 0], [0, 0], [3, -4], [-3, -4], [0, 2]])),
    "log": lambda: (complex_function(lambda a: torch.stack([a.log(), a.log2(), a.log10(), a.log1p()])), pairs(3, 4)),
    "pow": lambda: (complex_function(lambda a, b: torch.stack([a ** 2, a ** -3, a ** 0.5, a ** 1.7, a ** b, 2 ** a, a.square()])), pairs(3, 4), pairs(3, 4)),
    "pow_of_zero": lambda: (complex_function(lambda a: torch.stack([a ** 0, a ** 2.5, a ** 3])), torch.zeros(2, 2)),
    "sin_and_cos": lambda: (complex_function(lambda a: torch.stack([a.sin(), a.cos(), a.tan()])), pairs(3, 4)),
    "hyperbolic": lambda: (complex_function(lambda a: torch.stack([a.sinh(), a.cosh(), a.tanh(), (a * 40).tanh()])), pairs(3, 4)),
    "sigmoid": lambda: (complex_function(lambda a: a.sigmoid() + a.expm1()), pairs(3, 4)),
    "equality": lambda: (lambda a, b: (torch.view_as_complex(a) == torch.view_as_complex(b), torch.view_as_complex(a) != torch.view_as_complex(b), torch.view_as_complex(a) == 1), torch.tensor([[1.0, 0], [2, 3]]), torch.tensor([[1.0, 1], [2, 3]])),
    "where": lambda: (complex_function(lambda a, b: torch.where(a.real > 0, a, b) + torch.where(b.imag > 0, b, 2.0).masked_fill(a.real > 1, 3j)), pairs(3, 4), pairs(3, 4)),
    "cumsum_and_prod": lambda: (complex_function(lambda a: a.cumsum(0) * a.prod(1, keepdim=True) + a.cumprod(1) + a.prod()), pairs(3, 4)),
    "linear": lambda: (complex_function(lambda a, b, c: F.linear(a, b, c) + torch.addmm(c, a, b.T, beta=0.5, alpha=2)), pairs(3, 4), pairs(5, 4), pairs(5)),
    "not_finite": lambda: (lambda a: (torch.view_as_complex(a).isnan(), torch.view_as_complex(a).isinf()), torch.tensor([[1.0, float("nan")], [float("inf"), 0], [1, 2]])),
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
