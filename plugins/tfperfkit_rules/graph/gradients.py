"""A persistent tape computes one gradient per loss term, though only their sum is used (GRF004)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit import gain
from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import StepPhases
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.module import Syntax, parse
from tfperfkit.syntax.nodes import find_nodes, get_argument, is_constant, list_names
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.added_up import only_added
from tfperfkit_rules.measures.step_place import TAPE

GRADIENTS_SAVED_MIN = Threshold(
    0.3,
    "share",
    "minimum share saved of all but one backward pass, by one pass for the sum of losses",
    Chosen("terms share less than a whole pass, and the rest has to be computed anyway"),
)


class Passes(NamedTuple):
    """Backward passes over the same variables. ``times``: how many, at least 2."""

    file: str
    tape: int
    line: int
    function: str
    tape_name: str
    times: int


def repeated_gradients(evidence: Evidence) -> Iterator[Finding]:
    """GRF004: found in the source, priced with the backward time of graph lines."""
    backward = _backward_share(evidence)
    if backward < gain.LOW:
        return
    for file in evidence.files():
        for passes in find(file, evidence.source(file)):
            upper = backward * (1 - 1 / passes.times)
            if upper < gain.LOW:
                continue
            yield Finding(
                code=codes.REPEATED_GRADIENTS,
                family="graph",
                remedy=ReplaceOps("one_gradient"),
                share_of_step=upper,
                title=f"{passes.function} runs the backward pass {passes.times} times to add the results up",
                gain=gain.from_shares(GRADIENTS_SAVED_MIN.value * upper, upper),
                where=(SourceSpan(file, passes.line, passes.function), SourceSpan(file, passes.tape, passes.function)),
                evidence=(
                    Measurement(f"backward, of {evidence.unit.the}", backward, "share", "breakdown"),
                    Measurement("backward passes in the source", passes.times, "count", "run"),
                ),
                advice=(
                    f"Add the losses up inside the tape and take one gradient, {passes.tape_name}.gradient(total_loss, "
                    "variables): the gradient of a sum is the sum of the gradients. persistent=True can go then."
                ),
                absorbs=(codes.SLOW_LAYER,),
            )


def _backward_share(evidence: Evidence) -> float:
    """The share of the step that gradients take in compiled functions, by their lines."""
    phases = evidence.offer(StepPhases)
    if phases is None:
        return 0.0
    whole = phases.forward_ms + phases.backward_ms + phases.update_ms + phases.rest_ms
    return evidence.share("graph") * phases.backward_ms / whole if whole else 0.0


def find(file: str, lines: tuple[str, ...]) -> Iterator[Passes]:
    """The functions of a source that add up gradients of a persistent tape over the same variables."""
    syntax = parse(lines)
    if syntax is None:
        return
    for function in syntax.functions:
        for node in find_nodes(function.node, ast.With):
            for item in node.items:
                name = _name_persistent_tape(syntax, item)
                if name:
                    yield from _find_passes(syntax, file, function, node.lineno, name)


def _name_persistent_tape(syntax: Syntax, item: ast.withitem) -> str:
    call, name = item.context_expr, item.optional_vars
    if not isinstance(call, ast.Call) or syntax.name(call.func) != TAPE:
        return ""
    is_persistent = is_constant(get_argument(call, "persistent", 0), True)
    return name.id if is_persistent and isinstance(name, ast.Name) else ""


def _find_passes(syntax: Syntax, file: str, function: Function, tape: int, name: str) -> Iterator[Passes]:
    by_sources: dict[str, list[tuple[ast.Call, int]]] = {}
    for call, times in _find_gradient_calls(function.node, name, 1, frozenset()):
        by_sources.setdefault(ast.unparse(call.args[1]), []).append((call, times))
    for calls in by_sources.values():
        count = sum(times for _, times in calls)
        if count > 1 and only_added(syntax, function.node, {call for call, _ in calls}):
            yield Passes(file, tape, min(call.lineno for call, _ in calls), function.name, name, count)


def _find_gradient_calls(node: ast.AST, tape: str, times: int, names: frozenset[str]) -> Iterator[tuple[ast.Call, int]]:
    """Find the calls of the tape's ``gradient`` with targets and sources, and how often the loops around each repeat it
    for other targets over the same sources."""
    if isinstance(node, (ast.For, ast.ListComp, ast.GeneratorExp)):
        over = node if isinstance(node, ast.For) else node.generators[0]
        names = names | list_names(over.target)
        times *= len(over.iter.elts) if isinstance(over.iter, (ast.Tuple, ast.List)) else 2
    if isinstance(node, ast.Call) and ast.unparse(node.func) == f"{tape}.gradient" and len(node.args) >= 2:
        targets, sources = map(list_names, node.args[:2])
        yield node, times if names & targets and not names & sources else 1
    for child in ast.iter_child_nodes(node):
        yield from _find_gradient_calls(child, tape, times, names)
