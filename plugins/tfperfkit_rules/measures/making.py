"""Models that are loaded, built or compiled again in each iteration of a loop, and what each new one drags along.

A fresh model brings its variables at the first call, and the tracing of its functions. Told by the frames of Keras and
of TensorFlow's saved models below the user's lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.samples import MIN, Frame, Place, Stack
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import LAYER, TRAINER, Api, is_calling
from tfperfkit_rules.measures.source_text import find_frame_loops, find_function
from tfperfkit_rules.measures.trace_window import reached

MIN_MADE = Threshold(
    10,
    "count",
    "minimum number of times that a model is made or loaded in vain",
    Chosen("fewer are the folds of a validation or the trials of a search, each with a model of its own"),
)
MADE_LEFT = Threshold(
    0.1,
    "share",
    "maximum share of loading or building a model in each iteration that remains if one model is kept",
    Measured("load_model and a direct call 36 ms, the call alone 2.7 ms: 0.065 to 0.095", TWO_BUSY_CORES, 7),
)

#: A model is read from a file.
LOADING = Api(
    (
        "keras.src.saving.",
        "keras.src.legacy.saving.",
        "keras.src.export.",
        "tensorflow.python.saved_model.load",
        "tensorflow.python.keras.saving.",
    ),
    frozenset({"load_model", "load", "load_partial", "load_model_from_hdf5"}),
    frozenset({"load_model"}),
)
#: A model, a layer or an optimizer is made, or a model set up for training.
MAKING = Api(
    (
        "keras.src.models.",
        "keras.src.layers.",
        "keras.src.optimizers.",
        "keras.src.ops.operation",
        "keras.src.trainers.trainer",
        "keras.src.engine.",
        "keras.src.saving.serialization_lib",
    ),
    frozenset(
        {"__init__", "__new__", "build", "compile", "clone_model", "from_config", "model_from_json"}
        | {"deserialize_keras_object"}
    ),
    frozenset({"compile", "clone_model", "from_config", "model_from_json"}),
)
#: Weights are read from a file into a model.
_WEIGHTS = Api(
    ("keras.src.models.", "keras.src.saving.", "keras.src.engine."),
    frozenset({"load_weights"}),
    frozenset({"load_weights"}),
)
_ADDING = Api(("keras.src.models.sequential", "keras.src.engine.sequential"), frozenset({"add"}))
_COMPILED = "tensorflow.python.eager.polymorphic_function."


class Making(NamedTuple):
    """``what``: which takes more; ``place``: the line that makes the model; ``made``: samples of making it;
    ``dragged``: of variables and tracing for it; ``first_runs``: of its compiled functions, which run for the first
    time; ``times``: how often it was made, at least; ``once``: each is called once at most, so that its calls are first
    ones."""

    what: Literal["loaded", "made"]
    place: Place
    made: Counter[Stack]
    dragged: Counter[Stack]
    first_runs: Counter[Stack]
    times: float
    once: bool = False


def making(evidence: Evidence) -> Making | None:
    """Return the object made again and again in the work; None where nothing is, or too seldom to matter."""
    if evidence.work is None or evidence.samples.count < MIN:
        return None
    made: Counter[Stack] = Counter()
    lines: Counter[Place] = Counter()
    loaded = whole = 0
    for stack, count in evidence.samples.stacks.items():
        found = _maker(evidence, stack)
        if found is not None:
            made[stack] += count
            loaded += count * is_calling(evidence, found, LOADING)
        if found is not None or _symbolic(evidence, stack):
            whole += count
            for place in dict.fromkeys((frame.file, frame.line) for frame in _in_loop(evidence, stack)):
                lines[place] += count
    deep = [place for place, count in lines.items() if count >= shared.NEARLY_ALWAYS.value * whole]
    if not deep or not made or not _goes_on(evidence, made):
        return None
    # The last line that holds most samples, on the way from the loop to the line that makes the data.
    order = max((_in_loop(evidence, stack) for stack in made), key=len, default=())
    ranks = {(frame.file, frame.line): rank for rank, frame in enumerate(order)}
    place = max(deep, key=lambda item: ranks.get(item, -1))
    times = max(_episodes(evidence, made), reached(evidence, place[0], place[1], place[1]) or 0.0)
    if times < MIN_MADE.value:
        return None
    dragged: Counter[Stack] = Counter()
    first: Counter[Stack] = Counter()
    for stack, count in evidence.samples.stacks.items():
        if stack in made or not stack.frames:
            continue
        called = stack.frames[-1].calls or ()
        compiled = any(name.startswith(_COMPILED) for name in called)
        weights = is_calling(evidence, stack.frames[-1], _WEIGHTS)
        if (
            weights
            or stack.context == "build"
            or _symbolic(evidence, stack)
            or (compiled and stack.activity == "tracing")
            or (compiled and stack.activity != "graph" and _of_model(evidence, stack))
        ):
            dragged[stack] += count
        elif compiled and stack.activity == "graph":
            first[stack] += count
    what: Literal["loaded", "made"] = "loaded" if 2 * loaded >= made.total() else "made"
    return Making(what, place, made, dragged, first, times, _called_once(evidence, place, first))


def _called_once(evidence: Evidence, place: Place, calls_of: Counter[Stack]) -> bool:
    """Whether the lines that call compiled functions ran as often as the one that makes the model, or more rarely."""
    making_it = reached(evidence, place[0], place[1], place[1])
    lines = {(stack.frames[-1].file, stack.frames[-1].line) for stack in calls_of}
    counted = [reached(evidence, file, line, line) for file, line in lines]
    # A window begins and ends anywhere in an iteration: one more of a line than of another is no second call.
    return making_it is not None and all(
        count is not None and shared.MOSTLY.value * count < making_it for count in counted
    )


def _of_model(evidence: Evidence, stack: Stack) -> bool:
    """Whether a call of a model, or its ``predict``, called the compiled function; and traced it or bound arguments."""
    return any(is_calling(evidence, frame, api) for frame in own_frames(evidence, stack) for api in (TRAINER, LAYER))


def _symbolic(evidence: Evidence, stack: Stack) -> bool:
    """Whether a layer is called to build a model of the functional kind: its variables are made."""
    return bool(stack.frames) and stack.context == "build" and is_calling(evidence, stack.frames[-1], LAYER)


def _maker(evidence: Evidence, stack: Stack) -> Frame | None:
    """The innermost frame that makes or loads a model, outside of the first calls of one."""
    return next((frame for frame in reversed(stack.frames) if _makes(evidence, frame)), None)


def _makes(evidence: Evidence, frame: Frame) -> bool:
    return any(is_calling(evidence, frame, api) for api in (LOADING, MAKING, _ADDING))


def _in_loop(evidence: Evidence, stack: Stack) -> tuple[Frame, ...]:
    """The frames of the loop itself and below it."""
    return tuple(frames_inside(evidence, stack, itself=True))


def frames_inside(evidence: Evidence, stack: Stack, *, itself: bool = False) -> Iterator[Frame]:
    """Yield the frames below the work's loop or line; ``itself``: with the frame of the loop or line."""
    work = evidence.work
    inside = work is None
    for frame in stack.frames:
        if not inside and work is not None and frame.file == work.where.file:
            if work.kind == "call":
                inside = frame.line == work.where.line
            else:
                around = find_frame_loops(evidence, frame)
                same = find_function(evidence, frame.file, frame.line) == find_function(
                    evidence, frame.file, work.where.line
                )
                inside = same and any(loop.line == work.where.line for loop in around)
            if inside and itself:
                yield frame
            continue
        if inside:
            yield frame


def own_frames(evidence: Evidence, stack: Stack) -> tuple[Frame, ...]:
    """Return the frames from the one with the work's loop or line on; all frames if none has it.

    A callback's work in its own loop doesn't count for the ``fit`` that called the callback.
    """
    if evidence.work is None:
        return stack.frames
    return tuple(frames_inside(evidence, stack, itself=True)) or stack.frames


def _episodes(evidence: Evidence, made: Counter[Stack]) -> int:
    """How often samples saw it begin: after one that saw something else."""
    seen = _seen(evidence, made)
    return sum(now and not before for before, now in zip([False, *seen], seen, strict=False))


def _goes_on(evidence: Evidence, made: Counter[Stack]) -> bool:
    """Whether samples of most of the work saw it: a model that makes its layers at its first call is made once."""
    seen = _seen(evidence, made)
    at = [index for index, now in enumerate(seen) if now]
    return bool(at) and at[-1] - at[0] >= shared.MOSTLY.value * len(seen)


def _seen(evidence: Evidence, made: Counter[Stack]) -> list[bool]:
    spans = [(step.begin_ns, step.end_ns) for step in evidence.steps.clean] or list(evidence.log.whole)
    return [stack in made for _, stack in evidence.log.inside(spans)]
