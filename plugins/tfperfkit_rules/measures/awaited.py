"""What another thread does while the training thread waits for it: by samples of that thread, taken meanwhile."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tfperfkit.records.samples import MIN, Frame, Place, read_log
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.kinds import Kind, kind_of


class Awaited(NamedTuple):
    """``kind``: the Python work that takes most of the thread's time; ``part``: of its samples (0 to 1), in ``frames``,
    at these lines; ``samples``: of the thread, in all."""

    kind: Kind
    part: float
    frames: Counter[Frame]
    at: Counter[Place]
    samples: int


def awaited(evidence: Evidence) -> Awaited | None:
    """None where too little was seen of such a thread, or where it runs TensorFlow for most of its time."""
    clean = evidence.steps.clean
    spans = [(clean[0].begin_ns, clean[-1].end_ns)] if clean else list(evidence.log.whole)
    stacks = [stack for _, stack in read_log(evidence.records("samples"), "awaited").inside(spans) if stack.frames]
    if len(stacks) < MIN:
        return None
    kinds: dict[Kind, Counter[Frame]] = {}
    for stack in stacks:
        if stack.activity == "python":
            frame = stack.frames[-1]
            kinds.setdefault(kind_of(evidence, frame), Counter())[frame] += 1
    if not kinds:
        return None
    pauses = {kind: frames for kind, frames in kinds.items() if kind.word == "sleep"}
    works = Counter[Frame]()
    for kind, frames in kinds.items():
        works += frames if kind not in pauses else Counter[Frame]()
    most = max(kinds, key=lambda kind: kinds[kind].total())
    frames = kinds[most] if most in pauses else works  # of work several kinds of Python are one
    at: Counter[Place] = Counter()
    for frame, count in frames.items():
        at[frame.file, frame.line] += count
    part = frames.total() / len(stacks)
    return Awaited(most, part, frames, at, len(stacks)) if part >= shared.MOSTLY.value else None
