"""Calls a function of the user's, exports the module that it returns, and notes what was read on the way.

`export.py probe ANSWER` writes what the interpreter says about itself; `export.py export REQUEST` does the work. Both are
JSON files; `python/protocol.rs` is the other side.
"""

import contextlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import os
import random
import site
import stat
import sys
import sysconfig
import tempfile
import traceback

# Exit statuses; `python/protocol.rs` gives them their meaning.
RAISED, NO_FUNCTION, NOT_A_MODEL, NO_TORCH, NOT_EXPORTED = 10, 11, 12, 13, 14

# Where the machine keeps its own files: what is read there is the machine's, not the project's.
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys", "/dev", "/run")
PROJECT_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")


def installed_folders():
    """The folders that belong to the interpreter and to what is installed for it."""
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders.update(site.getsitepackages())
    if site.ENABLE_USER_SITE:
        folders.add(site.getusersitepackages())
    return sorted(os.path.abspath(folder) for folder in folders)


def is_below(path, folders):
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)


class Reads:
    """What the export reads: modules as they were compiled, files as they were when they were opened."""

    def __init__(self, script):
        self.installed = installed_folders()
        self.project = project_root(os.path.dirname(script))
        self.modules, self.files, self.written = {}, {}, set()

    def is_ours(self, path):
        if is_below(path, self.installed):
            return False
        if is_below(path, [self.project]):
            return True
        foreign = [*SYSTEM, os.path.abspath(sys.prefix), os.path.abspath(tempfile.gettempdir())]
        return not is_below(path, foreign)

    def opened(self, event, arguments):
        """Sees every file that Python opens (PEP 578)."""
        if event != "open" or not isinstance(arguments[0], (str, bytes, os.PathLike)):
            return
        path = os.path.abspath(os.fsdecode(arguments[0]))
        if writes(arguments[1], arguments[2]):
            self.written.add(path)
        elif path not in self.files and not path.endswith(".pyc") and self.is_ours(path):
            self.note(path)

    def note(self, path):
        try:
            found = os.stat(path)
        except OSError:
            return
        if stat.S_ISREG(found.st_mode):
            self.files[path] = (found.st_size, found.st_mtime_ns)

    def name(self, path):
        """A path that is the same in every checkout, where it is in the project."""
        if is_below(path, [self.project]):
            return os.path.relpath(path, self.folder).replace(os.sep, "/")
        return path

    def answer(self, script, folder):
        """What the other side is told; the bytes of modules become files of `folder`."""
        self.folder = os.path.dirname(script)
        for module in list(sys.modules.values()):
            # Modules that another loader brought, as editable installs have one. Some modules only claim a file.
            path = getattr(module, "__file__", None)
            if path and path != __file__ and path not in self.modules and os.path.isabs(path) and os.path.isfile(path):
                if path.endswith(".py") and self.is_ours(path):
                    with open(path, "rb") as source:
                        self.modules[path] = source.read()
        modules = []
        for index, (path, source) in enumerate(sorted(self.modules.items())):
            with open(os.path.join(folder, f"module-{index}"), "wb") as copy:
                copy.write(source)
            modules.append({"name": self.name(path), "copy": f"module-{index}"})
        files = [
            {"name": self.name(path), "size": size, "modified_ns": modified}
            for path, (size, modified) in sorted(self.files.items())
            if path not in self.modules and path not in self.written
        ]
        return {"modules": modules, "files": files, "distributions": imported_distributions()}


def writes(mode, flags):
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool((flags or 0) & (os.O_WRONLY | os.O_RDWR))


def project_root(folder):
    """The nearest folder that looks like a project's root; the script's own where none does."""
    above = folder
    while True:
        if any(os.path.exists(os.path.join(above, mark)) for mark in PROJECT_MARKS):
            return above
        if os.path.dirname(above) == above:
            return folder
        above = os.path.dirname(above)


def imported_distributions():
    """The installed distributions of which something was imported."""
    owners = importlib.metadata.packages_distributions()
    roots = {name.partition(".")[0] for name in sys.modules}
    return sorted({owner for root in roots for owner in owners.get(root, ())})


class RecordingLoader(importlib.machinery.SourceFileLoader):
    """Compiles a module from its source, never from a cache, and keeps the very bytes that it compiled."""

    reads = None

    def get_code(self, fullname):
        path = os.path.abspath(self.get_filename(fullname))
        source = self.get_data(path)
        self.reads.modules[path] = source
        return self.source_to_code(source, path)


class RecordingFinder(importlib.abc.MetaPathFinder):
    """Finds modules as Python does, and has those of the project recorded."""

    def __init__(self, reads):
        self.reads = reads

    def find_spec(self, fullname, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec and type(spec.loader) is importlib.machinery.SourceFileLoader:
            if self.reads.is_ours(os.path.abspath(spec.origin)):
                spec.loader = RecordingLoader(spec.loader.name, spec.loader.path)
        return spec


def fail(status, message=None):
    if message:
        print(message, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def own_traceback(error):
    """What went wrong in the user's files, without the lines of this one."""
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)


def seeded(torch):
    """Random weights are the same at every export."""
    random.seed(0)
    torch.manual_seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)


def functions(module):
    """The functions that a script defines, in words."""
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__)
    names = sorted(name for name in own if callable(vars(module)[name]) and not isinstance(vars(module)[name], type))
    return f"the functions {', '.join(names)}" if names else "no function"


def call(script, request):
    """What the user's function returns."""
    name = os.path.splitext(os.path.basename(script))[0]
    spec = importlib.util.spec_from_file_location(name, script, loader=RecordingLoader(name, script))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        own_traceback(error)
        fail(RAISED)
    function = getattr(module, request["function"], None)
    if not callable(function):
        fail(NO_FUNCTION, f"{script} defines {functions(module)}")
    try:
        return function(**request["arguments"])
    except (Exception, SystemExit) as error:
        own_traceback(error)
        fail(RAISED)


def parts(result):
    """Module, arguments, keyword arguments and dynamic shapes out of what the function returned."""
    if isinstance(result, dict):
        unknown = sorted(set(result) - {"model", "args", "kwargs", "dynamic_shapes"})
        if unknown or "model" not in result:
            fail(NOT_A_MODEL, f"a dict has model, and may have args, kwargs and dynamic_shapes; this one has {sorted(result)}")
        return result["model"], result.get("args", ()), result.get("kwargs"), result.get("dynamic_shapes")
    if isinstance(result, tuple) and 2 <= len(result) <= 4:
        return (*result, None, None)[:4]
    fail(NOT_A_MODEL, f"the function returned {type(result).__name__}")


def recurrent_shapes(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """The results of a recurrent layer, without elements."""
    states = [hx] if hasattr(hx, "shape") else list(hx)
    width = (1 + bidirectional) * states[0].shape[2]
    return input.new_empty((*input.shape[:2], width)), *(state.new_empty(state.shape) for state in states)


@contextlib.contextmanager
def recurrent_layers_stay_whole(torch):
    """Allows a dynamic time: PyTorch's own rule for the shapes of recurrent layers unrolls the time, which fixes its size."""
    aten, keys = torch.ops.aten, torch._C.DispatchKey
    functions = [aten.lstm.input, aten.gru.input, aten.rnn_tanh.input, aten.rnn_relu.input]
    saved = [dict(function.py_kernels) for function in functions]
    for function in functions:
        for key in (keys.CompositeImplicitAutograd, keys.Autograd):
            function.py_kernels[key] = recurrent_shapes
        function._dispatch_cache.clear()
    try:
        yield
    finally:
        for function, kernels in zip(functions, saved):
            function.py_kernels.clear()
            function.py_kernels.update(kernels)
            function._dispatch_cache.clear()


def exported(torch, result):
    if isinstance(result, torch.export.ExportedProgram):
        return result
    model, args, kwargs, dynamic_shapes = parts(result)
    if not isinstance(model, torch.nn.Module):
        fail(NOT_A_MODEL, f"what stands in the model's place is a {type(model).__name__}, not a torch.nn.Module")
    args = args if isinstance(args, tuple) else (args,)
    whole = recurrent_layers_stay_whole(torch) if dynamic_shapes else contextlib.nullcontext()
    try:
        with whole:
            return torch.export.export(model, args, kwargs or {}, dynamic_shapes=dynamic_shapes)
    except Exception as error:
        own_traceback(error)
        fail(NOT_EXPORTED)


def export(request):
    script, folder = request["script"], request["folder"]
    reads = Reads(script)
    RecordingLoader.reads = reads
    path_finder = sys.meta_path.index(importlib.machinery.PathFinder)
    sys.meta_path.insert(path_finder, RecordingFinder(reads))
    sys.path[0] = os.path.dirname(script)
    sys.argv = [script]
    os.chdir(os.path.dirname(script))
    try:
        import torch
    except ImportError as error:
        fail(NO_TORCH, str(error))
    sys.addaudithook(reads.opened)
    seeded(torch)
    program = exported(torch, call(script, request))
    torch.export.save(program, os.path.join(folder, "model.pt2"))
    answer = reads.answer(script, folder)
    with open(os.path.join(folder, "answer.json"), "w", encoding="utf-8") as file:
        json.dump(answer, file)


def probe(path):
    distributions = {}
    for found in importlib.metadata.distributions():
        name = found.metadata["Name"]
        if name:
            distributions.setdefault(name, found.version)
    watched = [sys.executable, os.path.realpath(sys.executable), os.path.join(sys.prefix, "pyvenv.cfg"), *installed_folders()]
    answer = {
        "version": f"{sys.implementation.name} {'.'.join(map(str, sys.version_info[:3]))}",
        "distributions": distributions,
        "watched": watched,
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    if sys.argv[1] == "probe":
        probe(sys.argv[2])
    else:
        with open(sys.argv[2], encoding="utf-8") as file:
            request = json.load(file)
        export(request)
    # Nothing that is torn down at the end, threads above all, may turn a success into a failure.
    fail(0)
