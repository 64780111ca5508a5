#!/usr/bin/env bash
# Ten minutes of docs/tutorial-firmware.md: a model to firmware, in an emulator and for a board of one's own. Needs `etbuild` and
# `qemu-system-arm`. The first argument is a folder with `digits.pt2`, `test.safetensors` and `calibration.safetensors`. Works in the current folder.
set -euo pipefail
cp "$1/digits.pt2" "$1/test.safetensors" "$1/calibration.safetensors" .

etbuild targets show mps2-an505
etbuild init digits.pt2
etbuild deploy digits.yaml --target mps2-an505 --set verify.inputs=test.safetensors
etbuild deploy digits.yaml --target mps2-an505 --set "budget.flash=256 KiB" --set "budget.ram=64 KiB"
etbuild deploy digits.yaml --target mps2-an505 --quantize int8 --calibrate calibration.safetensors
etbuild init target my-board --triple thumbv7em-none-eabihf
etbuild build digits.yaml --target my-board
etbuild build digits.yaml --target pico2
