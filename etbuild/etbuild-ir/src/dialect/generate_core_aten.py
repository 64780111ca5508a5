"""Writes core_aten.txt: the operators that PyTorch tags as core. Needs torch."""

from pathlib import Path

import torch


def main():
    names = {
        f"{schema.name.replace('::', '.')}.{schema.overload_name or 'default'}"
        for schema in torch._C._jit_get_all_schemas()
        if schema.name.startswith("aten::") and is_core(schema)
    }
    path = Path(__file__).with_name("core_aten.txt")
    path.write_text("".join(f"{name}\n" for name in sorted(names)))


def is_core(schema):
    packet = getattr(torch.ops.aten, schema.name.removeprefix("aten::"), None)
    overload = getattr(packet, schema.overload_name or "default", None)
    return torch.Tag.core in getattr(overload, "tags", [])


if __name__ == "__main__":
    main()
