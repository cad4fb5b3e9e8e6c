"""EAG009, for scripts of TensorFlow 1: a session, and usually its graph, is created again for each run.

One line creates many sessions that each run once. The lower bound of the gain counts the time outside ``session.run``;
the upper bound assumes that all of ``session.run`` was graph optimisation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tfperfkit.gain import MEDIUM, interval
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Part, price
from tfperfkit.records.samples import MIN, Place
from tfperfkit.remedy import Hoist
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.making import MADE_LEFT
from tfperfkit_rules.measures.session_calls import sessions_anew
from tfperfkit_rules.measures.source_text import find_function
from tfperfkit_rules.measures.step_shares import span

_SESSIONS = ("tensorflow.Session", "tensorflow.InteractiveSession")


def sessions_made_again(evidence: Evidence) -> Iterable[Finding]:
    """The finding: all but what one kept session would compute could go."""
    samples = evidence.samples
    place = sessions_anew(evidence)
    if evidence.work is None or samples.count < MIN or place is None:
        return
    ran = sum(count for stack, count in samples.stacks.items() if stack.activity == "graph")
    beside = sum(
        count for stack, count in samples.stacks.items() if stack.activity in ("dispatch", "saving", "tracing")
    )
    making = beside / samples.count
    if making < MEDIUM:
        return
    low, _ = interval(making * (1 - MADE_LEFT.value), samples.count)
    _, high = interval((beside + ran) / samples.count, samples.count)  # a first run optimises the graph
    gained = price(Hoist("model"), Part(low, high))
    function = find_function(evidence, *place)
    made = [
        item
        for item in evidence.calls(*_SESSIONS)
        if item.file == place[0] and function is not None and function.line <= item.line <= function.last
    ]
    lines = Counter[Place]()
    for stack, count in samples.stacks.items():
        if stack.frames and stack.activity == "dispatch":
            lines[stack.frames[-1].file, stack.frames[-1].line] += count
    costly = [span(evidence, *line) for line, _ in lines.most_common(2)]
    spans = (*(span(evidence, item.file, item.line) for item in made[:1]), *costly, span(evidence, *place))
    yield Finding(
        code="EAG009",
        remedy=Hoist("model"),
        title=f"Session is created again and again in {evidence.unit.loop}",
        share_of_step=making,
        gain=gained,
        where=tuple(dict.fromkeys((*spans, evidence.work.where))),
        evidence=(
            Measurement("time outside session.run", making, "share", "samples"),
            Measurement("samples", float(samples.count), "count", "baseline"),
        ),
        advice=(
            "Build the graph, create the session and restore the weights once, before the loop or at program start. In "
            "the loop call only session.run(fetches, feed_dict)."
        ),
        detail="A new session optimises its graph again, and its variables have to be restored again.",
        absorbs_here=("LIN001", "EAG012"),
        parts=("dispatch", "graph", "saving"),
    )
