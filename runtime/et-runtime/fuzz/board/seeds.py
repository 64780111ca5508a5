"""Writes the program files of folders into one file, each behind its length: `seeds.py FILE FOLDER...`."""

import struct
import sys
from pathlib import Path

LONGEST = 8192
MOST = 1 << 20

target, *folders = map(Path, sys.argv[1:])
files = (file for folder in folders for file in sorted(folder.iterdir()) if file.is_file() and file.suffix in ("", ".pte"))
seeds = b"".join(struct.pack("<I", len(seed)) + seed for seed in map(Path.read_bytes, files) if len(seed) <= LONGEST)
target.write_bytes(seeds[:MOST])
