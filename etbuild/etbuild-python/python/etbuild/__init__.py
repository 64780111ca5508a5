"""etbuild: PyTorch models into programs and linked device binaries, and program files in this process.

``export``, ``compile``, ``build``, ``deploy`` and ``run`` call the command ``etbuild`` of the same installation; ``Runtime`` and
``LanguageModel`` run program files in this process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from etbuild.command import Deployment, OutputFile, Unit, build, compile, deploy, run, version
from etbuild.errors import CommandError, Diagnostic, Error, InputError
from etbuild.exporting import export

if TYPE_CHECKING:
    from etbuild._native import Tensor
    from etbuild.llm import Alternative, Call, Generation, LanguageModel, Likelihood
    from etbuild.runtime import Method, Program, Runtime
    from etbuild.speech import Segment, Transcript, Word

__all__ = [
    "Alternative",
    "Call",
    "CommandError",
    "Deployment",
    "Diagnostic",
    "Error",
    "Generation",
    "InputError",
    "LanguageModel",
    "Likelihood",
    "Method",
    "OutputFile",
    "Program",
    "Runtime",
    "Segment",
    "Tensor",
    "Transcript",
    "Unit",
    "Word",
    "build",
    "compile",
    "deploy",
    "export",
    "run",
    "version",
]

#: What the extension module has, imported at the first use: a wheel for another C library has the command alone.
_LATE = {
    "Alternative": "etbuild.llm",
    "Call": "etbuild.llm",
    "Generation": "etbuild.llm",
    "LanguageModel": "etbuild.llm",
    "Likelihood": "etbuild.llm",
    "Method": "etbuild.runtime",
    "Program": "etbuild.runtime",
    "Runtime": "etbuild.runtime",
    "Segment": "etbuild.speech",
    "Tensor": "etbuild._native",
    "Transcript": "etbuild.speech",
    "Word": "etbuild.speech",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'etbuild' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_LATE[name]), name)
