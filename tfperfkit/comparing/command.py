"""``tfperf compare RUN_A RUN_B [...]``: A is what the others are compared with."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.text import Text

from tfperfkit.comparing.compare import compare
from tfperfkit.comparing.render import lines_of
from tfperfkit.comparing.result import COMPARE_SCHEMA, Compared
from tfperfkit.comparing.side import load
from tfperfkit.errors import UsageError
from tfperfkit.report.console import print_lines
from tfperfkit.report.json import encode_any
from tfperfkit.report.terminal import terminal_of


def compare_runs(names: Sequence[str], json_file: str | None) -> None:
    """Print every run against the first one; raises TfperfError for what is no run."""
    if len(names) < 2:
        raise UsageError("compare takes two runs or more: tfperf compare RUN_A RUN_B")
    first, *others = (load(name) for name in names)
    results = [compare(first, other) for other in others]
    if json_file:
        _write(results, json_file)
    if json_file == "-":
        return
    screen = msgspec.structs.replace(terminal_of(sys.stdout), folder=others[-1].report.run.folder)
    lines: list[Text] = []
    for number, result in enumerate(results):
        lines += [*([Text()] if number else []), *lines_of(result, screen)]
    print_lines(lines, sys.stdout, screen)
    sys.stdout.flush()


def _write(results: Sequence[Compared], json_file: str) -> None:
    document = encode_any({"schema": COMPARE_SCHEMA, "comparisons": results})
    if json_file == "-":
        sys.stdout.buffer.write(document)
        sys.stdout.flush()
        return
    try:
        Path(json_file).write_bytes(document)
    except OSError as error:
        raise UsageError(f"can't write {json_file}: {error.strerror}") from error
