"""Records the samples of PyTorch's own operator database, undecomposed as torch.export leaves them.

    python opinfo.py FOLDER [--types f32,i64,bool,f16] [--part NAME] [--seconds 20]   (torch, expecttest, safetensors)

FOLDER gets cases in the layout of make_cases.py, and FOLDER/summary-<types>.json the number of samples by their fate. An operator
and type takes all of its samples, spread over their whole list until the seconds have passed. Left out are samples that export
refuses, samples with random outputs, elements that PyTorch does not set, or outputs that are no tensors, and the operators
that make tensors without elements' values, such as `empty_like`.
"""

import argparse
import json
import logging
import time
import warnings
from collections import Counter
from pathlib import Path
from unittest import mock

import torch
from make_cases import record
from torch.testing._internal.common_device_type import toleranceOverride
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

TYPES = {"f32": torch.float32, "i64": torch.int64, "bool": torch.bool, "f16": torch.float16}
WIDER = {torch.float16: torch.float32, torch.float32: torch.float64}
LEAST = {kind: 16 * torch.finfo(kind).eps for kind in (torch.float32, torch.complex64)}
GOLDEN = 0.6180339887498949


class NoReference(Exception):
    """A sample whose outputs are no reference."""


class NoTime(Exception):
    """A sample after the time of its operator."""


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
    runs = [tree_leaves(run(call, [tensor.clone() for tensor in tensors])) for run in (unseeded, unseeded, filling)]
    if not runs[0] or not all(is_reference(*outputs) for outputs in zip(*runs, strict=True)):
        raise NoReference
    return call, *tensors


def unseeded(call, tensors):
    """A call with its own random numbers: the database sets a seed before random operators."""
    torch.rand(7)
    with mock.patch("torch.manual_seed"):
        return call(*tensors)


def filling(call, tensors):
    """A call that fills memory whose contents PyTorch does not define."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        return unseeded(call, tensors)
    finally:
        torch.use_deterministic_algorithms(False)


def is_reference(one, other, filled):
    if not all(isinstance(output, torch.Tensor) for output in (one, other, filled)):
        return False
    return torch.allclose(one, other, 0, 0, equal_nan=True) and torch.allclose(one, filled, equal_nan=True)


def allowed(operator, dtype, outputs, wide):
    """PyTorch's own tolerance of each output: that of its type, or of the operator's tests on processors if larger; as far as the
    output is from that of the next wider type; and 16 steps of the largest element, as sums of all elements are rounded."""
    own = [override.d[dtype] for override in overrides(operator) if dtype in override.d]
    for output, wider in zip(outputs, wide, strict=True):
        least = torch.testing._comparison.default_tolerances(output)
        rtol, atol = (max(values) for values in zip(least, *((one.rtol, one.atol) for one in own), strict=True))
        exact = not output.is_floating_point() and not output.is_complex()
        atol += distance(output, wider) + LEAST.get(output.dtype, 0) * largest(output)
        yield {"atol": 0, "rtol": 0} if exact else {"atol": atol, "rtol": rtol}


def widened(call, tensors, outputs):
    """The outputs of the call in the next wider type, or the outputs where eager mode has no such call."""
    try:
        wide = [tensor.to(WIDER.get(tensor.dtype, tensor.dtype)) for tensor in tensors]
        made = tree_leaves(unseeded(call, wide))
        return made if [output.shape for output in made] == [output.shape for output in outputs] else outputs
    except Exception:  # whatever the call raises for a type
        return outputs


def largest(output):
    finite = output[output.isfinite()].abs()
    return finite.max().item() if finite.numel() else 0


def distance(output, wider):
    """The largest difference of finite elements."""
    difference = (output.to(wider.dtype) - wider).abs() if output.numel() else torch.zeros(1)
    return difference[difference.isfinite()].max().item() if difference.isfinite().any() else 0


def overrides(operator):
    for decorator in operator.decorators:
        devices = getattr(decorator, "device_type", None)
        if devices is None or "cpu" in devices:
            inner = getattr(decorator, "decorators", [decorator])
            yield from (one for one in inner if isinstance(one, toleranceOverride))


def main(folder, types, part, seconds):
    fates = Counter()
    for operator in op_db:
        variant = "_" + operator.variant_test_name if operator.variant_test_name else ""
        name = (operator.name + variant).replace(".", "_").replace("/", "_")
        for label in types:
            if part in name and "empty" not in name and TYPES[label] in operator.supported_dtypes("cpu"):
                for fate in record_samples(folder / name, label, operator, seconds):
                    fates[f"{label} {fate}"] += 1
    (folder / f"summary-{'-'.join(types)}.json").write_text(json.dumps(fates, indent=1) + "\n")


def record_samples(folder, label, operator, seconds):
    """The fate of each sample."""
    torch.manual_seed(0)
    dtype = TYPES[label]
    samples = list(enumerate(operator.sample_inputs("cpu", dtype, requires_grad=False)))
    samples.sort(key=lambda pair: pair[0] * GOLDEN % 1)
    end = time.monotonic() + seconds
    for number, sample in samples:
        yield fate(folder / f"{label}_{number}", operator, sample, dtype) if time.monotonic() < end else "no time"


def fate(case, operator, sample, dtype):
    try:
        call, *tensors = build(operator, sample)
        copies = [tensor.clone() for tensor in tensors]
        record(case, lambda: (call, *tensors), lambda outputs: allowed(operator, dtype, outputs, widened(call, copies, outputs)))
    except NoReference:
        return "no reference"
    except Exception:  # whatever export does not take
        for file in case.glob("*") if case.exists() else ():
            file.unlink()
        if case.exists():
            case.rmdir()
        return "not exported"
    return "recorded"


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--types", type=lambda text: text.split(","), default=list(TYPES))
    options.add_argument("--part", default="")
    options.add_argument("--seconds", type=float, default=20)
    main(**vars(options.parse_args()))
