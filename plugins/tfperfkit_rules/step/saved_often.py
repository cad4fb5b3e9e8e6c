"""STP001: the script's own calls save or export the model again and again during the training.

All samples with such a line on the stack count, whatever runs below it. Reported from 10 % of the run and four calls,
which are counted by stretches of samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.clock import NS_PER_S
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.samples import MIN, Frame, Place, Stack
from tfperfkit.remedy import Every
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit_rules.measures.called import FIT, Api, find_call, is_calling, name_callee, name_receiver
from tfperfkit_rules.measures.moments import moments
from tfperfkit_rules.measures.source_text import find_frame_loops
from tfperfkit_rules.measures.step_shares import span
from tfperfkit_rules.step.epoch_ends import EPOCH_ENDS_MIN_SHARE, EPOCHS_LEFT_MIN

SAVES_MIN = Threshold(
    4,
    "times",
    "minimum number of times that one line saved in a training, for 'again and again'",
    Chosen("fewer show no pattern, and are as seldom as the advice"),
)
#: Writes a model or its weights, whichever API does it.
SAVE = Api(
    (
        "keras.src.models.",
        "keras.src.engine.",
        "keras.src.saving.",
        "keras.src.legacy.saving.",
        "keras.src.export.",
        "tensorflow.python.saved_model.save",
        "tensorflow.python.checkpoint.",
        "tensorflow.python.training.saver",
    ),
    frozenset({"save", "export", "save_weights", "save_model", "write"}),
    frozenset({"save", "export", "save_weights", "save_model"}),
)
#: Functions that save what they are given.
_MODULES = ("tensorflow.saved_model", "keras.models", "keras.saving")


class _Saves(NamedTuple):
    """The time of the saving calls in one function. ``at``: ns by line, ``frames``: by the frame that calls; ``times``:
    how often the costliest line was entered, at least; ``in_fit``: by a callback."""

    at: Counter[Place]
    frames: Counter[Frame]
    times: int
    samples: int
    in_fit: bool


def saved_often(evidence: Evidence) -> Iterable[Finding]:
    """The function of the user's whose saving takes most of the run, if it saves while the model trains."""
    whole = evidence.run.wall_s * NS_PER_S
    if evidence.work is not None or not evidence.steps.steps or whole <= 0:
        return
    found = max(_find_saves(evidence), key=lambda item: item.at.total(), default=None)
    if found is None or found.samples < MIN or found.times < SAVES_MIN.value:
        return
    share = min(found.at.total() / whole, 1.0)
    if share >= EPOCH_ENDS_MIN_SHARE.value:
        yield _make_finding(evidence, found, share)


def _find_saves(evidence: Evidence) -> list[_Saves]:
    """Group the samples of the training below lines that save by the function that these lines are in.

    A call is a stretch of samples that show its line; two of them without a sample in between count once.
    """
    taken = list(moments(evidence))
    saving = {
        (leaf.file, leaf.line): leaf
        for stack in {id(stack): stack for _, stack, _ in taken}.values()
        if (leaf := stack.frames[-1] if stack.frames else None) is not None and is_calling(evidence, leaf, SAVE)
        if _comes_again(evidence, stack)
    }
    last = evidence.steps.steps[-1].end_ns
    in_fit: set[Place] = set()
    ns: Counter[Place] = Counter()
    samples: Counter[Place] = Counter()
    times: Counter[Place] = Counter()
    before: tuple[Place, int] | None = None
    for when, stack, took in taken:
        place = next(((f.file, f.line) for f in stack.frames if (f.file, f.line) in saving), None)
        step = evidence.steps.number_at(when) if place is not None else 0
        if place is not None:
            ns[place] += took
            samples[place] += 1
            if place not in in_fit and any(is_calling(evidence, frame, FIT) for frame in stack.frames):
                in_fit.add(place)
            if when <= last + took:
                times[place] += before != (place, step)
        before = (place, step) if place is not None else None
    functions: dict[tuple[str, str, int], list[Place]] = {}
    for place, frame in saving.items():
        functions.setdefault((frame.file, frame.name, frame.first), []).append(place)
    return [
        _Saves(
            Counter({place: ns[place] for place in places}),
            Counter({saving[place]: ns[place] for place in places}),
            times[max(places, key=lambda place: ns[place])],
            sum(samples[place] for place in places),
            any(place in in_fit for place in places),
        )
        for places in functions.values()
    ]


def _comes_again(evidence: Evidence, stack: Stack) -> bool:
    """Whether a stack stands within a loop, or within a ``fit`` that calls a callback."""
    return any(is_calling(evidence, frame, FIT) or find_frame_loops(evidence, frame) for frame in stack.frames) or (
        stack.context == "callback"
    )


def _make_finding(evidence: Evidence, found: _Saves, share: float) -> Finding:
    ((frame, _), *_) = found.frames.most_common(1)
    call = find_call(evidence, frame, SAVE)
    name = name_callee(call, "saving")
    seconds = found.at.total() / NS_PER_S
    return Finding(
        code="STP001",
        remedy=Every("save"),
        title=f"{name} inside {evidence.unit.loop} takes {100 * share:.0f} % of the run, in about {found.times} calls",
        basis="run",
        share_of_step=share,
        gain=price(Every("save"), Part.sampled(share, found.samples), Left(1 / found.times, EPOCHS_LEFT_MIN.value)),
        where=tuple(span(evidence, *place) for place, _ in found.at.most_common(3)),
        evidence=(
            Measurement("share of the run in saving", share, "share", "run"),
            Measurement("time in saving with all calls below", 1000 * seconds, "ms", "samples"),
            Measurement("calls, about", float(found.times), "count", "samples"),
            Measurement("time per call", 1000 * seconds / found.times, "ms", "samples"),
            Measurement("samples", float(found.samples), "count", "samples"),
        ),
        advice=_advise(name, _name_model(call), "fit" if found.in_fit else "the loop"),
        detail=(
            "The time counts everything below these lines: an export traces the model's functions again, then writes "
            "files."
        ),
        absorbs_here=(
            "STP001",
            "STP003",
            "STP008",
            "STP017",
            "RET003",
            "RET008",
            "RET012",
            "RET014",
            "SYN001",
            "LIN001",
        ),
        parts=("saving", "tracing", "dispatch"),
    )


def _name_model(call: Call | None) -> str:
    """Write the model that a call saves, in the script's words: its first argument, or the object whose method it
    is. "model" if that is a checkpoint."""
    if call is None or call.method == "write":
        return "model"
    owner = call.name.rpartition(".")[0]
    if owner.startswith("tensorflow.train"):
        return "model"
    given = call.arguments[0] if owner in _MODULES and call.arguments else None
    return given.text if given is not None and given.is_plain else name_receiver(call)


def _advise(name: str, model: str, training: str) -> str:
    return (
        f"Call {name} once, after {training}; to save the best state, keep its weights in memory "
        f"(best = {model}.get_weights()), and set them before saving ({model}.set_weights(best)). Or: save at every "
        "tenth of these times; a crash then loses what was trained since."
    )
