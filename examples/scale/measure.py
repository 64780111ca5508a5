#!/usr/bin/env python3
"""Measures the build engine on many units: python3 measure.py ETBUILD [--cold] [--units 2000]

4 recipes for 16 targets each: half of the targets are Linux machines that differ in their names, half are boards that differ in
their stacks. Then as many recipes as --units asks for, which are only planned. Everything happens in a temporary folder. Prints
one line for each measurement: the least and the median of several runs of a whole process.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
TARGETS = 16
VARIANTS = ["", "memory: { planner: naive }", "quantize: { scheme: int8-weights }", "quantize: { scheme: dynamic-int8 }"]


def hosted(name):
    text = (REPOSITORY / "targets/linux-x86_64.yaml").read_text()
    return text.replace("name: linux-x86_64", f"name: {name}")


def board(name, number):
    text = (REPOSITORY / "targets/mps2-an505.yaml").read_text()
    return text.replace("name: mps2-an505", f"name: {name}").replace("stack: 16 KiB", f"stack: {16 + number} KiB")


def write_targets(folder):
    (folder / "targets").mkdir()
    names = [f"machine-{number:02}" for number in range(TARGETS)]
    for number, name in enumerate(names):
        text = hosted(name) if number < TARGETS // 2 else board(name, number)
        (folder / "targets" / f"{name}.yaml").write_text(text)
    return names


def write_recipe(folder, name, variant, targets):
    digits = REPOSITORY / "examples/digits"
    path = folder / f"{name}.yaml"
    path.write_text(
        f"etbuild: 1\nname: {name}\nmodel: {{ pt2: {digits}/digits.pt2 }}\n{variant}\ntargets: [{', '.join(targets)}]\n"
        f"verify: {{ inputs: {digits}/test.safetensors, tolerance: 0.1 }}\n"
    )
    return str(path)


def run(etbuild, folder, *words, watch=None):
    """Runs the command and returns its seconds, its result, and its own most resident memory in MiB where `watch` is set."""
    environment = dict(os.environ, ETBUILD_CACHE_DIR=str(folder / "cache"))
    command = [etbuild, *words, "--out", str(folder / "out"), "--output", "json"]
    start = time.perf_counter()
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    most = []
    if watch:
        while child.poll() is None and not select_readable(child.stdout):
            most.append(resident(child.pid))
    result, _ = child.communicate()
    seconds = time.perf_counter() - start
    if child.returncode:
        raise SystemExit(f"{words} ended with status {child.returncode}: {result[:2000]}")
    return seconds, json.loads(result), max(most, default=0)


def select_readable(stream):
    import select

    return bool(select.select([stream], [], [], 0.02)[0])


def resident(process):
    """The most memory that a process has had, in MiB."""
    try:
        lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0)


def repeated(etbuild, folder, *words, times=15):
    seconds = sorted(run(etbuild, folder, *words)[0] for _ in range(times))
    return f"{seconds[0] * 1e3:.0f} ms at least, {statistics.median(seconds) * 1e3:.0f} in the median of {times}"


def distinct_runs(result):
    """How many stages ran, and how many different ones."""
    rows = [row for unit in result["units"] for row in unit["stages"] if not row["cached"]]
    return len({row["key"] for row in rows})


def measure_matrix(etbuild, folder):
    targets = write_targets(folder)
    recipes = [write_recipe(folder, f"net-{number}", variant, targets) for number, variant in enumerate(VARIANTS)]
    for words in (["deploy", recipes[0], "--only", "net-0@machine-00"], ["deploy", *recipes]):
        seconds, result, most = run(etbuild, folder, *words, watch=True)
        units = len(result["units"])
        print(f"cold, {units} units: {seconds:.1f} s, {distinct_runs(result)} actions, {most:.0f} MiB of etbuild itself")
    for count in (1, 2, 4):
        print(f"nothing to do, {count * TARGETS} units: {repeated(etbuild, folder, 'deploy', *recipes[:count])}")
    print(f"plan, {len(recipes) * TARGETS} units: {repeated(etbuild, folder, 'plan', *recipes)}")


def measure_plan(etbuild, folder, units):
    targets = write_targets(folder)
    for count in (units // 4, units // 2, units):
        each = range(count // TARGETS)
        recipes = [write_recipe(folder, f"net-{number}", VARIANTS[number % 4], targets) for number in each]
        seconds = repeated(etbuild, folder, "plan", *recipes, times=5)
        print(f"plan, nothing cached, {len(recipes) * TARGETS} units: {seconds}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("etbuild", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--units", type=int, default=2000, help="how many to plan")
    parser.add_argument("--only", choices=["matrix", "plan"], help="measure one of the two")
    arguments = parser.parse_args()
    if arguments.only != "plan":
        with tempfile.TemporaryDirectory() as folder:
            measure_matrix(arguments.etbuild, pathlib.Path(folder))
    if arguments.only != "matrix":
        with tempfile.TemporaryDirectory() as folder:
            measure_plan(arguments.etbuild, pathlib.Path(folder), arguments.units)


if __name__ == "__main__":
    main()
