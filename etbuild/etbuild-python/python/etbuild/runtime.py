"""Program files in this process.

The names of ``executorch.runtime`` work, so that code ports by changing the import::

    from etbuild.runtime import Runtime

    program = Runtime.get().load_program("model.pte")
    outputs = program.load_method("forward").execute([inputs])

The shorter form is ``Runtime.load("model.pte").method("forward")(inputs)``.
"""

from __future__ import annotations

import contextlib
import enum
import os
import threading
from pathlib import Path
from typing import Any, BinaryIO, Iterable, Optional, Union

try:
    from etbuild import _native
except ImportError as error:
    message = f"the extension module of etbuild cannot be loaded ({error}): its wheels are for CPython 3.11 and later"
    raise ImportError(message) from error

__all__ = [
    "BackendRegistry",
    "Method",
    "MethodMeta",
    "OperatorRegistry",
    "Program",
    "Runtime",
    "TensorInfo",
    "Verification",
]

PathLike = Union[str, "os.PathLike[str]"]


class Verification(enum.Enum):
    """How thoroughly a program file is checked at its load.

    Every access to a program file is checked, whatever the level: both levels are the same here.
    """

    Minimal = 0
    InternalConsistency = 1


#: The names of element types as ExecuTorch prints them, by number.
_SCALAR_TYPES = {
    0: "Byte",
    1: "Char",
    2: "Short",
    3: "Int",
    4: "Long",
    5: "Half",
    6: "Float",
    7: "Double",
    9: "ComplexFloat",
    10: "ComplexDouble",
    11: "Bool",
    15: "BFloat16",
}


class TensorInfo:
    """The type of a tensor of a method."""

    __slots__ = ("_facts",)

    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts

    def sizes(self) -> tuple[int, ...]:
        """The size of each dimension; the upper bounds of a dynamic shape."""
        return tuple(self._facts["sizes"])

    def dtype(self) -> int:
        """The number of the type of the elements in ExecuTorch's ``schema/scalar_type.fbs``."""
        number: int = self._facts["scalar_type"]
        return number

    def dtype_name(self) -> str:
        """The name of the type of the elements in PyTorch, such as ``float32``."""
        name: str = self._facts["dtype"]
        return name

    def is_dynamic(self) -> bool:
        """Whether smaller sizes are allowed."""
        return bool(self._facts["dynamic"])

    def is_memory_planned(self) -> bool:
        """Whether the program file plans the memory of the tensor."""
        return bool(self._facts["planned"])

    def nbytes(self) -> int:
        """The size in bytes."""
        size: int = self._facts["nbytes"]
        return size

    def __repr__(self) -> str:
        sizes = ", ".join(str(size) for size in self.sizes())
        dtype = _SCALAR_TYPES[self.dtype()]
        return (
            f"TensorInfo(sizes=[{sizes}], dtype={dtype}, "
            f"is_memory_planned={self.is_memory_planned()}, nbytes={self.nbytes()})"
        )


class MethodMeta:
    """The inputs and outputs of a method, which need no load."""

    __slots__ = ("_attributes", "_inputs", "_name", "_names", "_outputs")

    def __init__(self, name: str, facts: dict[str, Any]) -> None:
        self._name = name
        self._names: list[str] = facts["input_names"]
        self._inputs = [None if found is None else TensorInfo(found) for found in facts["inputs"]]
        self._attributes: list[tuple[str, dict[str, Any]]] = facts["attributes"]
        self._outputs = [None if found is None else TensorInfo(found) for found in facts["outputs"]]

    def name(self) -> str:
        """The name of the method, such as ``forward``."""
        return self._name

    def input_names(self) -> list[str]:
        """The names of the inputs; empty for a file without names, as ExecuTorch's exporter writes."""
        return list(self._names)

    def num_inputs(self) -> int:
        """The number of inputs."""
        return len(self._inputs)

    def num_outputs(self) -> int:
        """The number of outputs."""
        return len(self._outputs)

    def num_attributes(self) -> int:
        """The number of named states, such as mutable buffers."""
        return len(self._attributes)

    def attribute_names(self) -> list[str]:
        """The names of the states."""
        return [name for name, _ in self._attributes]

    def attribute_tensor_meta(self, index: int) -> TensorInfo:
        """The type of a state; ``IndexError`` for an index out of range."""
        return _tensor([TensorInfo(facts) for _, facts in self._attributes], index, "attribute")

    def input_tensor_meta(self, index: int) -> TensorInfo:
        """The type of an input, a tensor; ``IndexError`` for an index out of range."""
        return _tensor(self._inputs, index, "input")

    def output_tensor_meta(self, index: int) -> TensorInfo:
        """The type of an output, a tensor; ``IndexError`` for an index out of range."""
        return _tensor(self._outputs, index, "output")

    def __repr__(self) -> str:
        inputs = [repr(found) for found in self._inputs]
        outputs = [repr(found) for found in self._outputs]
        return (
            f"MethodMeta(name='{self._name}', num_inputs={len(inputs)}, input_tensor_meta={inputs}, "
            f"num_outputs={len(outputs)}, output_tensor_meta={outputs})"
        )


def _tensor(found: list[Optional[TensorInfo]], index: int, kind: str) -> TensorInfo:
    if not 0 <= index < len(found):
        raise IndexError(f"{kind} {index} of {len(found)}")
    tensor = found[index]
    if tensor is None:
        raise RuntimeError(f"{kind} {index} is no tensor")
    return tensor


class Method(_native.Method):
    """A loaded method: ``method(*inputs)`` or ``method.execute(inputs)``.

    Inputs are NumPy arrays, PyTorch tensors, and everything else with the buffer protocol or DLPack; a number or text confirms an
    input that the export fixed. Outputs come from the library of the first tensor. Other threads run Python meanwhile; calls of
    the methods of one program take turns.
    """

    _program: "Program"
    _name: str

    def __new__(cls, program: "Program", name: str) -> "Method":
        method = super().__new__(cls, program._native, name)
        method._program, method._name = program, name
        return method

    @property
    def metadata(self) -> MethodMeta:
        """The inputs and outputs of the method."""
        return self._program.metadata(self._name)

    def __repr__(self) -> str:
        return f"<etbuild method {self._name}>"


class Program:
    """A program file in memory."""

    def __init__(self, native: _native.Program, keeps_tensors: bool = False) -> None:
        self._native = native
        self._keeps_tensors = keeps_tensors
        self._names = native.method_names()
        self._methods: dict[str, Method] = {}
        self._lock = threading.Lock()

    @property
    def method_names(self) -> set[str]:
        """The names of the methods."""
        return set(self._names)

    def method(self, name: str = "forward") -> Method:
        """Loads a method, unless it is loaded."""
        with self._lock:
            if name not in self._methods:
                self._methods[name] = Method(self, name)
            return self._methods[name]

    def load_method(self, name: str) -> Method:
        """The same; a name that the program does not have is a ``KeyError``."""
        if name not in self._names:
            raise KeyError(name)
        return self.method(name)

    def metadata(self, method_name: str) -> MethodMeta:
        """The inputs and outputs of a method, which is not loaded for it."""
        return MethodMeta(method_name, self._native.describe(method_name))

    def has_etdump(self) -> bool:
        """Whether executions are recorded for an ETDump."""
        return self._native.has_etdump()

    def write_etdump_result_to_file(
        self, etdump_path: PathLike, debug_buffer_path: Optional[PathLike] = None
    ) -> None:
        """Writes the executions since the load, or since the last call, as an ETDump, and their tensors as its debug buffer.

        A program with a debug buffer of 0 bytes keeps no tensors, and writes no second file. ``etbuild.Error`` for a program that was loaded
        without ``enable_etdump``.
        """
        if not self.has_etdump():
            self._native.etdump()  # Says why there is none.
        has_buffer = debug_buffer_path is not None and self._keeps_tensors
        paths = [etdump_path, debug_buffer_path] if has_buffer else [etdump_path]
        with contextlib.ExitStack() as files:
            # A path that cannot be written is refused before the recording is taken.
            opened = [files.enter_context(open(path, "ab")) for path in paths]
            contents = self._native.etdump()
            # The buffer first: a dump never lies beside the buffer of another.
            for file, content in reversed(list(zip(opened, contents))):
                file.truncate(0)
                file.write(content)

    def __repr__(self) -> str:
        return f"<etbuild program with {', '.join(self._names)}>"


class BackendRegistry:
    """The backends that execute delegates of program files."""

    @property
    def registered_backend_names(self) -> list[str]:
        """The names of the backends."""
        return _native.backends()

    def is_available(self, backend_name: str) -> bool:
        """Whether there is a backend of this name."""
        return backend_name in _native.backends()


class OperatorRegistry:
    """The operators with a portable kernel."""

    @property
    def operator_names(self) -> set[str]:
        """The names, such as ``aten::add.out``."""
        return set(_native.operators())


class Runtime:
    """Loads program files."""

    _instance: Optional["Runtime"] = None

    def __init__(self) -> None:
        self.backend_registry = BackendRegistry()
        self.operator_registry = OperatorRegistry()

    @classmethod
    def get(cls) -> "Runtime":
        """The runtime; the same object each time."""
        if Runtime._instance is None:
            Runtime._instance = Runtime()
        return Runtime._instance

    @staticmethod
    def load(
        program: Union[bytes, bytearray, memoryview, PathLike],
        *,
        data: Iterable[Union[bytes, PathLike]] = (),
        threads: int = 0,
        enable_etdump: bool = False,
        debug_buffer_size: int = 0,
    ) -> Program:
        """Loads a program file: a path, which is mapped, or its bytes, which are copied.

        ``data`` are files with weights (``.ptd``), or their bytes. ``threads`` is the largest number of threads of backends, 0 for a thread per
        physical core, at most 16. ``etbuild.Error`` for a file that is no program.

        With ``enable_etdump``, ``Program.write_etdump_result_to_file`` writes what was executed. A debug buffer of more than 0 bytes keeps the
        tensors that portable kernels write; an execution whose tensors do not fit raises ``etbuild.Error``.
        """
        files = [content if isinstance(content, bytes) else Path(content) for content in data]
        buffer = debug_buffer_size if enable_etdump else None
        if isinstance(program, (bytes, bytearray, memoryview)):
            native = _native.Program.from_bytes(bytes(program), files, threads, buffer)
        else:
            native = _native.Program.open(Path(program), files, threads, buffer)
        return Program(native, bool(buffer))

    def load_program(
        self,
        data: Union[bytes, bytearray, BinaryIO, PathLike],
        *,
        verification: Verification = Verification.InternalConsistency,
        enable_etdump: bool = False,
        debug_buffer_size: int = 0,
        data_path: Optional[PathLike] = None,
    ) -> Program:
        """Loads a program from a path, bytes, or a file that is open for reading."""
        files = [] if data_path is None else [data_path]
        if hasattr(data, "read"):
            data = data.read()
        if not isinstance(data, (str, os.PathLike, bytes, bytearray)):
            raise TypeError(f"a program is a path, bytes or an open file, not {type(data).__name__}")
        return self.load(data, data=files, enable_etdump=enable_etdump, debug_buffer_size=debug_buffer_size)
