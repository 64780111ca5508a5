#!/usr/bin/env bash
# Ten minutes of docs/tutorial-language.md: a checkpoint to a binary that writes. Needs `etbuild`. The first argument is the
# folder of a checkpoint, in Hugging Face's form. Works in the current folder.
set -euo pipefail
ln -sfn "$1" model

etbuild run model --prompt "Once upon a time" --max-new-tokens 16
etbuild init model
etbuild deploy model.yaml
etbuild deploy model.yaml --quantize 8da4w
out/model/linux-x86_64/model --prompt "Once upon a time" --max-new-tokens 16
