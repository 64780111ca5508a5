#!/usr/bin/env bash
# Ten minutes of docs/tutorial-ci.md: what a pipeline runs. Needs `etbuild` and `qemu-system-arm`. The first argument is a folder with
# `digits.pt2` and `test.safetensors`. Works in the current folder.
set -euo pipefail
cp "$1/digits.pt2" "$1/test.safetensors" .
cat > digits.yaml <<'YAML'
etbuild: 1
name: digits
model: { pt2: digits.pt2 }
targets: [mps2-an505, pico2]
verify: { inputs: test.safetensors, tolerance: 1e-4 }
YAML

etbuild check digits.yaml
etbuild plan digits.yaml
etbuild matrix digits.yaml --format github
etbuild lock digits.yaml
etbuild deploy digits.yaml --only "digits@mps2-*" --require-verify --locked
etbuild deploy digits.yaml --locked --output json > result.json
etbuild attest digits.yaml --locked
etbuild verify out/digits/mps2-an505
