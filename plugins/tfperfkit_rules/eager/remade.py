"""EAG009: a model is loaded or built again in each iteration of a loop.

Stack samples give the time in which models are created, in which their variables and traces are made, and in which
their functions run for the first time. The gain leaves out all of them but one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tfperfkit.gain import MEDIUM, interval, saving
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Part, price
from tfperfkit.records.samples import Place
from tfperfkit.remedy import Hoist
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Expression
from tfperfkit_rules.eager.model_calls import priced_predicting
from tfperfkit_rules.eager.work.finding import priced_operations
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.making import MADE_LEFT, Making, making
from tfperfkit_rules.measures.source_text import find_line_calls, find_loops
from tfperfkit_rules.measures.step_shares import span
from tfperfkit_rules.measures.trace_window import traced

TITLES = {"EAG009": "Model or Session is created again and again"}

_ANEW = " To restart training, keep start = model.get_weights() and call model.set_weights(start)."
_COMPILED = (
    " After that line, compile it once: call = tf.function(model). Or: if several models that share layers get one "
    "input, build one model with several outputs."
)
_WORDS = {"loaded": ("loaded", "Load"), "made": ("built", "Build")}


def models_made_again(evidence: Evidence) -> Iterable[Finding]:
    """Return the finding, with all that each new model drags along."""
    found = making(evidence)
    if found is None:
        return
    count = evidence.samples.count
    made, dragged, first = (part.total() / count for part in (found.made, found.dragged, found.first_runs))
    if made + dragged < MEDIUM:
        return
    low, _ = interval(made + dragged + (first * (1 - _share_run_again(evidence, first)) if found.once else 0.0), count)
    _, high = interval(min(made + dragged + first, shared.MAX_STEP_SHARE.value), count)
    low *= 1 - MADE_LEFT.value
    high *= 1 - 1 / max(found.times, 1.0)  # one is made all the same
    done, do = _WORDS[found.what]
    around = find_loops(evidence, *found.place)
    spans = [span(evidence, *found.place)]
    calling = _find_calling(evidence, found)
    called = calling.share_of_step if calling is not None else 0.0
    if calling is not None and calling.gain.bounds is not None:
        # A model that is kept can be compiled once: what each call of it takes goes too.
        low, high = (saved + saving(factor) for saved, factor in zip((low, high), calling.gain.bounds, strict=True))
        spans.append(calling.where[0])
    gained = price(Hoist("model"), Part(low, high))
    read = Counter((s.frames[-1].file, s.frames[-1].line) for s in found.dragged if s.activity == "saving")
    spans += [span(evidence, *place) for place, _ in read.most_common(1)]
    spans += [span(evidence, found.place[0], around[-1].line)] if around else []
    spans += [evidence.work.where] if evidence.work is not None else []
    yield Finding(
        code="EAG009",
        remedy=Hoist("model"),
        title=f"Model is {done} again and again in {evidence.unit.loop}",
        share_of_step=min(made + dragged + called, 1.0),
        gain=gained,
        where=tuple({(item.file, item.line): item for item in reversed(spans)}.values())[::-1],
        evidence=(
            Measurement(f"time in which models are {done}", made, "share", "samples"),
            Measurement("time in new variables and tracing", dragged, "share", "samples"),
            Measurement("time in first runs of compiled functions", first, "share", "samples"),
            *([Measurement("time in calls of new models", called, "share", "samples")] if calling else []),
            Measurement(f"models {done}, at least", found.times, "count", "baseline"),
            Measurement("samples", float(count), "count", "baseline"),
        ),
        advice=(
            f"{do} the model once, before the loop or at program start, and reuse it."
            + (_COMPILED if calling is not None else _ANEW if found.what == "made" else "")
        ),
        detail="Each new model creates its variables, and TensorFlow traces and optimises its functions again.",
        absorbs=("RET012", "RET008", "RET014", "MEM002"),
        absorbs_here=("LIN001", "STP001", *(("EAG004",) if calling is not None else ())),
        parts=(
            "saving",
            "tracing",
            "dispatch",
            "eager_ops",
            "python",
            *(("evaluate",) if calling is not None else ()),
        ),
    )


def _share_run_again(evidence: Evidence, first: float) -> float:
    """Of first runs, the share that the operations in them take, which running again takes as well; all of it where
    no trace shows them."""
    seen = traced(evidence)
    if seen is None or not first or not evidence.step_ms:
        return 1.0
    ran = sum(row.self_ms for row in seen.rows if row.where == "graph") * seen.scale
    return min(ran / (first * evidence.step_ms), 1.0)


def _find_calling(evidence: Evidence, found: Making) -> Finding | None:
    """EAG004 of the model that is made: its remedy, a model compiled once, needs one that is kept."""
    made = {(frame.file, frame.line) for stack in found.made for frame in stack.frames}
    for item in (priced_predicting(evidence), priced_operations(evidence)):
        if item is None or item.code != "EAG004":
            continue
        file, line = item.where[0].file, item.where[0].line
        for call in find_line_calls(evidence, file, line):
            bound = (call.receiver or call.function).assigned
            if bound and all(each.kind == "call" and _is_on_line(each, file, made) for each in bound):
                return item
    return None


def _is_on_line(node: Expression, file: str, lines: set[Place]) -> bool:
    return any(file == at and line in node.lines for at, line in lines)
