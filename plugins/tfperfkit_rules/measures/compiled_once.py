"""How a call that runs operation by operation is compiled once, in the user's own names and lines."""

from __future__ import annotations

import ast

from tfperfkit.rule import Evidence
from tfperfkit.syntax.nodes import get_receiver
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_text import enclosing, loops


def compile_once(evidence: Evidence, file: str, line: int, name: str, method: str = "") -> str:
    """Without its end: ``, and`` may follow. ``name``: what is called at the line, as it is written there; ``method``:
    of it that is called there, in whose place the call comes.

    A ``tf.function`` made in a loop, or in a function that one calls, is traced anew each time; so the line is named
    behind which it belongs, where the source has but one that binds the name."""
    written = f"{name}.{method}" if method else name
    call = next((item for item in _list_calls(evidence, file, line) if ast.unparse(item.func) == written), None)
    bound = _find_bound_value(evidence, file, call, method)
    if bound is not None and _is_made_each_time(evidence, file, line, bound):
        return (
            f"Line {bound.lineno} sets {name} anew each time that its function is called: make it once, outside of "
            f"that, and compile its call there: call = tf.function({name}, reduce_retracing=True)"
        )
    made = _find_making_line(evidence, file, line, bound)
    if call is None or made is None:
        return (
            f"Compile the call once, where {name} is made, not in a loop or in a function that one calls, which "
            f"would trace it anew each time: call = tf.function({name}, reduce_retracing=True)"
        )
    owner, _, last = name.rpartition(".")
    compiled = f"{owner}.{last}_compiled" if owner else f"{last}_compiled"
    after = ast.unparse(ast.Call(ast.parse(compiled, mode="eval").body, call.args, call.keywords))
    after = after if len(after) <= shared.MAX_LINE.value else f"{compiled}(...)"
    after = f"{compiled}(x).numpy(), x a tensor" if method else after
    return (
        f"Compile the call once, behind line {made}, which sets {name}: {compiled} = tf.function({name}, "
        f"reduce_retracing=True). Line {line} then calls {after}"
    )


def _list_calls(evidence: Evidence, file: str, line: int) -> list[ast.Call]:
    syntax = evidence.syntax(file)
    return syntax.calls_at(line) if syntax is not None else []


def _find_bound_value(evidence: Evidence, file: str, call: ast.Call | None, method: str) -> ast.expr | None:
    """What the one statement that binds what is called sets it to; None where there are several, or an argument."""
    called = get_receiver(call) if method else call.func if call is not None else None
    syntax = evidence.syntax(file)
    if syntax is None or not isinstance(called, (ast.Name, ast.Attribute)):
        return None
    bound = syntax.bound_to(called)
    return bound[0] if len(bound) == 1 else None


def _is_made_each_time(evidence: Evidence, file: str, line: int, bound: ast.expr) -> bool:
    """Whether the function that calls it makes it too, for one call: by a call of its own, with no loop between."""
    function = enclosing(evidence, file, line)
    if function is None or function != enclosing(evidence, file, bound.lineno) or not isinstance(bound, ast.Call):
        return False
    return not loops(evidence, file, line)


def _find_making_line(evidence: Evidence, file: str, line: int, bound: ast.expr | None) -> int | None:
    """The last line of what binds it; None where it stands in a loop around the call."""
    if bound is None:
        return None
    first, last = bound.lineno, bound.end_lineno or bound.lineno
    return None if any(row.line <= first <= row.last for row in loops(evidence, file, line)) else last
