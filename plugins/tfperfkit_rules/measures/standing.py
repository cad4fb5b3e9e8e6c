"""Where another thread waits with a time limit while the training thread waits too and nobody works.

By samples of the threads that wait, taken meanwhile; the call in the source says whether there is a limit.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tfperfkit.records.samples import MIN, Frame, Place, read_log
from tfperfkit.rule import Evidence
from tfperfkit.syntax.nodes import get_argument, is_constant
from tfperfkit_rules.measures import shared

#: Where the time limit stands among the arguments of a function of Python's library that waits.
_LIMIT = {"get": 1, "put": 1, "wait": 0, "join": 0, "result": 0, "acquire": 1}
_WAITING = ("queue:", "threading:", "concurrent.futures.", "multiprocessing.")


class Standing(NamedTuple):
    """``part``: of the moments (``moments``) in which nobody worked, those in which a thread stood at ``place``, in
    ``frame``; ``above``: the line that called its function, if one did mostly."""

    place: Place
    frame: Frame
    part: float
    moments: int
    above: Place | None


def standing(evidence: Evidence) -> Standing | None:
    """The line with most of them; None where it has less than half, or there were few."""
    clean = evidence.steps.clean
    spans = [(clean[0].begin_ns, clean[-1].end_ns)] if clean else list(evidence.log.whole)
    seen = read_log(evidence.records("samples"), "standing").inside(spans)
    moments = {when for when, _ in seen}
    if len(moments) < MIN:
        return None
    at: dict[Place, set[int]] = {}
    frames: dict[Place, Counter[tuple[Frame, ...]]] = {}
    for when, stack in seen:
        if stack.frames and _has_time_limit(evidence, stack.frames[-1]):
            place = stack.frames[-1].file, stack.frames[-1].line
            at.setdefault(place, set()).add(when)
            frames.setdefault(place, Counter())[stack.frames] += 1
    if not at:
        return None
    place = max(at, key=lambda item: len(at[item]))
    part = len(at[place]) / len(moments)
    if part < shared.MOSTLY.value:
        return None
    stack_frames = frames[place].most_common(1)[0][0]
    above = (stack_frames[-2].file, stack_frames[-2].line) if len(stack_frames) > 1 else None
    return Standing(place, stack_frames[-1], part, len(moments), above)


def _has_time_limit(evidence: Evidence, frame: Frame) -> bool:
    """Whether a frame waits in a call that has a time limit."""
    module, _, function = (frame.calls or ("",))[0].rpartition(":")
    syntax = evidence.syntax(frame.file)
    if not f"{module}:".startswith(_WAITING) or function not in _LIMIT or syntax is None:
        return False
    calls = syntax.running_calls(frame.line, frame.span)
    limit = get_argument(calls[0], "timeout", _LIMIT[function]) if calls else None
    return limit is not None and not is_constant(limit, None)
