"""Assignments to variables by Python, outside of compiled functions."""

from __future__ import annotations

from tfperfkit.offers import RanOperations
from tfperfkit.rule import Evidence
from tfperfkit.syntax.effects import list_changing
from tfperfkit.syntax.expression import Call
from tfperfkit_rules.measures.source_calls import is_compiled, list_files

_SETS = ("set_weights", "load_weights")
_CHECKPOINT = "tensorflow.train.Checkpoint"
_ASSIGNS = ("Assign", "ResourceApply")


def eager_assignments(evidence: Evidence) -> float:
    """Count the assignments that a traced step makes outside of compiled functions."""
    ran = evidence.offer(RanOperations)
    rows = ran.rows if ran is not None else ()
    times = sum(row.count for row in rows if row.where == "eager" and row.type.startswith(_ASSIGNS))
    return times / max(ran.steps, 1) if ran is not None else 0.0


def assigns_eagerly(evidence: Evidence) -> bool:
    """Tell whether the traced steps, or a trace within the work, changed variables outside of compiled functions."""
    ran = evidence.offer(RanOperations)
    return ran is not None and any(row.where == "eager" and row.type.startswith(_ASSIGNS) for row in ran.rows)


def writes_in_source(evidence: Evidence, file: str, lines: range, compiled: frozenset[str]) -> bool:
    """Tell whether Python at these lines, or in the user's functions that they call by name, has a call that changes a
    variable. ``compiled``: the names of functions whose Python only runs as they are traced."""
    files = list(list_files(evidence))
    pending = [(syntax, lines) for name, syntax in files if name == file]
    seen = set[str]()
    while pending:
        syntax, inside = pending.pop()
        for call in syntax.calls:
            if call.line not in inside:
                continue
            if _writes(call):
                return True
            name = call.function.last_name
            if name not in seen and name not in compiled:
                seen.add(name)
                named = [(syntax, item) for _, syntax in files for item in syntax.functions if item.name == name]
                pending += [(syntax, item.lines) for syntax, item in named if not is_compiled(item)]
    return False


def _writes(call: Call) -> bool:
    loads = call.method == "restore" or (call.method == "read" and call.name.startswith(_CHECKPOINT))
    return loads or call.method in _SETS or call.method in list_changing("variable")
