"""Say how a call that runs operation by operation is compiled once, in the user's own names and lines."""

from __future__ import annotations

from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_text import find_function, find_line_calls, find_loops


def advise_compiling_once(evidence: Evidence, file: str, line: int, name: str, method: str = "") -> str:
    """Return one or more sentences, without the last full stop.

    A ``tf.function`` that is made in a loop, or in a function that a loop calls, is traced again each time. So the
    sentence names the line after which it belongs, if only one line of the source binds the name.

    Args:
        name: what is called at the line, as it is written there.
        method: the method of ``name`` that is called there, which the compiled call replaces.
    """
    written = f"{name}.{method}" if method else name
    call = next((item for item in find_line_calls(evidence, file, line) if item.function.text == written), None)
    bound = _find_bound_value(call, method)
    if bound is not None and _is_made_each_time(evidence, file, line, bound):
        return (
            f"Create {name} once, outside the function that line {bound.line} is in, and compile it there: "
            f"call = tf.function({name}, reduce_retracing=True)"
        )
    made = _find_making_line(evidence, file, line, bound)
    if call is None or made is None:
        return (
            f"Compile {name} once, where it is created, not inside the loop: "
            f"call = tf.function({name}, reduce_retracing=True)"
        )
    owner, _, last = name.rpartition(".")
    compiled = f"{owner}.{last}_compiled" if owner else f"{last}_compiled"
    after = f"{compiled}({_name_input(call) if method else call.arguments_text})"
    after = after if len(after) <= shared.MAX_LINE.value else f"{compiled}(...)"
    after = f"{after}.numpy()" if method else after
    return (
        f"Compile {name} once, after line {made}: {compiled} = tf.function({name}, reduce_retracing=True). In line "
        f"{line} call {after}"
    )


def _name_input(call: Call) -> str:
    """Return a tensor of what is predicted: ``tf.constant(rows[i : i + 1])``. A new array has the same signature in
    each call then; the other arguments of ``predict`` are about how it is run."""
    given = call.arguments[0] if call.arguments else None
    known = given is not None and given.kind in ("name", "attribute", "subscript")
    return f"tf.constant({given.text})" if given is not None and known else "..."


def _find_bound_value(call: Call | None, method: str) -> Expression | None:
    """Find what the only assignment sets the called object to; None if there are several, or if it is an argument."""
    called = None if call is None else call.receiver if method else call.function
    bound = called.assigned if called is not None and called.is_plain else []
    return bound[0] if len(bound) == 1 else None


def _is_made_each_time(evidence: Evidence, file: str, line: int, bound: Expression) -> bool:
    """Whether the function that calls the object also makes it, for one call: by a call, with no loop between."""
    function = find_function(evidence, file, line)
    if function is None or function != find_function(evidence, file, bound.line) or bound.kind != "call":
        return False
    return not find_loops(evidence, file, line)


def _find_making_line(evidence: Evidence, file: str, line: int, bound: Expression | None) -> int | None:
    """Find the last line of the assignment; None if a loop around the call holds it."""
    if bound is None or any(bound.line in row.lines for row in find_loops(evidence, file, line)):
        return None
    return bound.lines[-1]
