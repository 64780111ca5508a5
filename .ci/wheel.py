"""Packs a static etbuild binary as a wheel, so that `pip install` and `uv tool install` put the command on the PATH.

    wheel.py BINARY TARGET FOLDER

The wheel holds no Python code: its one file is the script `etbuild`. The bytes depend on the binary, the target, Cargo's
metadata, the README and SOURCE_DATE_EPOCH alone. The format: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""

import base64
import hashlib
import json
import os
import subprocess
import sys
import time
import zipfile

# A static binary needs no C library, so it fulfils the oldest policies of glibc and of musl alike.
POLICIES = ["manylinux2014", "manylinux_2_17", "musllinux_1_1"]


def package():
    """What Cargo knows about etbuild."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    packages = json.loads(subprocess.check_output(command))["packages"]
    return next(package for package in packages if package["name"] == "etbuild")


def texts(package, platforms):
    """The metadata files, by name."""
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms)
    wheel = f"Wheel-Version: 1.0\nGenerator: etbuild ({package['version']})\nRoot-Is-Purelib: false\n{tags}"
    metadata = (
        f"Metadata-Version: 2.4\nName: etbuild\nVersion: {package['version']}\n"
        f"Summary: {package['description']}\nLicense-Expression: {package['license']}\n"
        "Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n"
    )
    with open("README.md", encoding="utf-8") as readme:
        return {"WHEEL": wheel, "METADATA": metadata + readme.read()}


def record(files):
    """The list of files with digests and sizes."""
    rows = []
    for name, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        rows.append(f"{name},sha256={digest},{len(content)}\n")
    return rows


def main():
    binary, target, folder = sys.argv[1:]
    etbuild = package()
    version = etbuild["version"]
    platforms = [f"{policy}_{target.split('-')[0]}" for policy in POLICIES]
    information = f"etbuild-{version}.dist-info"
    with open(binary, "rb") as file:
        files = {f"etbuild-{version}.data/scripts/etbuild": (file.read(), 0o755)}
    for name, text in texts(etbuild, platforms).items():
        files[f"{information}/{name}"] = (text.encode(), 0o644)
    rows = record(files) + [f"{information}/RECORD,,\n"]
    files[f"{information}/RECORD"] = ("".join(rows).encode(), 0o644)
    date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    path = os.path.join(folder, f"etbuild-{version}-py3-none-{'.'.join(platforms)}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (content, mode) in files.items():
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, (0o100000 | mode) << 16
            archive.writestr(entry, content)
    print(path)


main()
