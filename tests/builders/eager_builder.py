"""Made-up evidence of an eager training loop, for the tests of the rules of families eager, batch and step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from evidence_builder import FILE, make_evidence, make_steps
from tfperfkit_probes.tfprof.model import CallRow, OpRow, TfprofData

from tfperfkit.records.samples import Frame, SampleLog, Samples, Stack
from tfperfkit.records.steps import Loop, Site, StepTable
from tfperfkit.rule import Evidence

STEPS = 5
SCRIPT = """\
import tensorflow as tf

def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

for x, y in dataset:
    loss = train_step(x, y)
"""
IN_A_LOOP = """\
import tensorflow as tf
for x, y in dataset:
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
"""


def op(type: str, per_step: float, ms: float, where: str = "eager") -> OpRow:
    """Return an operation: how often it ran in a step, and its own time in a step."""
    return OpRow(name=type, type=type, count=round(per_step * STEPS), self_ms=ms * STEPS, share=0.0, where=where)


def traced(
    parts_ms: Mapping[str, float], ops: Sequence[OpRow] = (), calls: Sequence[CallRow] = (), **fields: Any
) -> TfprofData:
    """The record of ``tfprof``: parts and operations of one step."""
    parts = {"input": 0.0, "python": 0.0, "eager_ops": 0.0, "graph": 0.0, "tracing": 0.0, "other": 0.0, **parts_ms}
    given: dict[str, Any] = {
        "steps": STEPS,
        "trace_dir": "trace",
        "trace_file": "t",
        "input_share": 0.0,
        "step_ms": sum(parts.values()),
        "first_step": 9,
        "last_step": 13,
        "window_ms": {},
        "wall_ms": 1.0,
        "input_ops": (),
        "rest_ms": 0.0,
        "devices": (),
        "python_tracer": False,
        "ended": "window",
        "start_ms": 0.0,
        "stop_ms": 0.0,
        **fields,
    }
    return TfprofData(top_ops=tuple(ops), breakdown_ms=parts, calls=tuple(calls), **given)


def site(number: int, kind: str, *chain: int, loops: Sequence[int] = (), **fields: Any) -> Site:
    """Return a site of ``train.py``; ``chain``: the lines that lead to it, innermost first."""
    given: dict[str, Any] = {"target": number, "file": FILE, "line": chain[0], **fields}
    return Site(
        id=number,
        kind=kind,
        chain=tuple((FILE, line) for line in chain),  # type: ignore[arg-type]
        loops=tuple(Loop(FILE, line) for line in loops),
        **given,
    )


def sites(*rows: Site, count: int = 60) -> dict[str, list[Any]]:
    """The streams of sites that were reached this often each."""
    marks = [[row.id, n * 1000, n * 1000 + 10, 1] for n in range(count) for row in rows]
    return {"sites": [_plain(row) for row in rows], "markers": marks}


def _plain(row: Site) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(row)
    return made


#: A small network: 700 operations with negligible work.
TINY = (op("Mul", 300, 3.6), op("AddV2", 200, 2.4), op("ReadVariableOp", 180, 2.2), op("MatMul", 20, 1.0))
#: Two long matrix products among few others.
BIG = (op("MatMul", 6, 90.0), op("Mul", 40, 0.6), op("AddV2", 40, 0.6))


def eager_evidence(
    ops: Sequence[OpRow] = TINY,
    *,
    dispatch_ms: float = 30.0,
    source: str = SCRIPT,
    at: Sequence[Site] | None = None,
    loop: int = 10,
    parts: Mapping[str, float] | None = None,
    **fields: Any,
) -> Evidence:
    """Make an eager step; its update is at line 7 of ``SCRIPT``, called at line 11 in the loop at 10."""
    eager = sum(row.self_ms for row in ops if row.where == "eager") / STEPS
    own = {"eager_ops": eager, "dispatch": dispatch_ms, **(parts or {})}
    given = {"python": sum(own[name] for name in ("python", "dispatch", "host_sync") if name in own)}
    given |= {name: own[name] for name in ("input", "eager_ops", "graph") if name in own}
    data = {"tfprof": traced(given, ops), **fields.pop("data", {})}
    table = make_steps(each_ms=sum(own.values()), loop=Loop(FILE, loop))
    placed = at if at is not None else (site(1, "apply", 7, 11, loops=(10,), function="train_step"),)
    return make_evidence(
        parts_ms=own,
        steps=table,
        data=data,
        source=source,
        records={**sites(*placed), **fields.pop("records", {})},
        **fields,
    )


def leaf(line: int, function: str = "", first: int = 1) -> tuple[Frame, ...]:
    """The user's frames of a sample whose innermost line is this one."""
    return (Frame(FILE, first, function or "<module>", line),)


class Seen(NamedTuple):
    """Samples of the clean steps, with the log that holds them; for ``make_evidence``."""

    samples: Samples
    log: SampleLog


def seen(table: StepTable, stacks: Sequence[tuple[int, str, Sequence[Frame]]], context: str = "") -> Seen:
    """Samples of (how many, activity, the user's frames from the outermost), evenly over the clean steps.

    ``context`` is that of all but "graph". Python has no library below it.
    """
    made: list[Stack] = []
    for count, doing, frames in stacks:
        library = "" if doing == "python" else "keras" if context else "tensorflow"
        made += [Stack(tuple(frames), library, doing, "" if doing == "graph" else context)] * count
    clean = table.clean
    kinds = {stack: number for number, stack in enumerate(dict.fromkeys(made), 1)}
    begin, end = clean[0].begin_ns, clean[-1].end_ns
    # In turns, so that each kind is spread over the steps.
    order = sorted(range(len(made)), key=lambda index: (index * 7919) % len(made))
    width = (end - begin) // (len(made) + 1)
    taken = [(begin + (turn + 1) * width, kinds[made[index]]) for turn, index in enumerate(order)]
    samples = Samples()
    for stack in made:
        samples.add(stack)
    return Seen(samples, SampleLog({number: stack for stack, number in kinds.items()}, taken))
