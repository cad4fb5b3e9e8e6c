"""Call at a sampled line, as the user wrote it: ``model.export``, ``time.sleep``."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit.records.samples import Frame

_LONGEST = 50  # characters


def name_call(frame: Frame, source: Sequence[str]) -> str:
    """Return the function that a frame was calling, by its source; else the library's function; "" for own Python.

    ``source``: the lines of the frame's file, empty if they were not kept. Arguments of calls within the function's
    name are left out: ``tf.data.Dataset.range(…).map``.
    """
    written = _read_function(_read_expression(frame, source))
    if written:
        return written
    module, _, function = (frame.calls or ("",))[0].partition(":")
    return f"{module.partition('.')[0]}'s {function}" if function and not function.startswith("<") else ""


def _read_expression(frame: Frame, source: Sequence[str]) -> str:
    """Return the expression that was running; its first line if it has several."""
    if frame.span is None or not 0 < frame.span[0] <= len(source):
        return ""
    line, last, begin, end = frame.span
    text = source[line - 1].encode()
    return text[begin : end if last == line else None].decode(errors="replace").strip()


def _read_function(expression: str) -> str:
    """Return what stands before the arguments of the last call in an expression; "" if it is no call."""
    depth = 0
    name: list[str] = []
    found = ""
    for character in expression:
        if character in "([{":
            if depth == 0 and character == "(":
                found = "".join(name)
            depth += 1
            if depth == 1:
                name.append(character)
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                name += ["…", character]
        elif depth == 0:
            if not (character.isalnum() or character in "._"):
                return ""  # an operator: more than one call may have been running
            name.append(character)
    found = found.replace("[…]", "[]").strip()
    return found if 0 < len(found) <= _LONGEST and not found.startswith(("(", "…")) else ""
