#!/usr/bin/env python3
"""Builds recipes on two machines that have nothing in common but etbuild and Rust, and compares: python3 rebuild.py ETBUILD RECIPE..

The machines are two checkouts and two empty caches. The second has another time zone, language, umask and user name, lies deeper, has
one job and one thread, and, where the program disorderfs is installed, folders whose entries come in another order each time
(it needs /dev/fuse). Prints a line for each unit: how many files and bytes are the same, or which are not.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CHECKOUT = ["recipes", "targets", "examples"]
ODD = {"TZ": "Pacific/Auckland", "LANG": "tr_TR.UTF-8", "LC_ALL": "C", "USER": "somebody", "RAYON_NUM_THREADS": "1"}
HIDDEN = {"report.html", "report.json"}


def checked_out(folder):
    folder.mkdir(parents=True)
    for name in CHECKOUT:
        shutil.copytree(REPOSITORY / name, folder / name)


def build(etbuild, place, recipes, environment, words, prefix=()):
    environment = dict(os.environ, ETBUILD_CACHE_DIR=str(place / "cache"), **environment)
    command = [*prefix, etbuild, "build", *recipes, "--out", str(place / "out"), *words]
    ran = subprocess.run(command, cwd=place / "checkout", env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{command} ended with status {ran.returncode}: {ran.stderr[-4000:]}")


def results(folder):
    """The files of each unit."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in HIDDEN]
    return {path.relative_to(folder): path for path in files}


def compare(one, other):
    """Prints what each unit has, and returns whether all is the same."""
    same = True
    for unit in sorted({path.parent for path in [*one, *other]}):
        names = sorted({path for path in [*one, *other] if path.parent == unit})
        differ = [path.name for path in names if not equal(one.get(path), other.get(path))]
        size = sum(one[path].stat().st_size for path in names if path in one)
        print(f"{unit}: {len(names)} files, {size} bytes: {'differs in ' + ', '.join(differ) if differ else 'the same'}")
        same = same and not differ
    return same


def equal(left, right):
    return left and right and left.read_bytes() == right.read_bytes()


def disordered(folder, behind):
    """Mounts a view of `behind` without order at `folder`; returns whether that worked."""
    behind.mkdir(parents=True)
    folder.mkdir(parents=True)
    words = ["disorderfs", "--shuffle-dirents=yes", "--multi-user=no", str(behind), str(folder)]
    return shutil.which("disorderfs") is not None and subprocess.run(words, capture_output=True).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("etbuild", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("recipes", nargs="+", help="paths from the repository's root")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        one, other = pathlib.Path(root) / "one", pathlib.Path(root) / "a/place/of/another/depth/other"
        without_order = disordered(other, pathlib.Path(root) / "behind")
        print("folders without order" if without_order else "disorderfs cannot be used: folders have the order that they have")
        try:
            for place in (one, other):
                checked_out(place / "checkout")
            build(arguments.etbuild, one, arguments.recipes, {}, [])
            umask = ["sh", "-c", 'umask 077; exec "$@"', "sh"]
            build(arguments.etbuild, other, arguments.recipes, ODD, ["--jobs", "1"], umask)
            same = compare(results(one / "out"), results(other / "out"))
        finally:
            if without_order:
                subprocess.run(["umount", str(other)])
    raise SystemExit(0 if same else 6)


if __name__ == "__main__":
    main()
