"""Checks every case of the operator catalogue against PyTorch.

    cargo run --package et-conformance --example dump_cases | python kernel-library/et-conformance/check_with_torch.py

Reads one JSON object per line, calls the functional operator of ATen on the arguments, and compares types, shapes and
elements. A case that is refused must make PyTorch raise. Prints what differs and exits with 1, or a count and 0.
"""

import importlib
import json
import math
import sys

import torch

# Keyword arguments of functional operators that out-variants do not have.
NOT_IN_OUT_VARIANTS = {"dtype", "layout", "device", "pin_memory"}

DTYPES = {dtype: getattr(torch, dtype) for dtype in
          "uint8 int8 int16 int32 int64 float16 float32 float64 bool bfloat16 complex64 complex128".split()}

# The modules that define the operators of a namespace.
REGISTERED_BY = {
    "aten": (),
    "etbuild": ("etbuild_operators",),
    "quantized_decomposed": (
        "torch.ao.quantization.fx._decomposed",
        "executorch.exir.passes._quant_patterns_and_replacements",
    ),
    "torchao": ("torchao.quantization.quant_primitives",),
    "torchvision": ("torchvision",),
}


def main():
    lines = [json.loads(line) for line in sys.stdin]
    failures = [(line, reason) for line in lines if (reason := check(line))]
    for line, reason in failures:
        print(f"{line['operator']}: {line['case']}: {reason}")
    print(f"{len(lines)} cases, {len(failures)} failures")
    return 1 if failures else 0


def check(line):
    """What is wrong with a case, or nothing."""
    overload = find_overload(line["functional"])
    names = argument_names(line["schema"])
    expect = line["expect"]
    try:
        arguments = {name: to_torch(value) for name, value in zip(names, line["arguments"])}
        outputs = call(overload, arguments, expect)
    except Exception as error:  # PyTorch raises many types.
        return None if "refusal" in expect else f"PyTorch raises {error}"
    if "refusal" in expect:
        return "PyTorch does not refuse"
    return compare(expect, outputs)


def find_overload(functional):
    namespace, name = functional.split("::")
    for module in REGISTERED_BY.get(namespace, ("executorch.exir",)):
        importlib.import_module(module)
    name, _, overload = name.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")


def argument_names(schema):
    """Names of the arguments of a schema in order, without its out tensors: those after the star that are written."""
    inner = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    positional, star, keywords = inner.partition("*,")
    inner = positional + star + ",".join(item for item in keywords.split(",") if "!)" not in item)
    items, depth, current = [], 0, ""
    for character in inner + ",":
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            items.append(current.strip())
            current = ""
        else:
            current += character
    return [item.split("=")[0].split()[-1] for item in items if item not in ("", "*")]


def call(overload, arguments, expect):
    known = {argument.name: argument for argument in overload._schema.arguments}
    keywords = {name: typed(known[name], value) for name, value in arguments.items() if name in known}
    if expect.get("converting"):
        keywords["dtype"] = DTYPES[expect["outputs"][0]["dtype"]]
    try:
        outputs = overload(**keywords)
    except NotImplementedError:
        outputs = call_out_variant(overload, keywords, expect)
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


def call_out_variant(overload, keywords, expect):
    """Operators that are no more than a schema to PyTorch have upstream's kernels, which end the process when they refuse."""
    import executorch.kernels.quantized  # noqa: F401
    [expected] = expect["outputs"]
    out = torch.empty(expected["sizes"], dtype=DTYPES[expected["dtype"]])
    return overload.overloadpacket.out(**keywords, out=out)


def typed(argument, value):
    """A scalar type travels as its number in a program file and as itself in PyTorch."""
    if str(argument.type) in ("Optional[ScalarType]", "ScalarType") and isinstance(value, str):
        return DTYPES[value]
    return value


def to_torch(value):
    if isinstance(value, list):
        return [to_torch(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "double" in value:
        return float(value["double"])
    if "type" in value:
        return DTYPES[value["type"]]
    elements = torch.tensor([float(element) for element in value["elements"]], dtype=torch.float64)
    dtype = DTYPES[value["dtype"]]
    if dtype.is_complex:  # Real and imaginary parts in turn.
        elements = torch.view_as_complex(elements.reshape(-1, 2))
    return elements.to(dtype).reshape(value["sizes"])


def compare(expect, outputs):
    if len(expect["outputs"]) != len(outputs):
        return f"PyTorch gives {len(outputs)} outputs"
    for expected, output in zip(map(to_torch, expect["outputs"]), outputs):
        if (expected.dtype, expected.shape) != (output.dtype, output.shape):
            return f"PyTorch gives {output.dtype} {list(output.shape)}"
        pairs = zip(numbers(expected), numbers(output))
        if not all(near(a, b, expect["tolerance"]) for a, b in pairs):
            return f"PyTorch gives {output.tolist()}, not {expected.tolist()}"
    return None


def numbers(tensor):
    tensor = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
    return tensor.double().flatten().tolist()


def near(expected, got, tolerance):
    if expected == got or (math.isnan(expected) and math.isnan(got)):
        return True
    return math.isfinite(expected) and abs(expected - got) <= tolerance * max(1.0, abs(expected))


if __name__ == "__main__":
    sys.exit(main())
