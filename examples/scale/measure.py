#!/usr/bin/env python3
"""Measures the build engine on many units: python3 measure.py ETBUILD [--units 2000]

4 recipes for 16 targets each, cold with each number of --jobs, then with nothing to do: half of the targets are Linux machines that differ in their names, half are boards that differ in
their stacks. Then as many recipes as --units asks for, which are only planned. Everything happens in a temporary folder. Prints
one line for each measurement: the least and the median of several runs of a whole process.
"""

import argparse
import glob
import json
import os
import pathlib
import resource
import select
import shutil
import statistics
import subprocess
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
TARGETS = 16
VARIANTS = ["", "memory: { planner: naive }", "quantize: { scheme: int8-weights }", "quantize: { scheme: dynamic-int8 }"]


def hosted(name):
    shipped = (REPOSITORY / "targets/linux-x86_64.yaml").read_text()
    return shipped.replace("name: linux-x86_64", f"name: {name}")


def board(name, number):
    shipped = (REPOSITORY / "targets/mps2-an505.yaml").read_text()
    return shipped.replace("name: mps2-an505", f"name: {name}").replace("stack: 16 KiB", f"stack: {16 + number} KiB")


def write_targets(folder):
    (folder / "targets").mkdir()
    names = [f"machine-{number:02}" for number in range(TARGETS)]
    for number, name in enumerate(names):
        written = hosted(name) if number < TARGETS // 2 else board(name, number)
        (folder / "targets" / f"{name}.yaml").write_text(written)
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
    """Runs the command and returns its seconds, its result and, where `watch` is set, the most memory in MiB that it had, alone and
    with all that it started."""
    environment = dict(os.environ, ETBUILD_CACHE_DIR=str(folder / "cache"))
    command = [etbuild, *words, "--out", str(folder / "out"), "--output", "json"]
    start = time.perf_counter()
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    alone, together = 0, 0
    while watch and child.poll() is None and not is_readable(child.stdout):
        alone = max(alone, memory(child.pid))
        together = max(together, sum(map(memory, family(child.pid))))
    result, _ = child.communicate()
    seconds = time.perf_counter() - start
    if child.returncode:
        raise SystemExit(f"{words} ended with status {child.returncode}: {result[:2000]}")
    return seconds, json.loads(result), (alone, together)


def is_readable(stream):
    """Whether there is something to read, after waiting a moment."""
    return bool(select.select([stream], [], [], 0.05)[0])


def text(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def family(process):
    """A process, those that it has started, and so on."""
    children = [int(child) for task in glob.glob(f"/proc/{process}/task/*/children") for child in text(task).split()]
    return [process, *(each for child in children for each in family(child))]


def memory(process):
    """The memory of a process in MiB; what several share is shared out among them."""
    lines = text(f"/proc/{process}/smaps_rollup").splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0)


def repeated(etbuild, folder, *words, times=15):
    seconds, busy = [], []
    for _ in range(times):
        before = processor_time()
        seconds.append(run(etbuild, folder, *words)[0])
        busy.append(processor_time() - before)
    least, median = min(seconds) * 1e3, statistics.median(seconds) * 1e3
    return f"{least:.0f} ms at least, {median:.0f} in the median of {times}; {min(busy) * 1e3:.0f} ms of processors"


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def distinct_runs(result):
    """How many stages ran, and how many different ones."""
    rows = [row for unit in result["units"] for row in unit["stages"] if not row["cached"]]
    return len({row["key"] for row in rows})


def measure_cold(etbuild, folder, jobs, *words):
    seconds, result, (alone, together) = run(etbuild, folder, *words, "--jobs", str(jobs), watch=True)
    head = f"cold, {len(result['units'])} units, --jobs {jobs}: {seconds:.1f} s, {distinct_runs(result)} actions"
    print(f"{head}, {alone:.0f} MiB of etbuild itself, {together:.0f} MiB with its compilers", flush=True)


def measure_matrix(etbuild, folder, jobs):
    targets = write_targets(folder)
    recipes = [write_recipe(folder, f"net-{number}", variant, targets) for number, variant in enumerate(VARIANTS)]
    for count in jobs:
        shutil.rmtree(folder / "cache", ignore_errors=True)
        measure_cold(etbuild, folder, count, "deploy", *recipes)
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
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 2, 8], help="of cold builds; with 1, one action runs at a time")
    parser.add_argument("--only", choices=["matrix", "plan"], help="measure one of the two")
    arguments = parser.parse_args()
    if arguments.only != "plan":
        with tempfile.TemporaryDirectory() as folder:
            measure_matrix(arguments.etbuild, pathlib.Path(folder), arguments.jobs)
    if arguments.only != "matrix":
        with tempfile.TemporaryDirectory() as folder:
            measure_plan(arguments.etbuild, pathlib.Path(folder), arguments.units)


if __name__ == "__main__":
    main()
