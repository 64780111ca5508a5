"""Builds TensorFlow Lite Micro for a core, with CMSIS-NN where that has kernels, and firmware of a .tflite file.

The flags are those of TensorFlow Lite Micro's own makefiles (`cortex_m_generic` and `riscv32_generic`, BUILD_TYPE=release): -Os for the
framework, -O2 for the kernels, error strings stripped, a resolver with the int8 kernels of the model only.
"""

import concurrent.futures
import dataclasses
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
JOBS = 2


@dataclasses.dataclass(frozen=True)
class Architecture:
    """What the cores of an architecture have in common: the prefix of its tools, flags of the compiler and of the linker, kernels, emulator."""

    prefix: str
    flags: tuple
    link: tuple
    cmsis_nn: bool
    emulator: str


# Debian has no libstdc++ for bare RISC-V: the peer uses headers alone, which are those for Arm.
HEADERS = pathlib.Path("/usr/include/newlib/c++/12.2.1")

ARM = Architecture(
    "arm-none-eabi-",
    ("-mthumb", "-DCMSIS_NN", "-DARM_NN_ENABLE_F16=0", "-DARM_NN_ENABLE_F32=0"),
    ("-specs=nano.specs", "-specs=nosys.specs", "-lm"),
    True,
    "qemu-system-arm",
)
RISCV = Architecture(
    "riscv64-unknown-elf-",
    ("-march=rv32imac", "-mabi=ilp32", "-mcmodel=medany", "-mno-relax", "-fno-delete-null-pointer-checks")
    + ("-DTF_LITE_USE_GLOBAL_CMATH_FUNCTIONS", "-DTF_LITE_USE_GLOBAL_MIN", "-DTF_LITE_USE_GLOBAL_MAX", "-specs=picolibc.specs"),
    ("-nostdlib", "-lm", "-lc", "-lgcc"),
    False,
    "qemu-system-riscv32",
)


@dataclasses.dataclass(frozen=True)
class Core:
    """A core: the machine of QEMU that has it, where its memories lie, and its names for gcc and rustc."""

    name: str
    machine: str
    flags: tuple
    triple: str
    cpu: str | None
    flash: int = 0
    ram: int = 0x2000_0000
    ram_size: int = 4 << 20
    architecture: Architecture = ARM
    arguments: tuple = ()


CORES = {
    core.name: core
    for core in [
        # The networks need more memory than the micro:bit has, the one machine of QEMU with a Cortex-M0: a Cortex-M3 runs its code.
        Core("m0", "mps2-an385", ("-mcpu=cortex-m0", "-mfloat-abi=soft"), "thumbv6m-none-eabi", "cortex-m0"),
        Core("m3", "mps2-an385", ("-mcpu=cortex-m3", "-mfloat-abi=soft"), "thumbv7m-none-eabi", "cortex-m3"),
        Core("m4", "mps2-an386", ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"), "thumbv7em-none-eabi", "cortex-m4"),
        Core("m33", "mps2-an505", ("-mcpu=cortex-m33", "-mfloat-abi=hard"), "thumbv8m.main-none-eabi", "cortex-m33", 0x1000_0000, 0x3800_0000),
        Core("m55", "mps3-an547", ("-mcpu=cortex-m55", "-mfloat-abi=hard"), "thumbv8m.main-none-eabi", "cortex-m55", ram_size=512 << 10),
        Core(
            "rv32", "virt", (), "riscv32imac-unknown-none-elf", None, 0x8000_0000, 0x8080_0000, architecture=RISCV, arguments=("-bios", "none")
        ),
    ]
}

COMMON = """-ffunction-sections -fdata-sections -fno-unwind-tables -fno-asynchronous-unwind-tables -fomit-frame-pointer
 -funsigned-char -fmessage-length=0 -DTF_LITE_STATIC_MEMORY -DTF_LITE_DISABLE_X86_NEON -DNDEBUG -DTF_LITE_STRIP_ERROR_STRINGS -w""".split()
CXX = "-std=c++17 -fno-rtti -fno-exceptions -fno-threadsafe-statics".split()
KERNELS = "conv depthwise_conv fully_connected softmax pooling add reshape".split()
CMSIS_NN = "BasicMathFunctions ConvolutionFunctions FullyConnectedFunctions NNSupportFunctions PoolingFunctions SoftmaxFunctions TransposeFunctions".split()


def run(*command):
    """Runs a command; raises with its output where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(" ".join(map(str, command)) + "\n" + done.stdout + done.stderr)
    return done.stdout


def sources(root, architecture):
    """The files of the library, each with its level of optimization."""
    lite = root / "tflite-micro/tensorflow/lite"
    micro = lite / "micro"
    skipped = ("_test.cc", "test_helpers", "fake_micro", "mock_micro", "recording_", "hexdump", "debug_log.cc", "kernel_runner")
    for folder in [micro, micro / "arena_allocator", micro / "memory_planner", micro / "tflite_bridge"]:
        for file in sorted(folder.glob("*.cc")):
            if not any(part in file.name for part in skipped) and "test" not in file.name:
                yield file, "-Os"
    framework = [*lite.glob("*.cc"), *(lite / "kernels").glob("*.cc"), *(lite / "kernels/internal").rglob("*.cc")]
    framework += [*(lite / "core").rglob("*.cc"), *(root / "tflite-micro/tensorflow/compiler").rglob("*.cc")]
    for file in framework:
        yield file, "-Os"
    kernels = micro / "kernels"
    for name in KERNELS:
        optimized = kernels / "cmsis_nn" / f"{name}.cc"
        yield (optimized if architecture.cmsis_nn and optimized.exists() else kernels / f"{name}.cc"), "-O2"
        if (kernels / f"{name}_common.cc").exists():
            yield kernels / f"{name}_common.cc", "-O2"
    for name in ["kernel_util.cc", "micro_tensor_utils.cc"]:
        yield kernels / name, "-O2"
    for name in CMSIS_NN if architecture.cmsis_nn else []:
        for file in sorted((root / "CMSIS-NN/Source" / name).glob("*.c")):
            if not file.stem.endswith(("_f16", "_f32", "_flt")):
                yield file, "-O2"


def includes(root, architecture):
    """Where the headers lie."""
    folders = ["tflite-micro", "flatbuffers/include", "gemmlowp", "ruy"]
    folders += ["CMSIS-NN", "CMSIS-NN/Include", "CMSIS_6/CMSIS/Core/Include"] if architecture.cmsis_nn else []
    headers = [] if architecture is ARM else ["-isystem", HEADERS, "-isystem", HEADERS / "arm-none-eabi"]
    return [f"-I{root / folder}" for folder in [*folders, "."]] + headers


def compile_file(file, level, core, root, target):
    """Compiles a file unless its object exists."""
    if not target.exists():
        cxx = file.suffix == ".cc"
        architecture = core.architecture
        tool = architecture.prefix + ("g++" if cxx else "gcc")
        flags = [*architecture.flags, *core.flags, *COMMON, *(CXX if cxx else ["-std=c17"]), level]
        run(tool, *flags, *includes(root, architecture), "-c", file, "-o", target)
    return target


def library(core, root, out):
    """Compiles the library for a core; returns its archive."""
    folder = out / core.name
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / "libpeer.a"
    if archive.exists():
        return archive
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        jobs = []
        for file, level in sources(root, core.architecture):
            target = folder / (str(file.relative_to(root)).replace("/", "-") + ".o")
            jobs.append(pool.submit(compile_file, file, level, core, root, target))
        objects = [job.result() for job in jobs]
    run(core.architecture.prefix + "ar", "rcs", archive, *objects)
    return archive


def firmware(core, root, out, model, arena):
    """Links the firmware of `model`, a .tflite file, with an arena of so many bytes; returns the path of the ELF file."""
    archive = library(core, root, out)
    folder = out / core.name / model.stem
    folder.mkdir(parents=True, exist_ok=True)
    script = link_script(core, folder)
    architecture = core.architecture
    flags = [*architecture.flags, *core.flags, *COMMON, *CXX, *includes(root, architecture), "-Os", f"-DARENA={arena}", f"-DMODEL=\"{model}\""]
    flags.append(f"-DOPERATORS={'+'.join(operators(model))}")
    elf = folder / f"{model.stem}.elf"
    command = [*flags, HERE / "main.cc", "-o", elf, f"-T{script}", "-nostartfiles"]
    run(architecture.prefix + "g++", *command, "-Wl,--gc-sections", archive, *architecture.link)
    return elf


def link_script(core, folder):
    """Writes the linker script of a core; returns its path."""
    script = folder / "link.ld"
    text = (HERE / "link.ld").read_text()
    for name in ["flash", "ram", "ram_size"]:
        text = text.replace(f"@{name}@", hex(getattr(core, name)))
    script.write_text(text)
    return script


def count_plugin(out):
    """Compiles the plugin of the emulator that counts instructions."""
    run("gcc", "-O2", "-shared", "-fPIC", "-Wl,--unresolved-symbols=ignore-all", HERE / "count.c", "-o", out / "libcount.so")


def operators(model):
    """The operators of a model, named in a text file beside it."""
    return [f"OP_{name}" for name in model.with_suffix(".ops").read_text().split()]
