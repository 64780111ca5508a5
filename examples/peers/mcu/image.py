"""A linked image: its sections, and its run under QEMU with the counting plugin."""

import collections
import pathlib
import subprocess


class Image:
    """An ELF file whose sections have the names of the linker scripts of etbuild and of this folder."""

    def __init__(self, elf: pathlib.Path, prefix: str) -> None:
        self.elf = elf
        self.prefix = prefix
        text = subprocess.run([prefix + "size", "-A", elf], capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in text.splitlines() if line.startswith(".")]
        self.sections = {name: (int(size), int(address)) for name, size, address in rows}

    def size(self, *names: str) -> int:
        """The bytes of sections."""
        return sum(self.sections.get(name, (0, 0))[0] for name in names)

    def run(self, core, plugin: pathlib.Path, profile: bool):
        """Runs the image; returns the lines of its console and, for each call of semihosting, instructions and bytes of stack."""
        size, low = self.sections[".stack"]
        counts = self.elf.with_suffix(".counts")
        plugin = f"{plugin},low={low:#x},high={low + size:#x}" + (",profile=on" if profile else "")
        command = [core.architecture.emulator, "-machine", core.machine, *core.arguments, "-nographic", "-icount", "shift=0"]
        command += ["-semihosting-config", "enable=on,target=native", "-plugin", plugin, "-d", "plugin", "-D", counts, "-kernel", self.elf]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)
        rows = [line.split() for line in counts.read_text().splitlines()]
        calls = [(int(row[1]), max(0, low + size - int(row[2], 16))) for row in rows if row[0] == "call"]
        if profile:
            self.print_profile([(int(row[1], 16), int(row[2])) for row in rows if row[0] == "at"])
        return (done.stdout + done.stderr).splitlines(), calls

    def figures(self, call, weights: int, arena: int | None, outputs: bytes) -> dict:
        """Instructions, flash beyond the weights, RAM of variables and arena, and stack, in bytes."""
        flash = self.size(".vectors", ".text", ".rodata", ".ARM.exidx", ".data", ".program")
        ram = self.size(".data", ".bss") + (self.size(".arena") if arena is None else arena)
        return {"instructions": call[0], "flash": flash - weights, "ram": ram, "stack": call[1], "outputs": outputs}

    def print_profile(self, executed) -> None:
        """Prints the functions with most instructions of the whole run."""
        text = subprocess.run([self.prefix + "nm", "-C", "-n", self.elf], capture_output=True, text=True).stdout
        symbols = [(int(row[0], 16) & ~1, " ".join(row[2:])) for row in map(str.split, text.splitlines()) if row[1].lower() in "tw"]
        total = collections.Counter()
        for address, count in executed:
            before = [name for start, name in symbols if start <= address]
            total[before[-1] if before else hex(address >> 6 << 6)] += count
        for name, count in total.most_common(15):
            print(f"{count:12} {name}")
