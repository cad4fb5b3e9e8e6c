"""The run's account: every second from the start of the script's process to its end belongs to one part.

Measured parts come first: imports, tfperf's own pauses, steps, tracing. The rest is known from stack samples. Each
sample stands for the time since the one before, so nothing is left over: a late sample was delayed by what it shows,
since a call that holds the interpreter is sampled when it ends.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tfperfkit import calibration
from tfperfkit.analysis.moments import ALWAYS, Moment, Moments
from tfperfkit.analysis.stored_run import Beginning, beginning
from tfperfkit.clock import NS_PER_S
from tfperfkit.ledger.call_tree import Entry, Ledger
from tfperfkit.ledger.part_lines import name_part_lines
from tfperfkit.model import BEFORE_TENSORFLOW, RunAccount, WarmUp
from tfperfkit.records.events import Event, of_kind
from tfperfkit.records.parts import RUN_PARTS, RunPart
from tfperfkit.records.samples import SampleLog, Stack
from tfperfkit.records.spans import Spans
from tfperfkit.records.steps import Loop, StepTable

_UNKNOWN, _TRAINING, _BETWEEN = Moment("not sampled"), Moment("training"), Moment("between")
_FREEING = Moment("freeing")


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunFacts:
    """Facts from which the account is made.

    ``ended_ns``: 0 when it is not known; ``ours``: see ``gather.pauses``; ``freed``: when an iterator was freed, see
    ``records.freed``; ``sources``: the lines of the user's files.
    """

    started_ns: int
    ended_ns: int
    agent: Mapping[str, Any]
    events: Sequence[Event]
    steps: StepTable
    log: SampleLog
    tracing: Spans
    ours: Spans
    freed: Spans = dataclasses.field(default_factory=Spans)
    warm_up: WarmUp | None = None
    sources: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)


class RunParts:
    """The parts as they fill up, from ``start`` on: ``at`` is how far."""

    def __init__(self, facts: RunFacts, begun: Beginning, start: int, end: int) -> None:
        self._facts, self._begun, self._end = facts, begun, end
        self._start = self._at = start
        self._ns: Counter[RunPart] = Counter()
        self._imports: Counter[str] = Counter()
        self._stack_ns: Counter[tuple[RunPart, int]] = Counter()
        self._stacks: dict[int, Stack] = {}  # by ``id``, since hashing is slow: the log keeps them
        self._first_seen: list[tuple[Stack, int]] = []  # in the steps of the warm-up
        self._before = _UNKNOWN  # what was seen outside of the steps, if that was last
        self._moments = Moments(facts.sources)
        self._loops: set[Loop | None] = set()  # the outermost ones that hold steps
        steps = [(step.begin_ns, step.end_ns) for step in facts.steps.steps]
        self._first, self._last = (steps[0][0], steps[-1][1]) if steps else (0, 0)
        self._warm = Spans((step.begin_ns, step.end_ns) for step in facts.steps.in_window("warmup"))
        # Nested, so that what they cover can be subtracted: each moment is ours, or a step's, or tracing's.
        self._ours = facts.ours
        self._ours_tracing = Spans([*facts.ours, *facts.tracing])
        self._busy = Spans([*facts.ours, *steps])
        self._all = Spans([*facts.ours, *steps, *facts.tracing])

    def imports(self) -> None:
        before = self._take("imports", self._begun.importing or self._at)
        importing = self._take("imports", self._begun.armed)
        self._imports.update({BEFORE_TENSORFLOW: before, "tensorflow": importing})
        if self._facts.log.begins is not None:
            self._take("tfperf", self._facts.log.begins)  # the session was being set up

    def sampled(self, samples: Sequence[tuple[int, Stack]], goodbye: int | None) -> None:
        """Up to the last sample, and on to the process's goodbye, which was for us to say."""
        self._find_loops(samples)
        framed = [when for when, stack in samples if stack.frames]
        before, here = _UNKNOWN, None
        for when, stack in samples:
            moment = self._moments.find_moment(stack)
            there, here = here, stack.frames[-1][:4] if stack.frames else None
            if here is None:
                over = bool(framed) and when > framed[-1]
                moment = _UNKNOWN if not stack.library else Moment("ending") if over else moment
            elif self._facts.freed.overlap(when - 1, when):
                moment = _FREEING
            elif stack.activity == "waiting" and moment.part in ("data", "tensorflow") and here == there:
                moment = before  # it frees what was made there
            self._divide(when, moment, stack)
            before = before if moment is _FREEING else moment
        lost = any(event.get("file") == "session/samples.jsonl" for event in of_kind(self._facts.events, "lost"))
        if samples and goodbye is not None and not lost:
            self._divide(min(self._at + self._facts.log.pause(self._at), goodbye), before)
            self._take("tfperf", goodbye)

    def ending(self, goodbye: int | None) -> None:
        stopped = any(of_kind(self._facts.events, "stopped"))  # recording ended, and the script went on
        if goodbye is not None and not stopped:
            self._divide(goodbye, _UNKNOWN)
            self._take("ending", self._end)
        self._divide(self._end, _UNKNOWN)

    def first_runs(self) -> None:
        """Return the time that the first steps took for compiling, which the warm-up's account knows."""
        warm = self._facts.warm_up
        by_part = warm.parts_s if warm is not None else {}
        wanted = round(by_part.get("compile and first runs", 0.0) * NS_PER_S)
        inside = sum(end - begin - self._ours_tracing.overlap(begin, end) for begin, end in self._warm)
        inside -= round(
            by_part.get("the steps themselves", 0.0) * NS_PER_S
        )  # the warm-up's time between them is no step
        moved = max(min(wanted, inside, self._ns["training"]), 0)
        self._ns["training"] -= moved
        self._ns["tracing"] += moved
        seen = sum(ns for _, ns in self._first_seen)
        for stack, ns in self._first_seen if seen else ():
            self._add_stack("training", stack, -(ns * min(moved, seen) // seen))
            self._add_stack("tracing", stack, ns * min(moved, seen) // seen)

    def result(self) -> tuple[RunAccount, Ledger]:
        parts = {part: self._ns[part] / NS_PER_S for part in RUN_PARTS if self._ns[part] > 0}
        ledger = self._make_ledger(parts)
        lines = name_part_lines(ledger)
        account = RunAccount(
            total_s=(self._end - self._start) / NS_PER_S,
            parts_s=parts,
            lines={part: lines[part] for part in parts if lines.get(part)},
            imports_s={name: ns / NS_PER_S for name, ns in self._imports.most_common() if ns > 0},
        )
        return account, ledger

    def _make_ledger(self, parts: Mapping[RunPart, float]) -> Ledger:
        """Divide the parts over the stacks that were sampled in them."""
        placed: Counter[RunPart] = Counter()
        for (part, _), ns in self._stack_ns.items():
            placed[part] += max(ns, 0)
        # If the first runs were not sampled, their lines have kept what the part has given away.
        scales = {part: min(parts.get(part, 0.0) / ns, 1 / NS_PER_S) for part, ns in placed.items() if ns > 0}
        entries = [
            Entry(self._stacks[stack], part, ns * scales[part])
            for (part, stack), ns in self._stack_ns.items()
            if ns > 0
        ]
        unplaced = {part: seconds - placed[part] * scales.get(part, 0.0) for part, seconds in parts.items()}
        return Ledger(entries, unplaced)

    def _take(self, part: RunPart, until: int) -> int:
        """All the time up to ``until`` is of one part; returns how much that was."""
        ns = max(min(until, self._end) - self._at, 0)
        self._ns[part] += ns
        self._at += ns
        return ns

    def _divide(self, until: int, moment: Moment, stack: Stack | None = None) -> None:
        """Divide the time up to ``until``, at which ``stack`` was seen."""
        begin, end = self._at, min(until, self._end)
        if end <= begin:
            return
        self._at = end
        ours, busy = self._ours.overlap(begin, end), self._busy.overlap(begin, end)
        traced = self._all.overlap(begin, end) - busy
        traced_inside = self._ours_tracing.overlap(begin, end) - ours - traced
        inside = self._busy.overlap(end, end + 1) > self._ours.overlap(end, end + 1)
        self._ns["tfperf"] += ours
        if self._ours.overlap(end, end + 1):  # what it sees is ours
            moment, stack = self._before, None
        if inside:
            stepping = moment if moment.part in ALWAYS else _TRAINING
            self._add(stepping, busy - ours, traced_inside, stack)
            if stack is not None and stepping is _TRAINING and self._warm.overlap(end - 1, end):
                self._first_seen.append((stack, busy - ours - traced_inside))
            self._add(self._before, end - begin - busy, traced)
            self._before = _BETWEEN
        else:
            seen = self._place_outside_steps(moment, end)
            self._before = self._before if seen is _FREEING else seen  # it ends with what was sampled of it
            self._add(_TRAINING, busy - ours, traced_inside)
            self._add(seen, end - begin - busy, traced, stack)

    def _add(self, moment: Moment, ns: int, traced: int, stack: Stack | None = None) -> None:
        """``ns``, of which ``traced`` were spent on tracing."""
        if moment.part in ALWAYS:
            traced = 0
        elif moment.part == "tracing" and traced:
            # A trace was measured here: other time since the last sample does not belong to the trace.
            moment = self._place_outside_steps(moment._replace(part="tensorflow"), self._at)
        divided: tuple[tuple[RunPart, int], ...] = (("tracing", traced), (moment.part, ns - traced))
        for part, value in divided:
            self._ns[part] += value
            if stack is not None:
                self._add_stack(part, stack, value)
        if moment.part == "imports":
            self._imports[moment.package] += ns

    def _add_stack(self, part: RunPart, stack: Stack, ns: int) -> None:
        if stack.frames:
            self._stack_ns[part, id(stack)] += ns
            self._stacks[id(stack)] = stack

    def _find_loops(self, samples: Sequence[tuple[int, Stack]]) -> None:
        """The loops that training goes on in: around the step's own, and those seen in a step."""
        steps = self._facts.steps
        inside = (stack for when, stack in samples if self._busy.overlap(when - 1, when + 1) == 2)
        self._loops = {
            self._moments.find_moment(stack).loop for stack in {id(stack): stack for stack in inside}.values()
        }
        if steps.loop is not None:
            self._loops.add(self._moments.around(steps.loop.file, steps.loop.line))
        self._loops.discard(None)

    def _place_outside_steps(self, moment: Moment, when: int) -> Moment:
        """Return the moment with the part that it belongs to outside of the steps.

        All that ``fit`` itself does belongs to training; in a loop that trains, it is the user's Python that comes
        between two steps.
        """
        if moment.part not in (("data", "tensorflow", "building") if moment.fit else ("data",)):
            return moment
        if moment.fit and when < self._first:
            return moment._replace(part="building")
        inside = self._first <= when <= self._last and (not self._loops or moment.loop in self._loops)
        return moment._replace(part="between") if inside or moment.fit else moment


_OFFER = "They are not recorded: tfperf run --children does that."


def run_account(facts: RunFacts) -> tuple[RunAccount, Ledger] | None:
    """Make the account, and the same by call site.

    None if the recording lacks the import of TensorFlow, or records were dropped.
    """
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
    """Say that child processes were not recorded, if the run waits for them or they were busy for a tenth of the run;
    else "".

    ``machine``: see ``RunInfo``.
    """
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
