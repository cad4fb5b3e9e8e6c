"""The time of a step without tracing, if every step traces and none shows it.

A new trace costs more than the tracing: its first execution optimises the graph and prepares it, in the call of the
compiled function. Those are the moments of the call in which no operation runs (the trace window holds such calls); the
time of its operations remains. The Python around a trace (finding that none fits, creating the function, destroying the
last one and its graph) goes too, but not completely: a call of a traced function runs some Python as well.
"""

from __future__ import annotations

from tfperfkit.gain import Gain, at_least
from tfperfkit.offers import ComputedStep
from tfperfkit.pricing import Part, price
from tfperfkit.remedy import KeepTrace
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.compiled_calls import in_calls
from tfperfkit_rules.retrace.first_runs import FirstRuns


def saved(evidence: Evidence) -> Part | None:
    """Return what goes of the mean step.

    None where a window did not show what the compiled functions compute: then only the tracing itself is known.
    """
    account, computed = evidence.account, evidence.offer(ComputedStep)
    whole = evidence.step_ms
    if account is None or not whole or evidence.work is not None or computed is None or computed.ms <= 0:
        return None
    first = evidence.share("graph") * min(computed.idle_ms / computed.ms, 1.0)
    certain = evidence.share("tracing") + first
    likely = certain + evidence.share("dispatch", "gc")
    return Part(certain, likely)


def saved_with(
    evidence: Evidence, traced: float, first: FirstRuns | None, times: float = 1.0, *, each: bool = False, of: int = 0
) -> Part | None:
    """The same where no window shows it, from first executions that were timed. ``traced``: the share that tracing
    takes; ``times``: how many of these steps, or stretches, ``first`` is of; ``each``: every call is a first one, so
    that of compiled functions only running again is left; ``of``: how many traces these are, where one more is left to
    pay: a work has an end. None where none was timed."""
    whole = (evidence.step_ms or 0.0) * times
    if first is None or whole <= 0:
        return None
    graph = evidence.share("graph")
    lower = min(first.lower / whole, graph)
    if each and first.again is not None:
        lower = max(lower, graph - first.again / whole)
    certain = traced + lower
    likely = traced + max(lower, min(first.upper / whole, graph))
    likely += in_calls(evidence) * evidence.share("dispatch") + evidence.share("gc")
    once = (traced + lower) / of if of else 0.0
    return Part(certain - once, likely - once)


def price_kept(evidence: Evidence, known: Part | None, certain: float) -> Gain:
    """Return the gain of graphs that are kept. ``known``: what goes; None if nothing shows the first executions of what
    is traced. Then the tracing goes, a share of ``certain``, and at best all that calls of compiled functions take."""
    rest = evidence.share("graph", "dispatch", "gc")
    if known is None and not rest:
        return at_least(certain)
    return price(KeepTrace("other"), known or Part(certain, certain + rest))
