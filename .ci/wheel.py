"""Packs an etbuild binary, the Python package and perhaps its extension module as a wheel, so that `pip install` and `uv tool install`
put the command on the PATH and the package on the path of imports.

    wheel.py BINARY TARGET FOLDER [--module LIBRARY] [--runtimes FOLDER]

LIBRARY is the compiled extension module, on Linux for one of the C libraries. Without it, the wheel has the command and the functions that call the command,
for every Python, and on Linux for every C library. The runtimes are those of `etbuild prebuild`; pip installs them in `share/etbuild/runtimes`. The bytes
depend on the files, the target, Cargo's metadata, the README and SOURCE_DATE_EPOCH alone. The
format: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""

import argparse
import base64
import hashlib
import json
import os
import re
import subprocess
import time
import zipfile
from pathlib import Path

# A static binary needs no C library, so it fulfils the oldest policies of glibc and of musl alike.
POLICIES = ["manylinux2014", "manylinux_2_17", "musllinux_1_1"]
# The policy of extension modules for musl, whose symbols have no versions.
MUSL_POLICY = "musllinux_1_2"
# The tags of other systems, by Rust target.
SYSTEMS = {
    "aarch64-apple-darwin": "macosx_11_0_arm64",
    "x86_64-apple-darwin": "macosx_11_0_x86_64",
    "x86_64-pc-windows-gnu": "win_amd64",
}
# The Python package.
PACKAGE = Path("etbuild/etbuild-python/python")
# The first Python for the package, and the first whose stable interface has the buffer protocol, for the extension module.
PACKAGE_PYTHON, MODULE_PYTHON = (3, 8), (3, 11)


def package():
    """What Cargo knows about etbuild."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    packages = json.loads(subprocess.check_output(command))["packages"]
    return next(package for package in packages if package["name"] == "etbuild")


def tags(target, module):
    """The Pythons, the interface and the platforms of a wheel."""
    machine, system = target.split("-")[0], SYSTEMS.get(target)
    if module is None:
        return "py3", "none", [system] if system else [f"{policy}_{machine}" for policy in POLICIES]
    return "cp{}{}".format(*MODULE_PYTHON), "abi3", [system or f"{c_library(module)}_{machine}"]


def c_library(module):
    """The policy of the C library that a library of Linux needs: of glibc, the newest version that one of its symbols has."""
    minors = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", module)]
    return f"manylinux_2_{max(minors)}" if minors else MUSL_POLICY


def texts(package, python, interface, platforms):
    """The metadata files, by name."""
    first = MODULE_PYTHON if interface == "abi3" else PACKAGE_PYTHON
    lines = "".join(f"Tag: {python}-{interface}-{platform}\n" for platform in platforms)
    wheel = f"Wheel-Version: 1.0\nGenerator: etbuild ({package['version']})\nRoot-Is-Purelib: false\n{lines}"
    metadata = (
        f"Metadata-Version: 2.4\nName: etbuild\nVersion: {package['version']}\n"
        f"Summary: {package['description']}\nLicense-Expression: {package['license']}\n"
        f"Requires-Python: >={'.'.join(map(str, first))}\nDescription-Content-Type: text/markdown\n\n"
    )
    with open("README.md", encoding="utf-8") as readme:
        return {"WHEEL": wheel, "METADATA": metadata + readme.read()}


def sources():
    """The files of the Python package, by name."""
    found = sorted(path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".pyi") or path.name == "py.typed")
    return {path.relative_to(PACKAGE).as_posix(): (path.read_bytes(), 0o644) for path in found}


def record(files):
    """The list of files with digests and sizes."""
    rows = []
    for name, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        rows.append(f"{name},sha256={digest},{len(content)}\n")
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=Path)
    parser.add_argument("target")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--module", type=Path)
    parser.add_argument("--runtimes", type=Path)
    arguments = parser.parse_args()
    etbuild = package()
    version = etbuild["version"]
    module = arguments.module and arguments.module.read_bytes()
    python, interface, platforms = tags(arguments.target, module)
    information = f"etbuild-{version}.dist-info"
    files = sources()
    if module:
        files["etbuild/_native.pyd" if "windows" in arguments.target else "etbuild/_native.abi3.so"] = (module, 0o755)
    files[f"etbuild-{version}.data/scripts/{arguments.binary.name}"] = (arguments.binary.read_bytes(), 0o755)
    for runtime in sorted(arguments.runtimes.iterdir()) if arguments.runtimes else []:
        files[f"etbuild-{version}.data/data/share/etbuild/runtimes/{runtime.name}"] = (runtime.read_bytes(), 0o755)
    for name, text in texts(etbuild, python, interface, platforms).items():
        files[f"{information}/{name}"] = (text.encode(), 0o644)
    rows = record(files) + [f"{information}/RECORD,,\n"]
    files[f"{information}/RECORD"] = ("".join(rows).encode(), 0o644)
    date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    path = arguments.folder / f"etbuild-{version}-{python}-{interface}-{'.'.join(platforms)}.whl"
    level = int(os.environ.get("ETBUILD_WHEEL_COMPRESSION", "9"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, (content, mode) in files.items():
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, (0o100000 | mode) << 16
            archive.writestr(entry, content, compresslevel=level)
    print(path)


main()
