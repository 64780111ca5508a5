"""Writes upstream_operators.txt: the kernels that ExecuTorch ships. Needs the executorch wheel.

They are those of its portable and its quantized library and the primitives of its runtime.
"""

import re
from importlib.resources import files
from pathlib import Path

from executorch.extension.pybindings.portable_lib import _get_operator_names

# Primitives under names of ATen.
PRIMITIVES = {"aten::_local_scalar_dense", "aten::sym_numel", "aten::sym_size.int"}


def main():
    libraries = [("portable", "functions.yaml"), ("quantized", "quantized.yaml")]
    names = {name for library, file in libraries for name in names_of(library, file)}
    names |= {name for name in _get_operator_names() if name.startswith("executorch_prim::") or name in PRIMITIVES}
    path = Path(__file__).with_name("upstream_operators.txt")
    path.write_text("".join(f"{name}\n" for name in sorted(names)))


def names_of(library, file):
    text = (files("executorch") / "kernels" / library / file).read_text()
    found = re.findall(r"^- (?:op|func): ([\w:.]+)", text, re.MULTILINE)
    return [name if "::" in name else f"aten::{name}" for name in found]


if __name__ == "__main__":
    main()
