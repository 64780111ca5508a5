"""Special functions, orders, linear algebra."""

import torch
import torch.nn.functional as F

from .inputs import BOOL, F64, I64, index, positive, unit, x

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
    "unique_rows": lambda: (lambda a: torch.unique(a, dim=0, return_inverse=True, return_counts=True)[1:], index(2, 9, 3)),
    "unique_columns": lambda: (lambda a: torch.unique_consecutive(a, return_inverse=True, return_counts=True, dim=1)[1:], index(2, 2, 9).float()),
    "searchsorted_rows": lambda: (lambda a, b, s: (torch.searchsorted(a.sort(-1).values, b), torch.searchsorted(a, b, right=True, sorter=s), torch.searchsorted(a[0].sort().values, 0.5)), torch.arange(12.0).view(2, 6), x(2, 3) * 5, torch.arange(6).expand(2, 6).contiguous()),
    "histogramdd": lambda: (lambda a, w: (torch.histogramdd(a, [2, 3], weight=w).hist, torch.histogramdd(a, [3, 2], range=[-1.0, 1, -2, 2], density=True).hist), x(40, 2), torch.rand(40)),
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
