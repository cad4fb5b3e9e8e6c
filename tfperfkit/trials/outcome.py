"""Result of one trial, read from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from tfperfkit.analysis.processor_time import used_ns
from tfperfkit.analysis.step_table import read_steps
from tfperfkit.model import StepSource
from tfperfkit.records.plural import plural
from tfperfkit.records.steps import Step
from tfperfkit.records.trials import TrialEnd, TrialPlan
from tfperfkit.storage.run_directory import RunDirectory
from tfperfkit.trials.outputs import Outputs

#: Fewer steady steps than this are not timed.
MIN_STEADY = 3
#: So many calls are warm-up at least, however many steps they hold.
MIN_WARM = 2
#: A step in the first quarter that takes this many times the median still belongs to the warm-up.
_WARM_FACTOR = 5.0
_MINUTE_NS = 60e9


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """``ns``: of a steady step with what passes between steps, or of the whole run; ``processor_ns``: the
    processor time of the same, all threads together, 0 if it is not known. ``minute``: examples (steps, where the
    batch size is not known) in the first minute from the start of the process. ``error``: why it failed."""

    unit: Literal["step", "run", "none"] = "none"
    source: StepSource = "none"
    ns: float = 0.0
    processor_ns: float = 0.0
    batch_size: int = 0
    steps: int = 0
    warm_ns: float = 0.0
    minute: float = 0.0
    memory_bytes: float = 0.0
    end: TrialEnd = TrialEnd()
    weights: Path | None = None
    first_weights: Path | None = None
    outputs: Outputs = Outputs()
    error: str = ""
    tensorflow: bool = True
    seconds: float = 0.0


def read(folder: Path, plan: TrialPlan, begun_ns: int, ended_ns: int, status: int | None, error: str) -> Outcome:
    """``status``: of the process, None when it was ended from outside; ``error``: its last words."""
    run = RunDirectory(folder)
    end = _end(run)
    seconds = (ended_ns - begun_ns) / 1e9
    facts = run.read_json("end.json")
    memory = facts.get("peak_rss_bytes", 0) if isinstance(facts, dict) else 0
    weights, first = folder / "weights.npy", folder / "first_weights.npy"
    common: dict[str, Any] = {
        "end": end,
        "memory_bytes": float(memory) if isinstance(memory, (int, float)) else 0.0,
        "weights": weights if weights.is_file() else None,
        "first_weights": first if first.is_file() else None,
        "tensorflow": (folder / "agent.json").exists(),
        "seconds": seconds,
    }
    table = read_steps(run, [])
    common["source"] = table.source
    if status not in (0, None) and not end.stopped:
        return Outcome(error=error or f"exit status {status}", **common)
    if not plan.whole:
        warm, steady = split(table.steps, plan.warm_steps)
        count = sum(step.count for step in steady)
        if count >= MIN_STEADY and len(steady) >= 2:
            begin, end_ns = steady[0].begin_ns, steady[-1].end_ns
            ours = sum(after - before for before, after in table.pauses if begin <= before and after <= end_ns)
            ns = (end_ns - begin - ours) / count
            before = begin - begun_ns
            used = used_ns(run.records("session/processor.jsonl"), steady, table.pauses)
            size = table.batch_size or 1
            done = sum(step.count for step in warm) + max(_MINUTE_NS - before, 0.0) / ns
            return Outcome(
                unit="step",
                ns=ns,
                processor_ns=used or 0.0,
                batch_size=table.batch_size,
                steps=table.count,
                warm_ns=before,
                minute=done * size,
                **common,
            )
    if status == 0 and not end.stopped:
        ns = float(ended_ns - begun_ns)
        return Outcome(unit="run", ns=ns, processor_ns=float(end.whole_processor_ns), steps=table.count, **common)
    why = "no training step was seen" if not table.count else f"no more than {plural(table.count, 'step')} came"
    return Outcome(error=f"{why} before its time was over" if status is None else why, **common)


def split(steps: tuple[Step, ...], warm_steps: int) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Warm-up and steady steps. At least ``MIN_WARM`` calls are warm-up."""
    count = done = 0
    for step in steps:
        if done >= MIN_WARM and count >= warm_steps:
            break
        count += step.count
        done += 1
    rest = steps[done:]
    if len(rest) >= 8:
        durations = sorted(step.duration_ns for step in rest)
        limit = _WARM_FACTOR * durations[len(durations) // 2]
        early = [index for index, step in enumerate(rest[: len(rest) // 4]) if step.duration_ns > limit]
        done += early[-1] + 1 if early else 0
    return steps[:done], steps[done:]


def _end(run: RunDirectory) -> TrialEnd:
    try:
        return msgspec.convert(run.read_json("trial.json") or {}, TrialEnd)
    except msgspec.ValidationError:
        return TrialEnd()
