"""STP001: checkpoints, summaries, figures, metrics, prints or evaluation in (nearly) every step.

Stack samples show Keras' and TensorFlow's code that saves or writes, and the script's lines that evaluate, draw, write
or print. Reported from 5 % of the loop, if it was seen in three steps. The gain assumes that 1 to 5 % remains.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from tfperfkit import calibration
from tfperfkit.calibration import NEARLY_ALL, Chosen, Derived, Measured, Threshold
from tfperfkit.gain import MEDIUM, every, interval
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Left, price
from tfperfkit.pricing.bounds import Bounds, add_independent
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.parts import PartName
from tfperfkit.records.samples import Stack
from tfperfkit.remedy import Every
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.batch_callbacks import batch_callback
from tfperfkit_rules.measures.beside import Beside, beside
from tfperfkit_rules.measures.called import EVALUATE, FIT, METRIC, PREDICT, TRAINER, find_call_at, is_calling, name_apis
from tfperfkit_rules.measures.eager_stacks import split_eager_samples
from tfperfkit_rules.measures.kinds import KINDS, api, kind_of
from tfperfkit_rules.measures.loop_iterations import basis
from tfperfkit_rules.measures.own_passes import in_pass
from tfperfkit_rules.measures.source_calls import find_given
from tfperfkit_rules.measures.source_text import Loop, find_frame_loops, find_loops
from tfperfkit_rules.measures.step_place import reached
from tfperfkit_rules.measures.step_shares import line_shares, span, text_of

SIDE_LEFT_MIN = Threshold(
    0.01, "share", "minimum share of side work that remains if it is done rarely", Chosen("the advice: every 100 steps")
)
SIDE_LEFT_MAX = Threshold(
    shared.RARE_SITE.value,
    "share",
    "maximum share of side work that remains if it is done rarely",
    Derived("once per epoch, as advised, of the 20 steps of a short epoch (RARE_SITE)"),
)
SIDE_LEFT_OF_WORK = Threshold(
    0.2,
    "share",
    "maximum share that remains of side work that is the purpose of a loop, in fewer and larger pieces",
    Chosen("a fifth: what the pieces themselves take is unknown"),
)
BEHIND_LEFT_MIN = Threshold(
    0.4,
    "share",
    "minimum share that remains of compiled calls that each follow side work: the side work takes over caches, "
    "pages and threads",
    Measured("see BEHIND_LEFT_MAX", TWO_BUSY_CORES, 36),
)
BEHIND_LEFT_MAX = Threshold(
    1.0,
    "share",
    "maximum share that remains of compiled calls that each follow side work",
    Measured(
        "three steps in a row, of 3 to 60 ms, against the same after a checkpoint, JSON, np.savetxt or summaries: "
        "0.39 to 1.0 (10th to 90th percentile), median 0.81, the shortest step least; after an evaluation a median of "
        "1.03",
        TWO_BUSY_CORES,
        36,
    ),
)
SIDE_SELDOM = Threshold(
    100,
    "steps",
    "minimum number of steps between side work that is as rare as advised",
    Derived("the advice: every hundred steps, every few hundred, once per epoch"),
)
SIDE_LONG = Threshold(
    3,
    "samples",
    "minimum number of samples of one occurrence, for none to be missed",
    Chosen("one more than the least that lasts"),
)
SIDE_LARGE = Threshold(
    0.3,
    "share",
    "minimum share of the loop for side work to be reported however rare it is",
    Chosen("the share at which unexplained parts of the breakdown are reported"),
)
CALLBACK_SHARE = Threshold(
    calibration.SEVERITY_HIGH.value,
    "share",
    "minimum share of a loop in callbacks that write, for all outside of the compiled step to be theirs",
    Derived("a high share, as XProf has it for one part of a step"),
)

#: Minimum share of the loop; then the part that rarer writing leaves, at best and at worst.
MIN_SHARE = MEDIUM
TITLES = {"STP001": "Checkpoints, summaries, logging or evaluation inside the training loop"}
LEFT = SIDE_LEFT_MIN.value, SIDE_LEFT_MAX.value
#: Time left in the compiled calls after it, once it is gone; not for kinds that compute, or that were not measured.
BEHIND = BEHIND_LEFT_MIN.value, BEHIND_LEFT_MAX.value
_NOT_BEHIND = ("evaluate", "metrics", "loading")
#: Of Keras and TensorFlow, what reads a model or its weights; the others of these modules write.
_LOADS = re.compile(r"(^|\.)(load\w*|restore\w*|read\w*|model_from_\w+|from_pretrained|_?load_\w+|TFSMLayer)$")
#: Classes of Keras that save or write, by which argument they learn how often, and what it is when nobody says.
_CALLBACKS = {
    "saving": (("ModelCheckpoint", "BackupAndRestore"), "save_freq"),
    "summary": (("TensorBoard",), "update_freq"),
}
_BY_DEFAULT = "epoch"


#: Each ``evaluate`` makes a dataset and an iterator of its own, and traces the dataset's functions; a model that is
#: loaded again has functions of its own, which are traced again.
_ABSORBS = {
    "summary": ("GRF002",),
    "evaluate": ("INP001", "INP012", "RET012", "RET008"),
    "loading": ("INP002", "RET003", "RET008"),
}


class _Kind(NamedTuple):
    words: str
    advice: str
    parts: tuple[PartName, ...] = ()


_WRITES: tuple[PartName, ...] = ("python", "saving", "host_sync")
_KINDS = {
    "saving": _Kind(
        "Saving",
        "Save less often: {example}{last}. A crash then loses up to {lost}",
        ("saving", "dispatch"),
    ),
    "loading": _Kind(
        "Loading a model",
        "Load the model once, before the loop, and use the same object in it",
        ("saving", "dispatch", "gc"),
    ),
    "summary": _Kind(
        "Writing summaries",
        "Write summaries every 100 steps: if step % 100 == 0. Or: tf.summary.record_if(lambda: step % 100 == 0)",
        ("saving", "dispatch", "eager_ops"),
    ),
    "evaluate": _Kind("Evaluating", "Evaluate at the end of an epoch. Or: every few hundred steps"),
    "metrics": _Kind(
        "Updating metrics eagerly",
        "Update metrics inside the compiled function (@tf.function), and call result() only where you print",
        ("eager_ops", "dispatch"),
    ),
    **{
        kind.word: _Kind(f"{kind.words[0].upper()}{kind.words[1:]}", kind.advice, _WRITES)
        for kind in KINDS
        if kind.role == "side"
    },
}


#: Text is written, which takes many times as long as the bytes of the array.
_AS_TEXT = "numpy.savetxt"
_BINARY = " Or: write bytes instead of text: np.save(name + '.npy', array), read with np.load."
#: The purpose of a loop can't be done more seldom.
_OF_WORK = {
    "metrics": "Collect rows, and update once for all: metric.update_state(y_true, y_pred). Or: move these lines into "
    "the compiled function (@tf.function) if an iteration has a batch. Call result() only where you print.",
    "writing": "Write fewer and larger pieces: one file opened once, many rows in one call, a binary format instead "
    "of text. Or: write in another thread or process.",
}


def hot_path(evidence: Evidence) -> Iterable[Finding]:
    """Return a finding for each kind of work, the costliest two."""
    if evidence.work is not None and evidence.work.kind == "call":
        return  # it does it once
    compiled = bool(
        reached(evidence, "call", "loop_call", "batch", "train_on_batch") and not reached(evidence, "apply")
    )
    after_epochs = frozenset(kind for kind in _CALLBACKS if _at_epoch_ends(evidence, kind))
    for found in beside(evidence, partial(_kind, evidence, compiled, after_epochs))[:2]:
        if found.share >= MIN_SHARE and found.often and not _seldom(evidence, found):
            yield _make_finding(evidence, found, compiled)


def _at_epoch_ends(evidence: Evidence, kind: str) -> bool:
    """Whether Keras' callbacks of a kind are made with nothing said of how often: once an epoch (STP006 tells that)."""
    classes, word = _CALLBACKS[kind]
    return bool(evidence.calls(*(f"keras.callbacks.{name}" for name in classes))) and not find_given(
        evidence, word, lambda value: not value.is_constant(_BY_DEFAULT)
    )


def _seldom(evidence: Evidence, found: Beside) -> bool:
    """Whether it is done as seldom as the advice says already. Each time takes several samples, so none was missed."""
    clean = sum(step.count for step in evidence.steps.clean)
    return (
        evidence.work is None
        and found.steps * SIDE_SELDOM.value <= clean
        and found.samples >= SIDE_LONG.value * found.steps
        and found.share < SIDE_LARGE.value
    )


def _kind(evidence: Evidence, compiled: bool, after_epochs: frozenset[str], stack: Stack) -> str:
    leaf = stack.frames[-1] if stack.frames else None
    if leaf is not None and stack.activity in after_epochs and is_calling(evidence, leaf, FIT):
        return ""
    if leaf is not None and evidence.work is None and not _can_come_again(evidence, stack):
        return ""
    if stack.activity == "saving":
        return "loading" if leaf is not None and any(map(_LOADS.search, name_apis(evidence, leaf))) else "saving"
    if stack.activity == "summary":
        return "summary"
    if leaf is None:
        return ""
    if is_calling(evidence, leaf, EVALUATE):
        return "evaluate" if evidence.work is None else ""  # outside of training it is the work itself
    if evidence.work is None and is_calling(evidence, leaf, PREDICT) and batch_callback(stack) is not None:
        return "evaluate"  # a score of one's own
    if evidence.work is None and in_pass(evidence, stack, within_steps=True) is not None:
        return "evaluate"  # a validation of one's own
    if stack.activity in ("python", "host_sync"):
        kind = kind_of(evidence, leaf)
        if kind.role == "side":
            return kind.word
    handed = compiled and stack.activity in ("eager_ops", "dispatch")
    if handed and is_calling(evidence, leaf, METRIC) and not is_calling(evidence, leaf, TRAINER):
        return "metrics"
    return ""


def _seen(evidence: Evidence) -> str:
    """Return what ``Beside.steps`` counted."""
    work = evidence.work
    if work is None:
        return "steps in which this work was sampled"
    return "iterations in which this work was sampled" if work.iterations is not None else "samples of this work"


def _can_come_again(evidence: Evidence, stack: Stack) -> bool:
    """Whether what a stack did can come again: within a loop, or a ``fit`` that does it; else it stands between two
    trainings, and is done once for each. Unknown where a file's source is."""
    return any(
        is_calling(evidence, frame, FIT) or find_frame_loops(evidence, frame) or not evidence.source(frame.file)
        for frame in stack.frames
    )


def _make_finding(evidence: Evidence, found: Beside, compiled: bool) -> Finding:
    unit = evidence.unit
    kind, share, iterations = found.kind, found.share, found.iterations
    low, high = interval(share, len(iterations.found))
    if kind == "metrics":  # Python that dispatches operations: samples see too little Python
        rows = line_shares(evidence, ("eager_ops", "dispatch"))
        high = max(high, sum(row.share for row in rows if row.place in found.at))
    if kind == "loading":  # what is loaded is built, and its functions are traced, again each time
        high = max(high, share + _made_anew(evidence))
    if kind in _CALLBACKS and share > CALLBACK_SHARE.value and compiled:
        # All other time outside of the compiled step belongs to the callbacks.
        high = max(high, 1 - evidence.share("graph", "input"))
    if kind == "evaluate":
        high += _freed(found)
    worst = LEFT[1] if evidence.work is None else SIDE_LEFT_OF_WORK.value
    saved = low * (1 - worst), high * (1 - LEFT[0])
    behind = _behind(found) if kind not in _NOT_BEHIND else 0.0
    others = Bounds(max(1 - saved[1] - behind, 0.0), max(1 - saved[0] - behind, 0.0))
    left = add_independent((others, Bounds(behind * BEHIND[0], behind * BEHIND[1]))) if behind else others
    gained = price(Every("save"), left=Left(*left))
    words = _KINDS[kind]
    seldom = every(share)
    where, example = _where(evidence, kind, found.at, seldom)
    where = tuple(dict.fromkeys((*where, *_callbacks(evidence, found))))
    by_epoch = _BY_DEFAULT in example
    advice = words.advice.format(
        example=example,
        last="" if by_epoch else ", and once after the loop",
        lost="an epoch" if by_epoch else f"{seldom:,} steps",
    )
    advice += "."
    named = next((api(evidence, found.frames, item) for item in KINDS if item.word == kind), "")
    return Finding(
        code="STP001",
        remedy=Every("save"),
        title=f"{words.words}{f' ({named})' if named else ''} takes {100 * share:.0f} % of {unit.loop}",
        basis=basis(evidence, iterations.iteration_ms),
        share_of_step=share,
        gain=gained,
        where=where,
        evidence=(
            Measurement("share of the loop in this work", share, "share", "samples"),
            Measurement(
                f"time in this work {unit.per_a}",
                share * iterations.iteration_ms,
                "ms",
                "samples",
            ),
            Measurement(_seen(evidence), float(found.steps), "count", "baseline"),
            Measurement("samples", float(len(iterations.found)), "count", "baseline"),
        ),
        advice=(_OF_WORK.get(kind, advice) if evidence.work is not None else advice)
        + (_BINARY if _AS_TEXT in named else ""),
        detail=f"{'The next step' if evidence.work is None else 'The rest of the work'} waits until it is done."
        + (_MORE if 1 - left.lower > share else ""),
        absorbs=(
            *_ABSORBS.get(kind, ()),
            *(("EAG008",) if kind == "metrics" and _is_all_beside(evidence, found) else ()),
        ),
        absorbs_here=("LIN001", "SYN001", "STP006", "STP008"),
        parts=words.parts,
    )


#: Words for work whose removal may save more than its own share.
_MORE = (
    " Compiled steps after it are slower too (cold caches, threads that slept), so more may be saved than its share."
)


def _callbacks(evidence: Evidence, found: Beside) -> list[SourceSpan]:
    """Return the lines of callbacks that call the work, if the work is in a function of its own."""
    frames = [batch_callback(stack) for stack, _ in found.iterations.found if _at(found, stack)]
    places = dict.fromkeys((frame.file, frame.line) for frame in frames if frame is not None)
    return [span(evidence, *place) for place in places if place not in found.at]


def _behind(found: Beside) -> float:
    """Return the share of the loop in calls of compiled functions, each behind the side work."""
    called = sum(ns for stack, ns in found.iterations.found if stack.activity == "graph" and not _at(found, stack))
    return called / found.iterations.whole if found.iterations.whole else 0.0


def _freed(found: Beside) -> float:
    """Return the share of the loop in which objects were freed, outside of the evaluation: each makes a dataset
    and an iterator, which are freed behind it. Training's own go once an epoch."""
    gone = sum(ns for stack, ns in found.iterations.found if stack.activity == "waiting" and not _at(found, stack))
    return gone / found.iterations.whole if found.iterations.whole else 0.0


def _at(found: Beside, stack: Stack) -> bool:
    leaf = stack.frames[-1] if stack.frames else None
    return leaf is not None and (leaf.file, leaf.line) in found.at


def _is_all_beside(evidence: Evidence, found: Beside) -> bool:
    """Tell whether metrics are nearly all operations that run eagerly next to the compiled step."""
    part = split_eager_samples(evidence).get("operations")
    if part is None:
        return False
    own = sum(count for stack, count in part.stacks.items() if _at(found, stack))
    return own >= NEARLY_ALL.value * part.seen


def _made_anew(evidence: Evidence) -> float:
    """Return the share of the samples in which functions were traced, layers built, or objects freed, besides
    loading."""
    samples = evidence.samples
    again = sum(
        count
        for stack, count in samples.stacks.items()
        if stack.activity in ("tracing", "waiting") or (stack.context == "build" and stack.activity != "saving")
    )
    return again / samples.count if samples.count else 0.0


def _where(
    evidence: Evidence, kind: str, at: Counter[tuple[str, int]], seldom: int
) -> tuple[tuple[SourceSpan, ...], str]:
    """Return the callback's line where Keras does it in ``fit``, else the innermost own line; then the loop or the
    fit."""
    lines = [place for place, _ in at.most_common(3) if place[1]]
    spans = [span(evidence, *place) for place in lines]
    example = f"if step % {seldom} == 0"
    if kind in _CALLBACKS and lines and find_call_at(evidence, lines[0], FIT) is not None:
        classes, word = _CALLBACKS[kind]
        example = f'{word}="{_BY_DEFAULT}"'
        made = [
            span(evidence, item.file, item.line)
            for item in evidence.calls(*(f"keras.callbacks.{name}" for name in classes))
        ]
        return tuple(dict.fromkeys((*made[:2], *spans))), example
    if lines:
        around = find_loops(evidence, *lines[0])
        if around:
            spans.append(span(evidence, lines[0][0], around[-1].line))
            example = f"if {_counter(around[-1])} % {seldom} == 0: {text_of(evidence, lines[0])}"
    return tuple(dict.fromkeys(spans)), example


def _counter(loop: Loop) -> str:
    """Return what counts a loop's iterations; where nothing does, a name for what should."""
    counts = loop.over.startswith(("range(", "enumerate(")) and loop.targets
    return loop.targets[0] if counts else "step"
