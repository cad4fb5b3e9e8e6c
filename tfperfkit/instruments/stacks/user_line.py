"""The innermost line of the person's own code on a stack, quickly; and whose code below it was called."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType

from tfperfkit.instruments.stacks import call_site

_MAX_DEPTH = 60
_TENSOR_FILES = ("/framework/ops.py", "/ops/resource_variable_ops.py")


def user_line(frame: FrameType | None, is_user: Callable[[str], bool]) -> tuple[tuple[str, int, str], str]:
    """((file, line, function), through). ``through`` is "keras" or "tensorflow" when their code lies in between,
    methods of tensors and variables aside. ("", 0, "") where no line of the person is near."""
    through = ""
    for _ in range(_MAX_DEPTH):
        if frame is None:
            break
        code = frame.f_code
        name = code.co_filename
        if call_site.is_machinery(name):
            if "keras" in name:
                through = "keras"
            elif not through and "tensorflow" in name and not name.replace("\\", "/").endswith(_TENSOR_FILES):
                through = "tensorflow"
        elif is_user(name):
            return (name, frame.f_lineno, code.co_name), through
        frame = frame.f_back
    return ("", 0, ""), through
