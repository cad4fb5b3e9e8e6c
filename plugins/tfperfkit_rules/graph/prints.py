"""A compiled function that prints or checks in every call (OPS006)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfperfkit_probes.ops.model import Brief, Marked

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.graph import optable
from tfperfkit.model import Finding
from tfperfkit.pricing import Part
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import Every
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.functions import counted, definition, largest_first, name_function, of_step, once, places
from tfperfkit_rules.measures import graph_time

TITLES = {"OPS006": "tf.print or tf.debugging checks in every call"}

PRINT_SAVED_MIN = Threshold(
    0.5, "share", "minimum share saved of printing and checking", Chosen("the other half ran next to the step")
)
PRINT_SAVED_MAX = Threshold(
    1.25,
    "share",
    "maximum share saved of printing and checking: a print also orders what would run side by side",
    Measured("a pair of runs became 1.56 times as fast at a share of 0.33, 1.1 of it", TWO_BUSY_CORES, 1),
)

#: tf.print formats its tensors before it prints them.
TYPES = optable.names(kind=("print", "check")) | {"StringFormat", "AsString"}


def prints(evidence: Evidence) -> Iterator[Finding]:
    """OPS006: priced by the time of such operations in the trace."""
    share = graph_time.share(evidence, lambda row: row.type in TYPES)
    for finding in once(found for function in largest_first(evidence) for found in _judge_function(evidence, function)):
        name = f"printing and checking, of {evidence.unit.the}"
        yield of_step(finding, share, Part(PRINT_SAVED_MIN.value * share, PRINT_SAVED_MAX.value * share), name)


def _judge_function(evidence: Evidence, function: Brief) -> Iterator[Finding]:
    printed, checked = (_select_own_lines(evidence, rows) for rows in (function.marks.prints, function.marks.asserts))
    if not printed and not checked:
        return
    what = " and ".join(
        f"{_total(found)} {word}{'' if _total(found) == 1 else 's'}"
        for found, word in ((printed, "print"), (checked, "check"))
        if found
    )
    yield Finding(
        code="OPS006",
        remedy=Every("print"),
        severity="low" if printed else "info",
        share_of_step=0.0,
        title=f"{name_function(function)} runs {what} in every call",
        where=places([*(each.where for each in (*printed, *checked)), definition(function)]),
        evidence=(counted("prints", _total(printed)), counted("checks", _total(checked))),
        advice="Print from Python, around the compiled function: if step % 100 == 0: print(float(loss)). Keep checks "
        "behind a flag.",
        detail="Each print or check waits for its tensor, copies it to the host, and prevents fusion and XLA.",
    )


def _select_own_lines(evidence: Evidence, rows: Sequence[Marked]) -> list[Marked]:
    return [each for each in rows if each.where is not None and evidence.is_user(each.where.file)]


def _total(found: Sequence[Marked]) -> int:
    return sum(each.ops for each in found)
