"""Models of PyTorch as archives, which the command compiles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

if TYPE_CHECKING:
    from etbuild.command import PathLike

__all__ = ["export"]


def export(
    model: Any,
    args: Any = (),
    path: Optional["PathLike"] = None,
    *,
    kwargs: Optional[Mapping[str, Any]] = None,
    dynamic_shapes: Union[None, Mapping[str, Any], Sequence[Any]] = None,
    strict: bool = False,
) -> Path:
    """Writes a ``.pt2`` archive of a ``torch.nn.Module`` called with ``args``, a tuple or a single argument, and ``kwargs``; returns its path.

    The module is exported in its present mode: call ``eval()`` first for inference. ``dynamic_shapes`` and ``strict`` are those of
    ``torch.export.export``; a ``torch.export.ExportedProgram`` is saved as it is. ``path`` is by default the name of the class
    in lower case with ``.pt2``, in the current folder.
    """
    import torch

    # A single argument: a tensor would be taken for a sequence of its rows.
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    program = model
    if not isinstance(model, torch.export.ExportedProgram):
        with torch.no_grad():
            program = torch.export.export(
                model, args, dict(kwargs or {}), dynamic_shapes=dynamic_shapes, strict=strict
            )
    path = Path(f"{type(model).__name__.lower()}.pt2" if path is None else path)
    torch.export.save(program, str(path))
    return path
