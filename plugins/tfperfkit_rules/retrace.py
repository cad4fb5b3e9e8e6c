"""Rules about tracing in the steady phase that no cause of the probe ``retrace`` explains."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tfperfkit import gain
from tfperfkit.evidence import Evidence, Rule
from tfperfkit.model import Finding, Measurement, SourceSpan

#: XProf calls a step bound from 5 % on; tracing that goes on in steady steps should not be there at all.
LEAST_SHARE = 0.05
#: Of the tracing in the account, some falls into a retrace that had to be: this much is promised at least.
CERTAIN = 0.7
_MOST_PLACES = 4


def traced_again(evidence: Evidence) -> Iterable[Finding]:
    """Steady steps go on tracing: Keras' functions after ``compile``, a new model or optimizer, a pipeline's maps.

    Absorbed by every finding of the probe ``retrace``, which knows the cause of the traces that it blames.
    """
    share = evidence.share("tracing")
    account = evidence.account
    if account is None or share < LEAST_SHARE:
        return
    samples = evidence.samples
    lines = [place for place in samples.leaves() if samples.doing_innermost(place)["tracing"] >= 2]
    lines.sort(key=lambda place: -samples.doing_innermost(place)["tracing"])
    steps = [step for step in evidence.steps.clean if evidence.tracing.overlap(step.begin_ns, step.end_ns)]
    if not lines or not steps:
        return
    compiles = _compiles(evidence, lines)
    places = [*compiles, *(SourceSpan(*place) for place in lines)][:_MOST_PLACES]
    low, high = gain.speedups(CERTAIN * share, share)
    if compiles:
        name = evidence.line(compiles[0].file, compiles[0].line).partition(".compile")[0].strip() or "the model"
        title = "compile() is called in the training loop, so Keras traces the step again"
        advice = (
            f"Call {name}.compile once, before the loop. What the loop switches by it (trainable, the learning rate) "
            "can be a model of its own for each state, or a variable: optimizer.learning_rate.assign(value)."
        )
    else:
        title = f"Functions are traced anew in {len(steps)} of {len(evidence.steps.clean)} steady steps"
        advice = (
            "Make models, optimizers, tf.functions and tf.data pipelines once, before the loop, and use them again: "
            "each new one is traced and optimised anew."
        )
    yield Finding(
        code="RET014", family="retrace", title=title, severity=gain.severity(share), share_of_step=share,
        predicted_speedup=gain.middle((low, high)), predicted_range=(low, high), where=tuple(places),
        evidence=(
            Measurement("tracing per step", evidence.part("tracing"), "ms", "breakdown"),
            Measurement("steady steps that traced", len(steps), "count", "baseline"),
        ),
        advice=advice, absorbs=("CMP004", "EAG006"),
    )


def _compiles(evidence: Evidence, lines: list[tuple[str, int]]) -> list[SourceSpan]:
    """The calls of ``compile`` inside the loop around the lines that trace."""
    found = []
    for file in dict.fromkeys(file for file, _ in lines):
        try:
            tree = ast.parse("\n".join(line.rstrip("\n") for line in evidence.source(file)))
        except (SyntaxError, ValueError, RecursionError):
            continue
        loops = [
            node for node in ast.walk(tree)
            if isinstance(node, (ast.For, ast.While))
            and any(other == file and node.lineno <= line <= (node.end_lineno or 0) for other, line in lines)
        ]
        calls = {
            node.lineno for loop in loops for node in ast.walk(loop)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "compile"
        }
        found += [SourceSpan(file, line) for line in sorted(calls)]
    return found


RULES: tuple[Rule, ...] = (traced_again,)
