#!/usr/bin/env bash
# Ten minutes of docs/tutorial-phone.md: a model to a binary for a phone's shell. Needs `etbuild` and `qemu-aarch64`. The first
# argument is a folder with `digits.pt2` and `test.safetensors`. Works in the current folder.
set -euo pipefail
cp "$1/digits.pt2" "$1/test.safetensors" .

etbuild init digits.pt2
etbuild deploy digits.yaml --target galaxy-s25 --set verify.inputs=test.safetensors
etbuild deploy digits.yaml --target galaxy-s25 --set library=true
qemu-aarch64 out/digits/galaxy-s25/digits --inputs test.safetensors --outputs outputs.safetensors
