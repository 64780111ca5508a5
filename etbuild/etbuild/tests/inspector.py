"""Reads an ETDump with ExecuTorch's Inspector, and prints the events as JSON.

    python inspector.py FILE.etdp [FILE.debug VALUES.safetensors]    (executorch, torch, safetensors)

With a debug buffer, every event has the largest difference between its tensor and the value of the same name in VALUES,
where there is one. Times are in nanoseconds.
"""

import json
import sys

import torch
from executorch.devtools import Inspector
from executorch.devtools.inspector import TimeScale
from safetensors.torch import load_file


def difference(event, values: dict[str, torch.Tensor]) -> float | None:
    value = values.get(event.name.split(":")[0])
    if value is None or not event.debug_data:
        return None
    return float((event.debug_data[0] - value).abs().max())


def described(event, values: dict[str, torch.Tensor]) -> dict:
    return {
        "name": event.name,
        "delegated": bool(event.is_delegated_op),
        "durations": event.perf_data.raw if event.perf_data else [],
        "sizes": [list(tensor.shape) for tensor in event.debug_data],
        "difference": difference(event, values),
        "metadata": [bytes(text).decode() for text in event.raw_delegate_debug_metadatas[:1]],
    }


def main(dump: str, buffer: str | None = None, values: str | None = None) -> None:
    inspector = Inspector(
        etdump_path=dump,
        debug_buffer_path=buffer,
        source_time_scale=TimeScale.NS,
        target_time_scale=TimeScale.NS,
    )
    known = load_file(values) if values else {}
    blocks = [
        {"name": block.name, "events": [described(event, known) for event in block.events]}
        for block in inspector.event_blocks
    ]
    print(json.dumps({"blocks": blocks, "rows": len(inspector.to_dataframe())}))


main(*sys.argv[1:])
