"""The run's account: every second from the start of the script's process to its end, in one part each.

What was measured comes first: imports, our own pauses, steps, tracing. What is left is known from stack samples. Each
stands for the time since the one before it, so that nothing is left over: a sample that comes late was held up by what
it sees, for a call that does not let go of the interpreter is sampled as it ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfperfkit import calibration
from tfperfkit.analysis.beginning import beginning
from tfperfkit.analysis.run_parts import RunFacts, RunParts
from tfperfkit.model import RunAccount
from tfperfkit.records.events import of_kind

_OFFER = "They are not recorded: tfperf run --children does that."


def run_account(facts: RunFacts) -> RunAccount | None:
    """None when the recording does not say when TensorFlow came, or records were dropped in between."""
    begun = beginning(facts.agent, facts.started_ns)
    if begun is None or facts.steps.gaps:
        return None
    samples = facts.log.inside(facts.log.whole)
    goodbye = next((event["ns"] for event in of_kind(facts.events, "end") if isinstance(event.get("ns"), int)), None)
    start = min(facts.started_ns or begun.process, begun.process)
    last = max([begun.armed, *(when for when, _ in samples[-1:]), *(step.end_ns for step in facts.steps.steps[-1:])])
    end = max(facts.ended_ns or goodbye or last, start)
    made = RunParts(facts, begun, min(max(start, 0), end), end)
    made.imports()
    made.sampled(samples, goodbye)
    made.ending(goodbye)
    made.first_runs()
    return made.result()


def children_note(account: RunAccount | None, machine: Mapping[str, Any]) -> str:
    """That child processes were not recorded, where the run waits for them or they were busy for a tenth of it; ""
    where neither is so. ``machine``: see ``RunInfo``."""
    if account is None:
        return ""
    lower = calibration.CHILDREN_SHARE.value * account.total_s
    waited, took = account.seconds_of("children"), machine.get("children_cpu_s")
    if waited and waited >= lower:
        line = next((line.where for line in account.lines.get("children", ())), None)
        who = f"{line.file}:{line.line}" if line is not None else "The script"
        share = f"{100 * waited / account.total_s:.0f} % of the run"
        return f"{who} waits for child processes, {waited:.1f} s in all ({share}). {_OFFER}"
    if not isinstance(took, (int, float)) or not lower <= took < float("inf") or not took:
        return ""
    share = f"{100 * took / account.total_s:.0f} % of the run's length"
    return f"Processes that the script started took {took:.1f} s of processor time ({share}). {_OFFER}"
