"""Writes src/aten_schemas.txt: the schema of every ATen operator, with the defaults that archives leave out.

    python generate_schemas.py            (torch, torchao, torchvision)

One schema per line as torch prints it, in bytewise order of `namespace::name.overload`. Kept are the operators that
torch's dispatcher knows, because only those can stand in an exported graph: TorchScript's own functions on strings,
lists and dictionaries are not among them. `quantized_decomposed` and three of `torchao` are what quantized programs call beside ATen, three of
`torchvision` what detectors call.
"""

from pathlib import Path

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
import torchao.quantization.quant_primitives  # noqa: F401  registers torchao
import torchvision  # noqa: F401  registers torchvision

NAMESPACES = ("aten", "quantized_decomposed")
OTHERS = (
    "torchao::choose_qparams_affine", "torchao::dequantize_affine", "torchao::quantize_affine",
    "torchvision::deform_conv2d", "torchvision::nms", "torchvision::roi_align",
)
TABLE = Path(__file__).parent / "src" / "aten_schemas.txt"


def operator_name(schema: torch.FunctionSchema) -> str:
    """`namespace::name.overload`, or `namespace::name` for the default overload."""
    return f"{schema.name}.{schema.overload_name}".removesuffix(".")


def exportable_schemas() -> dict[str, str]:
    known = set(torch._C._dispatch_get_all_op_names())
    schemas = {operator_name(schema): str(schema) for schema in torch._C._jit_get_all_schemas()}
    is_wanted = lambda name: name in known and (name.split("::")[0] in NAMESPACES or name in OTHERS)
    return {name: text for name, text in schemas.items() if is_wanted(name)}


def main() -> None:
    schemas = exportable_schemas()
    version = torch.__version__.split("+")[0]
    header = f"# Operator schemas of torch {version}, written by generate_schemas.py.\n"
    lines = [f"{schemas[name]}\n" for name in sorted(schemas)]
    TABLE.write_text(header + "".join(lines), encoding="ascii")


if __name__ == "__main__":
    main()
