"""A Chrome trace of PyTorch's profiler (Kineto), with its events named as TensorFlow's would be.

``cat`` says what an event is, ``correlation`` which launch a kernel belongs to, ``External id`` which operation
(libkineto/src/output_json.cpp).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from tfperfkit.reading.tracks import Event
from tfperfkit.xplane.names import HOST

#: By plane and thread: the thread's name, and its events.
Placed = dict[tuple[str, Any], tuple[str, list[Event]]]

REMARK = "the trace is of PyTorch's profiler: where a fix names TensorFlow's means, PyTorch has its own"
_ON_DEVICE = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
#: Spans around what is there as itself, or around the whole recording.
_AROUND = frozenset({"gpu_user_annotation", "Trace"})
_STEP = re.compile(r"ProfilerStep#(\d+)")
_FRAME = re.compile(r"(?P<file>[^()]+\.py)\((?P<line>\d+)\): (?P<function>.*)")
_COPY = re.compile(r"(\w)to(\w)\b")  # ``Memcpy HtoD (Pageable -> Device)``
#: Calls that return when what they copy or wait for is done.
_SYNCHRONOUS = re.compile(r"(?:cuda|hip)Memcpy(?!.*Async)")


def is_kineto(events: Sequence[Event]) -> bool:
    return any(event.cat in _ON_DEVICE or event.cat == "cpu_op" for event in events)


def placed(events: Sequence[Event]) -> Placed:
    """Return the events that ran, in TensorFlow's words."""
    operations: dict[Any, str] = {}
    synchronous: set[Any] = set()
    for event in events:
        args = event.args or {}
        if event.cat == "cpu_op" and "External id" in args:
            operations.setdefault(args["External id"], event.name.replace("::", "/"))
        elif _SYNCHRONOUS.match(event.name):
            synchronous.add(args.get("correlation"))
    found: Placed = {}
    for event in events:
        if event.ph != "X" or event.ts is None or event.cat in _AROUND:
            continue
        if event.cat in _ON_DEVICE:
            args = event.args or {}
            plane, thread = f"/device:GPU:{args.get('device', event.pid)}", f"Stream #{args.get('stream', event.tid)}"
            renamed = _on_device(event, args, operations, synchronous)
        else:
            plane, thread, renamed = HOST, f"{event.pid}/{event.tid}", _on_host(event)
        found.setdefault((plane, thread), (thread, []))[1].append(renamed)
    return found


def _on_device(event: Event, args: dict[str, Any], operations: dict[Any, str], synchronous: set[Any]) -> Event:
    stats: dict[str, Any] = {"correlation_id": args.get("correlation")}
    if operation := operations.get(args.get("External id")):
        stats["tf_op"] = f"{operation}:"
    if (occupancy := args.get("est. achieved occupancy %")) is not None:
        stats["kernel_details"] = f"occ_pct:{occupancy}"
    name = event.name
    if event.cat == "gpu_memcpy":
        found = _COPY.search(name)
        kind = f"{found[1]}2{found[2]}" if found else ""
        memory = "pageable" if "Pageable" in name else "pinned" if "Pinned" in name else "device"
        waited = 0 if args.get("correlation") in synchronous else 1
        stats["memcpy_details"] = f"kind:{memory} size:{args.get('bytes', 0)} async:{waited}"
        name = f"Memcpy{kind}"
    return msgspec.structs.replace(event, name=name, args=stats)


def _on_host(event: Event) -> Event:
    stats: dict[str, Any] = {"correlation_id": (event.args or {}).get("correlation")}
    name = event.name
    if step := _STEP.fullmatch(name):
        stats |= {"step_num": int(step[1]), "_r": 1}
        name = "ProfilerStep"
    elif event.cat == "python_function":
        frame = _FRAME.fullmatch(name)
        name = f"${frame['file']}:{frame['line']} {frame['function']}" if frame else f"${name}"
    return msgspec.structs.replace(event, name=name, args=stats)
