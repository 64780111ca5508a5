#!/usr/bin/env bash
# Ten minutes of docs/tutorial-language.md: a checkpoint to a binary that writes. Needs `etbuild`. The first argument is the
# folder of a checkpoint, in Hugging Face's form, which stands for the download. Works in the current folder.
set -euo pipefail
export HF_HOME=$PWD/hf
commit=0123456789abcdef0123456789abcdef01234567
downloaded=$HF_HOME/hub/models--Qwen--Qwen3-0.6B
mkdir -p "$downloaded/refs" "$downloaded/snapshots"
printf %s "$commit" >"$downloaded/refs/main"
ln -sfn "$1" "$downloaded/snapshots/$commit"

etbuild run hf:Qwen/Qwen3-0.6B --prompt "Once upon a time" --max-new-tokens 16
etbuild init hf:Qwen/Qwen3-0.6B
etbuild deploy Qwen3-0.6B.yaml
etbuild deploy Qwen3-0.6B.yaml --quantize 8da4w
out/Qwen3-0.6B/linux-x86_64/Qwen3-0.6B --prompt "Once upon a time" --max-new-tokens 16
