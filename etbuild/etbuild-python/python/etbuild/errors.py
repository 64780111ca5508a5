"""The exceptions of etbuild."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

__all__ = ["CommandError", "Diagnostic", "Error", "InputError"]


class Error(RuntimeError):
    """A failure with a stable code; ``etbuild explain CODE`` explains it."""

    def __init__(self, code: str, message: str, hint: Optional[str] = None) -> None:
        super().__init__(f"{code}: {message}" if hint is None else f"{code}: {message}\n  help: {hint}")
        self.code = code
        self.message = message
        self.hint = hint


class InputError(Error, ValueError):
    """An input is missing or does not fit the method."""


@dataclass(frozen=True)
class Diagnostic:
    """A finding of the command, such as a faulty key of a recipe."""

    severity: str
    code: str
    message: str
    #: The file, and where known line and column, as ``recipe.yaml:3:5``.
    place: Optional[str] = None
    help: tuple[str, ...] = ()
    #: The finding as the command prints it with ``--output json``.
    raw: dict[str, Any] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        lines = [f"{self.severity}[{self.code}]: {place}{self.message}"]
        return "\n".join(lines + [f"  help: {line}" for line in self.help])


class CommandError(Error):
    """The command ``etbuild`` failed."""

    def __init__(self, status: int, diagnostics: list[Diagnostic], text: str) -> None:
        first = next((found for found in diagnostics if found.severity == "error"), None)
        shown = "\n".join(str(found) for found in diagnostics) or text.strip() or f"etbuild ended with status {status}"
        RuntimeError.__init__(self, shown)
        self.code = first.code if first else ""
        self.message = first.message if first else shown
        self.hint = "\n".join(first.help) if first and first.help else None
        #: The exit status of the command.
        self.status = status
        self.diagnostics = diagnostics
