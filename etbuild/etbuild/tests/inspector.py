"""Reads an ETDump with ExecuTorch's Inspector, and prints the events as JSON.

    python inspector.py FILE.etdp [FILE.debug VALUES.safetensors]    (executorch, torch, safetensors)
    python inspector.py FILE.etdp FILE.debug --etrecord FILE

With a debug buffer, every event has the largest difference between its tensor and the value of the same name in VALUES,
where there is one. With an ETRecord, every event has the operators, modules and stack traces of the exported graph, and `gap` is
the signal-to-noise ratio of each operator that PyTorch computes again. Times are in nanoseconds.
"""

import io
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
        "operators": event.op_types,
        "backend": event.delegate_backend_name,
        "modules": [list(stack.values())[-1][0] for stack in event.module_hierarchy.values()],
        "traces": [trace or "" for trace in event.stack_traces.values()],
    }


def gap(inspector: Inspector) -> list[dict]:
    rows = inspector.calculate_numeric_gap("SNR")
    return [{"operators": row["aot_ops"], "decibels": float(row["gap"][0])} for _, row in rows.iterrows()]


def main(dump: str, buffer: str | None = None, values: str | None = None, record: str | None = None) -> None:
    inspector = Inspector(
        etdump_path=dump,
        debug_buffer_path=buffer,
        etrecord=record,
        source_time_scale=TimeScale.NS,
        target_time_scale=TimeScale.NS,
    )
    known = load_file(values) if values else {}
    blocks = [
        {"name": block.name, "events": [described(event, known) for event in block.events]}
        for block in inspector.event_blocks
    ]
    inspector.print_data_tabular(file=io.StringIO())
    found = {"blocks": blocks, "rows": len(inspector.to_dataframe()), "gap": gap(inspector) if record else []}
    print(json.dumps(found))


arguments = sys.argv[1:]
main(*arguments[:2], record=arguments[3]) if "--etrecord" in arguments else main(*arguments)
