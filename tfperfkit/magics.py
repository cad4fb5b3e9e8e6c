"""``%load_ext tfperfkit``: ``%%tfperf`` records a cell, ``%tfperf`` a line.

::

    %%tfperf --steps 50
    model.fit(data)
"""

from __future__ import annotations

import ast
import shlex
from typing import Any

from tfperfkit import watch  # through the package, whose ``watch`` is the function
from tfperfkit.errors import TfperfError, UsageError
from tfperfkit.notebook.cells import running_cell
from tfperfkit.report.text import one_line
from tfperfkit.watch import Run

_USAGE = "%%tfperf [--probes NAMES] [--steps N] [--steps-from FUNCTION] [--run-dir DIR]"
_VALUES = {"--probes": "probes", "--steps": "steps", "--steps-from": "steps_from", "--run-dir": "out"}
#: Name of the variable that holds the run.
_VARIABLE = "tfperf_run"


def load(shell: Any) -> None:
    """Give a shell of IPython both magics."""
    shell.register_magic_function(lambda line, cell=None: tfperf(shell, line, cell), "line_cell", "tfperf")


def tfperf(shell: Any, line: str, cell: str | None) -> Run | None:
    """Record a cell, with options in its first line, or a line of code.

    Exceptions of the code pass through; a mistake in the options is one line.
    """
    try:
        options = _options(line) if cell is not None else {}
        if not (cell if cell is not None else line).strip():
            raise UsageError(f"nothing to run: {_USAGE}")
        watched = watch(**options)
        with watched as run:
            run._called = _VARIABLE
            shell.user_ns[_VARIABLE] = run  # now: a cell that fails has a report, too
            _run(shell, line if cell is None else cell, above=0 if cell is None else 1)
    except TfperfError as error:
        print(one_line(f"tfperf: {error}"))
    return None


def _options(line: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        words = iter(shlex.split(line))
    except ValueError as error:
        raise UsageError(f"{error}: {_USAGE}") from None
    for word in words:
        flag, has, value = word.partition("=")
        if flag not in _VALUES:
            raise UsageError(f"{word!r:.60} is no option of %tfperf: {_USAGE}")
        value = value if has else next(words, "")
        if not value:
            raise UsageError(f"{flag} needs a value: {_USAGE}")
        if flag == "--steps" and not value.isdecimal():
            raise UsageError(f"--steps takes a number, not {value!r:.40}")
        found[_VALUES[flag]] = int(value) if flag == "--steps" else value
    return found


def _run(shell: Any, code: str, above: int) -> None:
    """As the shell itself runs a cell: its lines are known by the cell's number, and the last value is shown.
    ``above``: lines of the cell before the code, which count."""
    transformed = "\n" * above + shell.transform_cell(code)
    name = shell.compile.cache(transformed, running_cell(shell), raw_code=code)
    tree = ast.parse(transformed, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    flags = shell.compile.flags
    if tree.body:
        exec(compile(tree, name, "exec", flags, True), shell.user_ns)
    if last is not None:
        exec(compile(ast.Interactive([last]), name, "single", flags, True), shell.user_ns)
