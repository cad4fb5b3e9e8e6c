"""EAG009: a model is loaded or built again at each turn of a loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tfperfkit.gain import MEDIUM, interval, middle, severity, speedups
from tfperfkit.model import Finding, Measurement
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import eager as calibrated
from tfperfkit_rules.calibration import shared
from tfperfkit_rules.measures.making import making
from tfperfkit_rules.measures.source_text import loops
from tfperfkit_rules.measures.step_shares import span

_WORDS = {"loaded": ("loaded", "Load"), "made": ("built", "Build")}


def models_made_again(evidence: Evidence) -> Iterable[Finding]:
    """The finding, with all that each new model drags along."""
    found = making(evidence)
    if found is None:
        return
    count = evidence.samples.count
    made, dragged, first = (part.total() / count for part in (found.made, found.dragged, found.first_runs))
    if made + dragged < MEDIUM:
        return
    low, _ = interval(made + dragged, count)
    _, high = interval(min(made + dragged + first, shared.MAX_STEP_SHARE.value), count)
    bounds = speedups(low * (1 - calibrated.MADE_LEFT.value), min(high, shared.MAX_STEP_SHARE.value))
    done, do = _WORDS[found.what]
    around = loops(evidence, *found.place)
    spans = [span(evidence, *found.place)]
    read = Counter((s.frames[-1].file, s.frames[-1].line) for s in found.dragged if s.activity == "saving")
    spans += [span(evidence, *place) for place, _ in read.most_common(1)]
    spans += [span(evidence, found.place[0], around[-1].line)] if around else []
    spans += [evidence.work.where] if evidence.work is not None else []
    yield Finding(
        code="EAG009",
        family="eager",
        title=f"A model is {done} again and again in {evidence.unit.loop}",
        severity=severity(1 - 1 / bounds[0]),
        share_of_step=min(made + dragged, 1.0),
        predicted_speedup=middle(bounds),
        predicted_range=bounds,
        where=tuple({(item.file, item.line): item for item in reversed(spans)}.values())[::-1],
        evidence=(
            Measurement(f"time in which it is {done}", made, "share", "samples"),
            Measurement("variables and tracing that each new one brings", dragged, "share", "samples"),
            Measurement("compiled functions that run for the first time", first, "share", "samples"),
            Measurement("times that it was seen, at least", found.times, "count", "baseline"),
            Measurement("samples", float(count), "count", "baseline"),
        ),
        advice=(
            f"{do} it once, before the loop or when the program starts, and use the same object each time. To begin "
            "anew with the same layers keep the first weights (start = model.get_weights()) and set them again."
        ),
        detail="Each new model makes its variables, and TensorFlow traces and optimises its functions once more.",
        absorbs=("RET012", "RET008", "RET014", "MEM002"),
        absorbs_here=("LIN001", "STP001"),
        parts=("saving", "tracing", "dispatch", "eager_ops", "python"),
    )
