"""The command ``etbuild`` as functions with typed results."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from etbuild import tensors
from etbuild.errors import CommandError, Diagnostic, Error

__all__ = ["Deployment", "OutputFile", "Unit", "build", "compile", "deploy", "find", "run", "version"]

PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class OutputFile:
    """A file of a unit's results."""

    path: Path
    size: int
    digest: str


@dataclass(frozen=True)
class Unit:
    """A recipe on a target, built."""

    recipe: str
    target: str
    #: The binary first.
    files: tuple[OutputFile, ...]
    #: ``none``, ``done`` or ``skipped``, with the differences from PyTorch.
    verification: dict[str, Any]
    #: The sizes of the binary in bytes by kind.
    sizes: Optional[dict[str, Any]]
    #: The instructions and the estimated time of an inference, where measured.
    cost: Optional[dict[str, Any]]
    #: The stages with their keys and times.
    stages: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    #: The unit as the command prints it.
    raw: dict[str, Any] = field(repr=False)

    @property
    def binary(self) -> Optional[Path]:
        """The binary; ``None`` for a unit that was not built."""
        return self.files[0].path if self.files else None

    @property
    def program(self) -> Optional[Path]:
        """The program file beside the binary, if there is one."""
        return next((file.path for file in self.files if file.path.suffix == ".pte"), None)

    @property
    def data(self) -> tuple[Path, ...]:
        """The files with weights beside the binary."""
        return tuple(file.path for file in self.files if file.path.suffix == ".ptd")

    @property
    def max_error(self) -> Optional[float]:
        """The largest difference from PyTorch, where the binary was verified."""
        return self.verification.get("max_error")


@dataclass(frozen=True)
class Deployment:
    """The result of ``build`` and ``deploy``."""

    units: tuple[Unit, ...]
    #: Warnings and notes.
    diagnostics: tuple[Diagnostic, ...]

    def table(self) -> list[dict[str, Any]]:
        """A row per unit: what the command prints as a table."""
        return [
            {
                "recipe": unit.recipe,
                "target": unit.target,
                "binary": unit.binary,
                "size": unit.files[0].size if unit.files else None,
                "max_error": unit.max_error,
                "cached": [stage["stage"] for stage in unit.stages if stage["cached"]],
            }
            for unit in self.units
        ]

    def __getitem__(self, target: str) -> Unit:
        """The first unit for a target."""
        for unit in self.units:
            if unit.target == target:
                return unit
        raise KeyError(target)


def find() -> Path:
    """The command: that of this installation, else the first on ``PATH``."""
    name = "etbuild" + (sysconfig.get_config_var("EXE") or "")
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user"), os.path.dirname(sys.executable)]
    for folder in folders:
        path = Path(folder, name)
        if path.is_file():
            return path
    found = shutil.which(name)
    if found is None:
        raise Error("ETB0501", f"the command `{name}` is neither in {folders[0]} nor on PATH", "install the wheel of etbuild again")
    return Path(found)


def version() -> str:
    """The version of the command."""
    return _finish([str(find()), "--version"], progress=False).stdout.split()[-1]


def deploy(
    recipe: Union[PathLike, Sequence[PathLike]],
    *,
    target: Union[PathLike, Sequence[PathLike]] = (),
    only: Union[str, Sequence[str]] = (),
    partition: Optional[str] = None,
    quantize: Optional[str] = None,
    calibrate: Union[None, PathLike, Mapping[str, Any]] = None,
    require_verify: bool = False,
    options: Optional[Mapping[str, Any]] = None,
    out: PathLike = "out",
    progress: bool = False,
    arguments: Sequence[str] = (),
) -> Deployment:
    """Builds recipes or models, runs the binaries and compares their outputs with PyTorch.

    ``options`` are recipe options such as ``{"memory.planner": "naive"}``; ``calibrate`` is a safetensors file or tensors by name;
    ``progress`` shows the stages on standard error; ``arguments`` are further arguments of the command. ``CommandError`` with the
    diagnostics for a failure.
    """
    further = ["--require-verify"] if require_verify else []
    with _Shared(target, options, out, arguments) as shared:
        recipes = shared.recipes(recipe, only, partition, quantize, calibrate)
        return _deployment(shared.json(["deploy", *recipes, *further], progress))


def build(
    recipe: Union[PathLike, Sequence[PathLike]],
    *,
    target: Union[PathLike, Sequence[PathLike]] = (),
    only: Union[str, Sequence[str]] = (),
    partition: Optional[str] = None,
    quantize: Optional[str] = None,
    calibrate: Union[None, PathLike, Mapping[str, Any]] = None,
    options: Optional[Mapping[str, Any]] = None,
    out: PathLike = "out",
    progress: bool = False,
    arguments: Sequence[str] = (),
) -> Deployment:
    """Builds recipes or models without running the binaries; arguments as for ``deploy``."""
    with _Shared(target, options, out, arguments) as shared:
        recipes = shared.recipes(recipe, only, partition, quantize, calibrate)
        return _deployment(shared.json(["build", *recipes], progress))


def compile(
    model: PathLike,
    program: Optional[PathLike] = None,
    *,
    partition: Optional[str] = None,
    quantize: Optional[str] = None,
    calibrate: Union[None, PathLike, Mapping[str, Any]] = None,
    options: Optional[Mapping[str, Any]] = None,
    progress: bool = False,
    arguments: Sequence[str] = (),
) -> Path:
    """Compiles a model to a program file for this machine, which ``Runtime.load`` takes; needs no compiler.

    ``model`` is a ``.pt2`` archive, a checkpoint folder or a recipe; ``program`` is the file to write, ``NAME.pte`` in the current
    folder if omitted. The other arguments are those of ``deploy``.
    """
    with _Shared((), options, None, arguments) as shared:
        recipes = shared.recipes(model, (), partition, quantize, calibrate)
        written = [] if program is None else ["--program", os.fspath(program)]
        return Path(shared.json(["compile", *recipes, *written], progress)["program"])


def run(
    model: PathLike,
    inputs: Optional[Mapping[str, Any]] = None,
    *,
    method: str = "forward",
    data: Iterable[PathLike] = (),
    partition: Optional[str] = None,
    threads: Optional[int] = None,
    options: Optional[Mapping[str, Any]] = None,
    progress: bool = False,
    arguments: Sequence[str] = (),
) -> dict[str, Any]:
    """Runs a program file or a model once, in a process of its own; returns ``output_0``, ... as NumPy arrays.

    ``inputs`` are tensors by name. ``Runtime.load`` runs a program file often, in this process.
    """
    with _Shared((), options, None, arguments) as shared, tempfile.TemporaryDirectory() as folder:
        words = ["run", os.fspath(model), "--method", method, "--outputs", os.path.join(folder, "outputs.safetensors")]
        if inputs:
            words += ["--inputs", os.path.join(folder, "inputs.safetensors")]
            tensors.write(words[-1], inputs)
        for path in data:
            words += ["--data", os.fspath(path)]
        words += [] if partition is None else ["--partition", partition]
        words += [] if threads is None else ["--threads", str(threads)]
        shared.json(words, progress)
        return tensors.read(os.path.join(folder, "outputs.safetensors"))


class _Shared:
    """The global options of a command, and a folder for files that the command reads."""

    def __init__(
        self,
        target: Union[PathLike, Sequence[PathLike]],
        options: Optional[Mapping[str, Any]],
        out: Optional[PathLike],
        arguments: Sequence[str],
    ) -> None:
        self.words = [word for name in _texts(target) for word in ("--target", name)]
        self.words += [word for key, value in (options or {}).items() for word in ("--set", f"{key}={_yaml(value)}")]
        self.words += [] if out is None else ["--out", os.fspath(out)]
        self.words += list(arguments)

    def __enter__(self) -> "_Shared":
        self.folder = tempfile.TemporaryDirectory()
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()

    def recipes(
        self,
        recipe: Union[PathLike, Sequence[PathLike]],
        only: Union[str, Sequence[str]],
        partition: Optional[str],
        quantize: Optional[str],
        calibrate: Union[None, PathLike, Mapping[str, Any]],
    ) -> list[str]:
        words = [*_texts(recipe)]
        words += [word for unit in _texts(only) for word in ("--only", unit)]
        words += [] if partition is None else ["--partition", partition]
        words += [] if quantize is None else ["--quantize", quantize]
        if isinstance(calibrate, Mapping):
            path = os.path.join(self.folder.name, "calibration.safetensors")
            tensors.write(path, calibrate)
            calibrate = path
        return words + ([] if calibrate is None else ["--calibrate", os.fspath(calibrate)])

    def json(self, words: Sequence[str], progress: bool) -> dict[str, Any]:
        """Runs the command and returns its result."""
        command = [str(find()), *words, *self.words, "--output", "json"]
        ended = _finish(command, progress)
        try:
            result: dict[str, Any] = json.loads(ended.stdout) if ended.stdout.strip() else {}
        except ValueError:
            result = {}
        if ended.returncode != 0 or not result.get("ok", True):
            found = [_diagnostic(raw) for raw in result.get("diagnostics", [])]
            raise CommandError(ended.returncode, found, ended.stderr or ended.stdout)
        return result


def _finish(command: Sequence[str], progress: bool) -> "subprocess.CompletedProcess[str]":
    """Runs a command to its end. Ctrl-C ends the command, which removes unfinished files, and then raises."""
    words = list(command) if progress else [*command, *(["--progress", "none"] if len(command) > 2 else [])]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=None if progress else subprocess.PIPE, encoding="utf-8", errors="replace")
    try:
        stdout, stderr = process.communicate()
    except BaseException:
        # Windows has no such signal for another process; Ctrl-C of a console reaches both.
        process.terminate() if os.name == "nt" else process.send_signal(signal.SIGINT)
        process.communicate()
        raise
    return subprocess.CompletedProcess(words, process.returncode, stdout, stderr or "")


def _texts(given: Union[PathLike, Sequence[PathLike]]) -> Sequence[str]:
    return [os.fspath(text) for text in ([given] if isinstance(given, (str, os.PathLike)) else given)]


def _yaml(value: Any) -> str:
    return os.fspath(value) if isinstance(value, (str, os.PathLike)) else json.dumps(value)


def _deployment(result: dict[str, Any]) -> Deployment:
    return Deployment(
        units=tuple(_unit(raw) for raw in result["units"]),
        diagnostics=tuple(_diagnostic(raw) for raw in result.get("diagnostics", [])),
    )


def _unit(raw: dict[str, Any]) -> Unit:
    files = tuple(OutputFile(Path(file["path"]), file["size"], file["digest"]) for file in raw["files"])
    return Unit(
        recipe=raw["recipe"],
        target=raw["target"],
        files=files,
        verification=raw["verification"],
        sizes=raw["sizes"],
        cost=raw["cost"],
        stages=tuple(raw["stages"]),
        notes=tuple(raw["notes"]),
        raw=raw,
    )


def _diagnostic(raw: dict[str, Any]) -> Diagnostic:
    span = raw.get("span") or {}
    start = span.get("start") or {}
    # A place on the command line that this module wrote tells nothing.
    parts = (span["file"], start.get("line"), start.get("column")) if span.get("file") else ()
    place = ":".join(str(part) for part in parts if part is not None)
    help = raw.get("help")
    lines = tuple(line for line in [help, *raw.get("notes", [])] if line)
    return Diagnostic(raw["severity"], raw["code"], raw["message"], place or None, lines, raw)
