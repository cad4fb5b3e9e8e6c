"""GRF024: an argument gets longer from call to call, and each call computes all of it again."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tfperfkit.calibration import Derived, Threshold
from tfperfkit.graph.view import View
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.functions import places
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.graph.same_work import SameWork, is_along, line_of_most, measured, used_arguments, work_of
from tfperfkit_rules.measures.eager_assignments import assigns_eagerly
from tfperfkit_rules.measures.source_text import find_line_calls

GROWN_LEFT = Threshold(
    0.2,
    "share",
    "minimum share of the work on a whole growing sequence that remains for the new part alone",
    Derived("a call stays a call, whatever it computes"),
)


class GrownArgument(SameWork, frozen=True, kw_only=True):
    """Work on all of an argument; ``calls`` were looked at."""

    calls: int


class GrowingArgument(GraphRule[GrownArgument]):
    """Recognised by an argument that is the one of the call before with something after it."""

    code = "GRF024"
    title = "Whole sequence recomputed for each new element"

    def find(self, view: View) -> Iterator[GrownArgument]:
        """Yield the work along each argument that gets longer."""
        for name in sorted(view.given.grown):
            argument = frozenset({name})
            found = [node for node in work_of(view, argument, view.idle) if is_along(view, node, name)]
            if found:
                inner, takes = measured(view, found)
                yield GrownArgument(
                    where=line_of_most(view, found, inner),
                    names=used_arguments(view, found, argument),
                    left=GROWN_LEFT.value,
                    calls=view.given.calls,
                    **takes,
                )

    def __call__(self, evidence: Evidence) -> Iterator[Finding]:
        """Report it in work that trains nothing."""
        if evidence.work is not None and not assigns_eagerly(evidence):
            yield from super().__call__(evidence)

    def report(self, evidence: Evidence, part: Part[GrownArgument]) -> Finding:
        """Advise to keep what was computed of the part before."""
        name = part.cause.names[0]
        call = _find_call(evidence, part.function.function)
        made = self.finding(
            evidence,
            part,
            f"Whole sequence {name} recomputed for each new element",
            "Pass only the new element and the kept state: return_state=True in the recurrent layer, then "
            "initial_state=state in the next call. Or, with attention: keep its keys and values.",
            f"In most calls, {name} was the previous value with something appended. Layers that look ahead "
            "(bidirectional layers, attention without a causal mask) need all of it each time.",
            count("calls examined", part.cause.calls),
        )
        # That each iteration takes longer than the one before follows.
        return msgspec.structs.replace(made, where=places([call, *made.where]), absorbs=(*made.absorbs, "STP007"))


def _find_call(evidence: Evidence, function: str) -> SourceSpan | None:
    """Return the user's line that most often calls a compiled function by this name, by stack samples; None if no line
    does."""
    seen: dict[SourceSpan, int] = {}
    for stack, number in evidence.samples.stacks.items():
        frame = stack.frames[-1] if stack.frames and stack.activity == "graph" else None
        if frame is None:
            continue
        calls = find_line_calls(evidence, frame.file, frame.line)
        if any(call.function.last_name == function.rpartition(".")[2] for call in calls):
            place = SourceSpan(frame.file, frame.line, frame.name)
            seen[place] = seen.get(place, 0) + number
    return max(seen, key=lambda place: seen[place], default=None)
