"""The names of ``executorch.extension.pybindings.portable_lib``, for code that loads programs through them."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from etbuild import _native
from etbuild.runtime import Method, MethodMeta, Program, Runtime, Verification

__all__ = [
    "BundledModule",
    "ExecuTorchMethod",
    "ExecuTorchModule",
    "ExecuTorchProgram",
    "MethodMeta",
    "Verification",
    "_get_operator_names",
    "_get_registered_backend_names",
    "_is_available",
    "_load_bundled_program_from_buffer",
    "_load_for_executorch",
    "_load_for_executorch_from_buffer",
    "_load_for_executorch_from_bundled_program",
    "_load_program",
    "_load_program_from_buffer",
]


class ExecuTorchMethod:
    """A loaded method."""

    def __init__(self, method: Method) -> None:
        self._method = method

    def set_inputs(self, inputs: Sequence[Any]) -> None:
        """Sets the inputs."""
        self._method.set_inputs(inputs)

    def execute(self) -> None:
        """Runs the method on the inputs that were set."""
        self._method.run()

    def get_outputs(self, clone_outputs: bool = True) -> list[Any]:
        """The outputs of the last execution. Outputs are copies in any case."""
        return self._method.outputs()

    def call(self, inputs: Any = (), clone_outputs: bool = True) -> list[Any]:
        """Runs the method on a sequence of inputs, or on the only input."""
        return self._method.execute(inputs)

    __call__ = call

    def method_meta(self) -> MethodMeta:
        """The inputs and outputs."""
        return self._method.metadata

    def get_attribute(self, name: str) -> Any:
        """A copy of the state of this name, as a tensor of PyTorch."""
        return self._method.attribute(name).torch()


class ExecuTorchProgram:
    """A program file in memory."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._names = program._names

    def num_methods(self) -> int:
        """The number of methods."""
        return len(self._names)

    def get_method_name(self, method_index: int) -> str:
        """The name of a method; ``RuntimeError`` for an index out of range."""
        if not 0 <= method_index < len(self._names):
            raise RuntimeError(f"method {method_index} of {len(self._names)}")
        return self._names[method_index]

    def load_method(self, method_name: str) -> ExecuTorchMethod:
        """Loads a method."""
        return ExecuTorchMethod(self._program.method(method_name))

    def method_meta(self, method_name: str) -> MethodMeta:
        """The inputs and outputs of a method."""
        return self._program.metadata(method_name)

    def has_etdump(self) -> bool:
        """Whether executions are recorded for an ETDump."""
        return self._program.has_etdump()

    def write_etdump_result_to_file(self, path: str, debug_buffer_path: Optional[str] = None) -> None:
        """Writes the executions since the load, or since the last call, as an ETDump, and their tensors as its debug buffer."""
        self._program.write_etdump_result_to_file(path, debug_buffer_path)


class ExecuTorchModule:
    """A program whose methods are loaded at their first use."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def run_method(self, method_name: str, inputs: Any = (), clone_outputs: bool = True) -> list[Any]:
        """Runs a method on a sequence of inputs, or on the only input."""
        return self._program.method(method_name).execute(inputs)

    plan_execute = run_method

    def forward(self, inputs: Any = (), clone_outputs: bool = True) -> list[Any]:
        """Runs ``forward``."""
        return self.run_method("forward", inputs)

    __call__ = forward

    def method_meta(self, method_name: str) -> MethodMeta:
        """The inputs and outputs of a method."""
        return self._program.metadata(method_name)

    def method_names(self) -> list[str]:
        """The names of the methods."""
        return list(self._program._names)

    def has_etdump(self) -> bool:
        """Whether executions are recorded for an ETDump."""
        return self._program.has_etdump()

    def write_etdump_result_to_file(self, path: str, debug_buffer_path: Optional[str] = None) -> None:
        """Writes the executions since the load, or since the last call, as an ETDump, and their tensors as its debug buffer."""
        self._program.write_etdump_result_to_file(path, debug_buffer_path)


class BundledModule:
    """A bundled program: a program with test cases."""

    def __init__(self, content: bytes) -> None:
        self._content = content


def _program(
    program: Union[str, bytes], data: Union[None, str, bytes], enable_etdump: bool, debug_buffer_size: int
) -> Program:
    files = [] if data is None else [data]
    return Runtime.load(program, data=files, enable_etdump=enable_etdump, debug_buffer_size=debug_buffer_size)


def _load_for_executorch(
    program_path: str,
    data_path: Optional[str] = None,
    enable_etdump: bool = False,
    debug_buffer_size: int = 0,
    program_verification: Verification = Verification.InternalConsistency,
) -> ExecuTorchModule:
    return ExecuTorchModule(_program(program_path, data_path, enable_etdump, debug_buffer_size))


def _load_for_executorch_from_buffer(
    buffer: bytes,
    data_map_buffer: Optional[bytes] = None,
    enable_etdump: bool = False,
    debug_buffer_size: int = 0,
    program_verification: Verification = Verification.InternalConsistency,
) -> ExecuTorchModule:
    return ExecuTorchModule(_program(buffer, data_map_buffer, enable_etdump, debug_buffer_size))


def _load_bundled_program_from_buffer(buffer: bytes, non_const_pool_size: int = 0) -> BundledModule:
    return BundledModule(buffer)


def _load_for_executorch_from_bundled_program(
    module: BundledModule,
    data_map_buffer: Union[None, str, bytes] = None,
    enable_etdump: bool = False,
    debug_buffer_size: int = 0,
) -> ExecuTorchModule:
    return ExecuTorchModule(_program(module._content, data_map_buffer, enable_etdump, debug_buffer_size))


def _load_program(
    path: str,
    enable_etdump: bool = False,
    debug_buffer_size: int = 0,
    program_verification: Verification = Verification.Minimal,
    data_path: Optional[str] = None,
) -> ExecuTorchProgram:
    return ExecuTorchProgram(_program(path, data_path, enable_etdump, debug_buffer_size))


def _load_program_from_buffer(
    buffer: bytes,
    enable_etdump: bool = False,
    debug_buffer_size: int = 0,
    program_verification: Verification = Verification.Minimal,
    data_path: Optional[str] = None,
) -> ExecuTorchProgram:
    return ExecuTorchProgram(_program(buffer, data_path, enable_etdump, debug_buffer_size))


def _is_available(backend_name: str) -> bool:
    return backend_name in _native.backends()


def _get_operator_names() -> list[str]:
    return _native.operators()


def _get_registered_backend_names() -> list[str]:
    return _native.backends()
