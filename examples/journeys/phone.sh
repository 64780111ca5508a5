#!/usr/bin/env bash
# Ten minutes of docs/tutorial-phone.md: a model to a binary for a phone. Needs `etbuild`, `qemu-aarch64` and `qemu-x86_64`. The first
# argument is a folder with `digits.pt2` and `test.safetensors`. Works in the current folder.
set -euo pipefail
cp "$1/digits.pt2" "$1/test.safetensors" .

etbuild init digits.pt2
etbuild deploy digits.yaml --target galaxy-s25 --set verify.inputs=test.safetensors
etbuild deploy digits.yaml --target galaxy-s25 --set library=true
etbuild deploy digits.yaml --target android-x86_64 --set verify.inputs=test.safetensors
