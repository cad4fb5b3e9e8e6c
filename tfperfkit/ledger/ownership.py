"""Which of the run's time a finding owns: the time of the call sites that its remedy changes, less what it keeps.

A remedy that takes a call out (``Hoist``, ``Every``, ``Remove``) owns all that runs below the call, whatever that is. A
remedy that keeps traces owns the first runs of new traces too, if its finding claims more than the tracing. A gain that
is a lower end only (``AtLeast``) never claims these.
Other remedies own the kinds of work that they change: where these were sampled below the finding's places, there; else
in all of the steps, or of the work, that the finding is about.
"""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.gain import Range
from tfperfkit.ledger.call_tree import Entry, Ledger
from tfperfkit.ledger.explained_parts import explained_parts
from tfperfkit.ledger.step_ledger import part_of_stack
from tfperfkit.model import Finding
from tfperfkit.remedy import CallDirectly, Every, Hoist, KeepTrace, Remedy, Remove, Setting, is_one_of

#: Remedies after which a call is not made, or only seldom: all below it goes.
_TAKES_CALL_OUT: tuple[Remedy, ...] = (
    Hoist("file"),
    Hoist("value"),
    Hoist("array"),
    Hoist("model"),
    Hoist("operations"),
    Every("save"),
    Every("work"),
    Every("collect"),
    Remove("statement"),
)
#: Remedies after which the same is computed with fewer calls or traces: what compiled functions compute stays.
_KEEPS_COMPUTING: tuple[type[Remedy], ...] = (CallDirectly, KeepTrace)
#: Remedies that change validation and nothing else.
_OF_VALIDATION: tuple[Remedy, ...] = (Every("validate"), Remove("evaluation"), Setting("validation_steps"))
EXPLAINS = calibration.EXPLAINS.value
#: Parts of a run that stand for work of their own, whatever was sampled there.
_OF_RUN = {
    "validation": "evaluate",
    "prediction": "evaluate",
    "saving": "saving",
    "input": "input",
    "tracing": "tracing",
}


def find_owned(finding: Finding, ledger: Ledger, scope: frozenset[int], claim: float) -> frozenset[int]:
    """Return the numbers of the entries of the run's ledger that a finding owns.

    ``scope``: the entries of the steps, or of the work, that the finding is about. ``claim``: seconds of the run that
    its rule says it costs. The result is empty if nothing was sampled that the remedy changes.
    """
    places = [(span.file, span.line) for span in finding.where]
    below = ledger.find_below(places)
    if is_one_of(finding.remedy, _TAKES_CALL_OUT):
        # The other places of what is hoisted are the lines that reach it.
        calls = ledger.find_below(places[:1]) if isinstance(finding.remedy, Hoist) else below
        if ledger.add_up(calls) >= EXPLAINS * claim:
            return calls
    if isinstance(finding.remedy, _KEEPS_COMPUTING):
        python = frozenset(number for number in below if _kind_of(ledger.entries[number]) != "graph")
        # The first run of a new trace optimises its graph. That time counts as the compiled function's.
        is_claimed = claim > ledger.add_up(python) and isinstance(finding.gain, Range)
        return below if is_claimed and isinstance(finding.remedy, KeepTrace) else python
    if is_one_of(finding.remedy, _OF_VALIDATION):
        return ledger.select(lambda entry: _kind_of(entry) == "evaluate")
    kinds = set(explained_parts(finding))
    if "input" in kinds:  # a compiled function that fetches its batches waits within itself
        kinds.add("graph")
    if "gc" in kinds:  # no sample falls into a collection: the run's ledger has it where it interrupted Python
        kinds |= {"python", "dispatch", "other"}
    here = frozenset(number for number in below if _kind_of(ledger.entries[number]) in kinds)
    if finding.basis == "run" and finding.family == "graph":  # a graph with less in it is traced sooner
        kinds.add("tracing")
    # Lines of compiled functions and of pipelines are on no Python stack while they run.
    if ledger.add_up(here) >= EXPLAINS * claim:
        return here
    wider = range(len(ledger.entries)) if finding.basis == "run" else scope
    return frozenset(number for number in wider if _kind_of(ledger.entries[number]) in kinds)


def _kind_of(entry: Entry) -> str:
    """Return the part of an account that an entry of the run's ledger counts for."""
    return _OF_RUN.get(entry.part) or part_of_stack(entry.stack)
