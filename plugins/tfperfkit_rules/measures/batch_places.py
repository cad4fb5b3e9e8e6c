"""How many examples a batch has, and where that stands."""

from __future__ import annotations

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.step_place import reached
from tfperfkit_rules.measures.step_shares import span
from tfperfkit_rules.measures.written_sizes import find_batch_sizes, makes_batch_of_one


def batch_of(evidence: Evidence) -> int:
    """Return the examples in a batch; 0 if unknown, 1 if the line of the call makes a batch of one."""
    places = reached(evidence, "batch", "call", "train_on_batch")
    known = evidence.steps.batch_size or max((site.batch_size for site in places), default=0)
    if known or not places:
        return known
    return int(makes_batch_of_one(evidence, places[0].file, places[0].line))


def size_places(evidence: Evidence, batch: int) -> tuple[SourceSpan, ...]:
    """Return the place of the batch size, then the call of ``fit`` or the loop."""
    places = reached(evidence, "batch", "call", "loop_call", "train_on_batch", "apply", "next")
    if places and batch == 1 and makes_batch_of_one(evidence, places[0].file, places[0].line):
        loop = [SourceSpan(each.file, each.line) for each in places[0].loops[-1:]]
        return (span(evidence, places[0].file, places[0].line), *loop)
    sizes = find_batch_sizes(evidence, batch)
    exact = [row for row in sizes if row.literal]
    used = [span(evidence, site.file, site.line) for site in places if site.file][:1]
    calls = [span(evidence, row.file, row.line) for row in exact or sizes if row.line]
    if used and exact:  # a call of fit that spans lines: its own first
        calls.sort(key=lambda row: (row.file != used[0].file, abs(row.line - used[0].line)))
    constants = [] if exact else [span(evidence, row.file, row.constant) for row in sizes if row.constant]
    return tuple(dict.fromkeys((*constants[:1], *calls[:1], *used)))


def size_code(evidence: Evidence, places: tuple[SourceSpan, ...], batch: int, wanted: int) -> str:
    """The code that asks for batches of ``wanted`` examples, as the source has it."""
    first = (places[0].file, places[0].line) if places else None
    written = next(
        (row for row in find_batch_sizes(evidence, batch) if row.literal and (row.file, row.line) == first), None
    )
    return written.code.format(wanted) if written is not None else f"batches of {wanted}"
