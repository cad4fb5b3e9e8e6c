"""STP016: each spawned process imports the script, and TensorFlow with it, before its first task.

The source shows that processes are spawned, and that importing the script imports TensorFlow. Each start costs at least
the time that the script's own imports took.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.calibration import MIN_WORK, Chosen, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, price
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.child_starts import (
    ChildStart,
    Repeated,
    count_starts,
    find_repeated,
    find_spawning_starts,
    is_started_in_loop,
    measure_repeated_share,
    needs_tensorflow,
)
from tfperfkit_rules.measures.step_shares import span

SPAWN_LEFT = Threshold(
    0.1,
    "share",
    "share of what spawned children import that remains: a Python starts, and imports NumPy and the function",
    Chosen("an empty Python with NumPy starts in 0.2 s, and TensorFlow takes 3 s to import"),
)


TITLES = {"STP016": "Spawned processes import the script and TensorFlow again"}


def imported_again(evidence: Evidence) -> Iterable[Finding]:
    """Return the finding, for the run: the start that children were waited for most."""
    account = evidence.run_account
    waited = account.seconds_of("children") if account is not None else 0.0
    if evidence.work is not None or account is None or waited < MIN_WORK.value * account.total_s:
        return
    starts = find_spawning_starts(evidence)
    repeated = find_repeated(evidence) if starts else None
    if repeated is None:
        return
    waits = {(line.where.file, line.where.line) for line in account.lines.get("children", ())}
    counted = {start: count_starts(evidence, start, waits) for start in starts}
    start = max(counted, key=lambda item: counted[item])
    in_loop, needed = is_started_in_loop(evidence, start), needs_tensorflow(evidence, start)
    # If the children need TensorFlow, each process that is kept imports it once.
    spared = counted[start] - needed if in_loop else int(not needed)
    of_children = measure_repeated_share(evidence)
    lost = min(spared * repeated.seconds, waited)
    if of_children is not None and counted[start]:
        lost = of_children * waited * spared / counted[start]
    lost *= 1 - SPAWN_LEFT.value
    if lost < MIN_WORK.value * account.total_s:
        return
    share = lost / account.total_s
    gained = price(Rewrite(), Part(share, waited / account.total_s))  # the processes are waited for
    lines = [SourceSpan(*start.place), *repeated.lines] if in_loop else [*repeated.lines, SourceSpan(*start.place)]
    yield Finding(
        code="STP016",
        title=TITLES["STP016"],
        basis="run",
        share_of_step=min(waited / account.total_s if of_children is None else share, 1.0),
        gain=gained,
        where=tuple(dict.fromkeys(span(evidence, line.file, line.line) for line in (*lines, *_order(waits)))),
        evidence=(
            Measurement("time waiting for child processes", waited, "s", "run"),
            Measurement("time importing and setting up in the script's own process", repeated.seconds, "s", "run"),
            Measurement("process starts", float(counted[start]), "count", "samples"),
            *(
                [Measurement("share of the children's time in imports", of_children, "share", "run")]
                if of_children
                else []
            ),
        ),
        advice=_advise(start, repeated, in_loop=in_loop, needed=needed),
        detail=(
            "A spawned process starts with an empty interpreter and imports the script, with everything at its top "
            "level, before its first task. More workers only import it more often."
        ),
        absorbs_here=("STP004", "STP003", "LIN001"),
    )


def _advise(start: ChildStart, repeated: Repeated, *, in_loop: bool, needed: bool) -> str:
    line = start.call.line
    once = f"Start the processes once, before the loop, and give them work in it (line {line})."
    if needed:
        return once
    lines = ", ".join(str(where.line) for where in repeated.lines if where.file == repeated.lines[0].file)
    apart = (
        "Put the children's function into a module that does not import TensorFlow, and move what only the script "
        f"itself needs ({'lines' if ',' in lines else 'line'} {lines}) under if __name__ == '__main__'."
    )
    return f"{once} Or: {apart[0].lower()}{apart[1:]}" if in_loop else apart


def _order(places: Iterable[tuple[str, int]]) -> list[SourceSpan]:
    return [SourceSpan(*place) for place in sorted(places)][: shared.MAX_PLACES.value]
