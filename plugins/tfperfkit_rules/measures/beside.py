"""Work of a kind inside the training loop, or a work loop: its share of the time, its lines, in how many steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.records.samples import Frame, Place, Stack
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.loop_iterations import Stretch, stretch

SIDE_STEPS = Threshold(
    3, "steps", "minimum number of steps with side work, for it to be part of the loop", Chosen("two may be chance")
)


class Beside(NamedTuple):
    """Work next to the steps.

    ``share``: of the loop's time, between steps included; ``steps`` and ``samples`` in which it was seen.
    """

    kind: str
    share: float
    steps: int
    samples: int
    at: Counter[Place]
    frames: Counter[Frame]
    iterations: Stretch

    @property
    def often(self) -> bool:
        """Return whether the work is part of the loop, no rare event."""
        return self.steps >= SIDE_STEPS.value


def beside(evidence: Evidence, kind_of: Callable[[Stack], str]) -> list[Beside]:
    """By kind, the costliest first. ``kind_of``: "" for what is none."""
    iterations = stretch(evidence)
    if iterations is None:
        return []
    known: dict[Stack, str] = {}
    at: dict[str, Counter[Place]] = {}
    frames: dict[str, Counter[Frame]] = {}
    weight: Counter[str] = Counter()
    number: Counter[str] = Counter()
    for stack, ns in iterations.found:
        kind = known[stack] if stack in known else known.setdefault(stack, kind_of(stack))
        if not kind:
            continue
        weight[kind] += ns
        number[kind] += 1
        leaf = stack.frames[-1] if stack.frames else None
        at.setdefault(kind, Counter())[(leaf.file, leaf.line) if leaf is not None else ("", 0)] += ns
        if leaf is not None:
            frames.setdefault(kind, Counter())[leaf] += ns
    steps = _steps_with(evidence, known, number)
    return [
        Beside(
            kind, ns / iterations.whole, steps[kind], number[kind], at[kind], frames.get(kind, Counter()), iterations
        )
        for kind, ns in weight.most_common()
    ]


def _steps_with(evidence: Evidence, known: dict[Stack, str], number: Counter[str]) -> Counter[str]:
    """Count the clean steps in which (or just after which) each kind was seen.

    If nothing distinguishes a loop's iterations, each sample counts: it is as likely as not a moment of another
    iteration.
    """
    clean = evidence.steps.clean
    if evidence.work is not None and evidence.work.iterations is None:
        return number
    seen: dict[str, set[int]] = {}
    if clean:
        for when, stack in evidence.log.inside([(clean[0].begin_ns, clean[-1].end_ns)]):
            if kind := known.get(stack, ""):
                seen.setdefault(kind, set()).add(evidence.steps.number_at(when))
    return Counter({kind: len(numbers) for kind, numbers in seen.items()})
