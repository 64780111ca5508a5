"""Records samples of PyTorch's own operator database, undecomposed as torch.export leaves them.

    python opinfo.py FOLDER [PART OF A NAME]            (torch, expecttest, safetensors)

FOLDER gets cases in the layout of make_cases.py, up to two for each operator and type: float32, int64 and bool. Samples
that export refuses, and samples with random, empty or non-finite outputs, are left out.
"""

import logging
import sys
import warnings
from pathlib import Path
from unittest import mock

import torch
from make_cases import record
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

TYPES = {"f32": torch.float32, "i64": torch.int64, "bool": torch.bool}
KEPT, TRIED = 2, 6


class Skip(Exception):
    """A sample that is no reference."""


def build(operator, sample):
    """The call with the sample's tensors as inputs, and the tensors; other arguments stay constants."""
    leaves, tree = tree_flatten(((sample.input, *sample.args), dict(sample.kwargs)))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def call(*tensors):
        filled = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            filled[place] = tensor
        arguments, options = tree_unflatten(filled, tree)
        return operator.op(*arguments, **options)

    tensors = [leaves[place].detach().clone() for place in places]
    if not tensors:
        raise Skip
    first, second = (tree_leaves(unseeded(call, [tensor.clone() for tensor in tensors])) for _ in range(2))
    if not first or not all(is_reference(one, other) for one, other in zip(first, second, strict=True)):
        raise Skip
    return call, *tensors


def unseeded(call, tensors):
    """A call with its own random numbers: the database sets a seed before random operators."""
    torch.rand(7)
    with mock.patch("torch.manual_seed"):
        return call(*tensors)


def is_reference(one, other):
    finite = isinstance(one, torch.Tensor) and one.numel() > 0 and not one.is_complex() and torch.isfinite(one).all()
    return finite and torch.equal(one, other)


def main(folder, part=""):
    for operator in op_db:
        variant = "_" + operator.variant_test_name if operator.variant_test_name else ""
        name = (operator.name + variant).replace(".", "_").replace("/", "_")
        for label, dtype in TYPES.items():
            if part in name and dtype in operator.supported_dtypes("cpu"):
                record_samples(Path(folder) / name, label, operator, dtype)


def record_samples(folder, label, operator, dtype):
    torch.manual_seed(0)
    kept = 0
    for number, sample in enumerate(operator.sample_inputs("cpu", dtype, requires_grad=False)):
        if kept == KEPT or number == TRIED:
            return
        case = folder / f"{label}_{number}"
        try:
            record(case, lambda sample=sample: build(operator, sample))
            kept += 1
        except Exception:  # whatever export does not take
            for file in case.glob("*") if case.exists() else ():
                file.unlink()
            if case.exists():
                case.rmdir()


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    main(*sys.argv[1:])
