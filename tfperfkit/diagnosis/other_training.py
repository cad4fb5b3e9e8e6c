"""Whether the windows saw another training than the one that most steps are of: a teacher before its student."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tfperfkit import calibration
from tfperfkit.diagnosis.places import name_place
from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Place, Stack
from tfperfkit.records.steps import Step
from tfperfkit.rule import Evidence

#: Clean steps of the larger training before a window that looks into it.
_STEPS_BEFORE = 10
#: Steps of each window that is proposed.
_WINDOW_STEPS = 10


class OtherTraining(NamedTuple):
    """Call sites of the steps in a probe's window and of most steps, with their shares of the clean steps' time, and a
    step of the latter at which a window may begin.
    """

    probe: str
    seen: SourceSpan
    seen_share: float
    main: SourceSpan
    main_share: float
    begin: int


def other_trainings(evidence: Evidence) -> list[OtherTraining]:
    """Yield the other training for each window that is concerned, in the order of their steps."""
    probes = dict.fromkeys(step.window for step in evidence.steps.steps)
    found = [_of_window(evidence, probe) for probe in probes if probe not in ("", "clean", "warmup", "settle")]
    return [each for each in found if each is not None]


def _of_window(evidence: Evidence, probe: str) -> OtherTraining | None:
    """Compare the user's own lines that stay the same throughout the window: most of the later samples went another way
    from one of these lines.

    None if that is not so.
    """
    clean = evidence.steps.clean
    within = [_places(stack) for _, stack in evidence.log.inside(_spans(evidence.steps.in_window(probe)))]
    path = _common([places for places in within if places])
    if not path or not clean:
        return None
    apart: Counter[tuple[Place, ...]] = Counter()
    when: dict[tuple[Place, ...], list[int]] = {}
    seen, last_seen = 0, max(step.end_ns for step in evidence.steps.in_window(probe))
    known: dict[int, tuple[tuple[Place, ...], int]] = {}  # the same stacks come again and again
    for at, stack in evidence.log.inside(_spans(clean)):
        if id(stack) not in known:
            known[id(stack)] = (ways := _places(stack)), len(_common([path, ways]))
        (places, same), weight = known[id(stack)], evidence.log.pause(at)
        if same == len(path):
            seen, last_seen = seen + weight, max(at, last_seen)
        elif len(places) > same:
            apart[places[: same + 1]] += weight
            when.setdefault(places[: same + 1], []).append(at)
    whole = seen + apart.total()
    if not apart or seen > calibration.OTHER_TRAINING_MAX.value * whole:
        return None
    main, weight = apart.most_common(1)[0]
    # Lines of one loop are sampled in turn; a training that follows comes after the last sample of the one before.
    later = sum(at > last_seen for at in when[main])
    if weight < calibration.MAIN_TRAINING_MIN.value * whole or later < calibration.APART_MIN.value * len(when[main]):
        return None
    first = evidence.steps.number_at(when[main][0])
    at_main, at_seen = SourceSpan(*main[-1]), SourceSpan(*path[len(main) - 1])
    return OtherTraining(probe, at_seen, seen / whole, at_main, weight / whole, first + _STEPS_BEFORE)


def notes(evidence: Evidence) -> tuple[str, ...]:
    """For the head of the report: what was not looked at, and how to."""
    found = other_trainings(evidence)
    if not found:
        return ()
    begins = itertools.count(found[0].begin, _WINDOW_STEPS)
    proposed = zip(found, begins, strict=False)
    options = " ".join(f"--window {each.probe}={begin}:{_WINDOW_STEPS}" for each, begin in proposed)
    first = found[0]
    return (
        f"The windows saw the training at {name_place(first.seen)}, {100 * first.seen_share:.0f} % of the steps' "
        f"time. The one at {name_place(first.main)} has {100 * first.main_share:.0f} %, and nothing looked inside "
        f"of its compiled functions. To look there: {options}",
    )


def _spans(steps: Iterable[Step]) -> list[tuple[int, int]]:
    return [(step.begin_ns, step.end_ns) for step in steps]


def _places(stack: Stack) -> tuple[Place, ...]:
    return tuple((frame.file, frame.line) for frame in stack.frames)


def _common(paths: Sequence[tuple[Place, ...]]) -> tuple[Place, ...]:
    """Return the frames that all paths begin with, at the same lines."""
    together = zip(*paths, strict=False) if paths else ()
    return tuple(frames[0] for frames in itertools.takewhile(lambda frames: len(set(frames)) == 1, together))
