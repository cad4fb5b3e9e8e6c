"""Where an instruction stands in the source."""

from __future__ import annotations

from itertools import islice
from types import CodeType

#: Line, last line, column, end column; columns in bytes of UTF-8.
Span = tuple[int, int, int, int]


def line_of(code: CodeType, instruction: int) -> int:
    """The line of an instruction, given by its offset in bytes (``frame.f_lasti``).

    The jump back from an ``if`` at the end of a loop has no line (Python 3.11 and later), and it is there that a loop
    which calls nothing is seen: then it is the line that jumps to it.
    """
    last = code.co_firstlineno
    for begin, end, line in code.co_lines():
        if begin <= instruction < end:
            return line or _jumping_to(code, begin) or last
        last = line or last
    return code.co_firstlineno


def _jumping_to(code: CodeType, offset: int) -> int | None:
    """The last line before an offset that jumps there."""
    import dis  # where it is needed, which is seldom

    jumps = {*dis.hasjrel, *dis.hasjabs}
    found = [item.offset for item in dis.get_instructions(code) if item.opcode in jumps and item.argval == offset]
    lines = [line for begin, end, line in code.co_lines() if any(begin <= at < end for at in found)]
    return next((line for line in reversed(lines) if line), None)


def span_of(code: CodeType, instruction: int) -> Span | None:
    """The expression that an instruction belongs to; None where Python did not keep it (before 3.11, or -X
    no_debug_ranges)."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return None
    line, last, column, end = next(islice(positions(), instruction // 2, None), (None, None, None, None))
    return None if line is None or last is None or column is None or end is None else (line, last, column, end)
