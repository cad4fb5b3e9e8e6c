"""STP001: summaries, checkpoints, images, metrics, prints or evaluation on the way of (nearly) every step."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit.gain import MEDIUM, interval, middle, severity, speedups
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.records.samples import Frame, Stack
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import shared
from tfperfkit_rules.calibration import step as calibrated
from tfperfkit_rules.measures.called import EVALUATE, FIT, METRIC, TRAINER, called_at, calls, doing
from tfperfkit_rules.measures.source_text import loops
from tfperfkit_rules.measures.step_place import reached
from tfperfkit_rules.measures.step_shares import line_shares, span
from tfperfkit_rules.measures.turns import Stretch, basis, stretch

#: What writes or draws, as ``called.doing`` names it.
WRITES = re.compile(
    r"^(matplotlib|wandb|mlflow|imageio|h5py)\.|^PIL\.Image\.save$|^PIL\.Image(\.\w+)?\(\)(\.\w+\(\))*\.save$|^cv2\.imwrite$|"
    r"^numpy\.(.*\.)?(save|savez|savez_compressed|savetxt|_savez)$|^numpy\..*\.tofile$|^(json|pickle|marshal|yaml)\.(.*\.)?dump$|"
    r"^pandas\..*\.to_(csv|parquet|pickle|json|hdf|feather|excel)$|\.(imsave|savefig)$|"
    r"^(builtins\.open|io\.open|open)\(\)\.(write|writelines|flush)$|^csv\.\w+\(\)\.\w+$|"
    r"^\?\.(writerow|writerows|flush|writelines|savefig)$|^tensorflow\.(io|summary)\..*(write|flush)"
)
PRINTS = re.compile(
    r"^builtins\.print$|^tensorflow\.print$|^tensorflow\.python\.ops\.logging_ops\.print|^logging(\.|$)|^absl\.logging|"
    r"^tqdm\.|^rich\.|^loguru\.|^sys\.(stdout|stderr)\.|^colorama\."
)
#: It is on the way of the steps when it was seen in this many of them ...
MIN_STEPS = calibrated.SIDE_STEPS.value
#: ... and takes this share; what rarer writing leaves of it, at best and at worst.
MIN_SHARE = MEDIUM
LEFT = calibrated.SIDE_LEFT_MIN.value, calibrated.SIDE_LEFT_MAX.value
#: Classes of Keras that save or write, and how they are told how often.
_CALLBACKS = {
    "saving": (("ModelCheckpoint", "BackupAndRestore"), 'save_freq="epoch"'),
    "summary": (("TensorBoard",), 'update_freq="epoch"'),
}


#: Each ``evaluate`` makes a dataset and an iterator of its own, and traces the dataset's functions.
_ABSORBS = {"summary": ("GRF002",), "evaluate": ("INP001", "INP012", "RET012", "RET008")}


class _Kind(NamedTuple):
    words: str
    advice: str


_KINDS = {
    "saving": _Kind("Saving", "Save once an epoch or every few minutes ({example}), not at each step"),
    "summary": _Kind(
        "Writing summaries",
        "Write them every 100 steps or so: if step % 100 == 0, or tf.summary.record_if(lambda: step % 100 == 0)",
    ),
    "evaluate": _Kind("Evaluating", "Evaluate at the end of an epoch or every few hundred steps"),
    "writing": _Kind("Writing files and drawing", "Do it every few hundred steps, or in another process"),
    "printing": _Kind("Printing", "Print every 100 steps or so, and read the values of tensors only then"),
    "metrics": _Kind(
        "Updating metrics operation by operation",
        "Update metrics inside the compiled step (the @tf.function), and call result() only where you print",
    ),
}


def hot_path(evidence: Evidence) -> Iterable[Finding]:
    """A finding for each kind of work, the costliest two."""
    turns = stretch(evidence)
    if turns is None:
        return
    steps = _steps_with(evidence)
    compiled = _compiled(evidence)
    places: dict[str, Counter[tuple[str, int]]] = defaultdict(Counter)
    for stack, weight in turns.found:
        kind = _kind(evidence, stack, compiled)
        if kind:
            leaf = stack.frames[-1] if stack.frames else None
            places[kind][(leaf.file, leaf.line) if leaf else ("", 0)] += weight
    ranked = sorted(places.items(), key=lambda item: -sum(item[1].values()))
    for kind, at in ranked[:2]:
        share = sum(at.values()) / turns.whole
        if share >= MIN_SHARE and steps[kind] >= MIN_STEPS:
            yield _finding(evidence, kind, at, share, turns, steps[kind])


def _compiled(evidence: Evidence) -> bool:
    return bool(reached(evidence, "call", "loop_call", "batch", "train_on_batch")) and not reached(evidence, "apply")


def _kind(evidence: Evidence, stack: Stack, compiled: bool) -> str:
    if stack.activity in ("saving", "summary"):
        return stack.activity
    if not stack.frames:
        return ""
    leaf = stack.frames[-1]
    if calls(evidence, leaf, EVALUATE):
        return "evaluate"
    if stack.activity in ("python", "host_sync"):
        if does(evidence, leaf, WRITES):
            return "writing"
        if does(evidence, leaf, PRINTS):
            return "printing"
    handed = compiled and stack.activity in ("eager_ops", "dispatch")
    if handed and calls(evidence, leaf, METRIC) and not calls(evidence, leaf, TRAINER):
        return "metrics"
    return ""


def does(evidence: Evidence, frame: Frame, wanted: re.Pattern[str]) -> bool:
    """Whether a frame of the person's was in one of these functions."""
    return any(wanted.search(name) for name in doing(evidence, frame))


def _steps_with(evidence: Evidence) -> Counter[str]:
    """In how many clean steps (or just behind them) each kind was seen."""
    compiled = _compiled(evidence)
    seen: dict[str, set[int]] = defaultdict(set)
    clean = evidence.steps.clean
    if clean:
        for when, stack in evidence.log.inside([(clean[0].begin_ns, clean[-1].end_ns)]):
            kind = _kind(evidence, stack, compiled)
            if kind:
                seen[kind].add(evidence.steps.number_at(when))
    return Counter({kind: len(numbers) for kind, numbers in seen.items()})


def _finding(
    evidence: Evidence, kind: str, at: Counter[tuple[str, int]], share: float, turns: Stretch, steps: int
) -> Finding:
    low, high = interval(share, len(turns.found))
    if kind == "metrics":  # Python that hands out operations: samples see too little of it
        rows = line_shares(evidence, ("eager_ops", "dispatch"))
        high = max(high, min(shared.MAX_STEP_SHARE.value, sum(row.share for row in rows if row.place in at)))
    if kind in _CALLBACKS and share > calibrated.CALLBACK_SHARE.value and _compiled(evidence):
        # What else is not the compiled step belongs to it.
        high = max(high, 1 - evidence.share("graph", "input"))
    bounds = speedups(low * (1 - LEFT[1]), high * (1 - LEFT[0]))
    words = _KINDS[kind]
    where, example = _where(evidence, kind, at)
    return Finding(
        code="STP001",
        family="step",
        title=f"{words.words} takes {100 * share:.0f} % of the training loop",
        severity=severity(1 - 1 / bounds[0]),
        basis=basis(evidence, turns.turn_ms),
        share_of_step=share,
        predicted_speedup=middle(bounds),
        predicted_range=bounds,
        where=where,
        evidence=(
            Measurement("share of the loop's time", share, "share", "samples"),
            Measurement("time per step", share * turns.turn_ms, "ms", "samples"),
            Measurement("steps in which it was seen", float(steps), "count", "baseline"),
            Measurement("samples", float(len(turns.found)), "count", "baseline"),
        ),
        advice=words.advice.format(example=example) + ".",
        detail="The next step waits until it is done.",
        absorbs=_ABSORBS.get(kind, ()),
        absorbs_here=("LIN001", "SYN001"),
    )


def _where(evidence: Evidence, kind: str, at: Counter[tuple[str, int]]) -> tuple[tuple[SourceSpan, ...], str]:
    """The callback's line where Keras does it in ``fit``, else the innermost own line; then the loop or the fit."""
    lines = [place for place, _ in at.most_common(3) if place[1]]
    spans = [span(evidence, *place) for place in lines]
    example = "if step % 1000 == 0"
    if kind in _CALLBACKS and lines and called_at(evidence, lines[0], FIT) is not None:
        classes, example = _CALLBACKS[kind]
        made = [
            span(evidence, item.file, item.line)
            for item in evidence.calls(*(f"keras.callbacks.{name}" for name in classes))
        ]
        return tuple(dict.fromkeys((*made[:2], *spans))), example
    if lines:
        around = loops(evidence, *lines[0])
        if around:
            spans.append(span(evidence, lines[0][0], around[-1].line))
    return tuple(dict.fromkeys(spans)), example
