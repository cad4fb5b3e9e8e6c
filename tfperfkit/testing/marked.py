"""Requests of the mark ``tfperf`` of a test: recorded while the test runs, judged after it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tfperfkit.errors import UsageError
from tfperfkit.testing.assertions import Operations, Traces, counted, described, often, say_called, watch_traces


class Marked:
    """A context around the test function; ``problem`` says afterwards what it did that it must not, or ""."""

    def __init__(self, args: Sequence[Any], options: Mapping[str, Any], known: frozenset[str], name: str) -> None:
        if args or set(options) - known:
            raise UsageError(f"@pytest.mark.tfperf takes {', '.join(sorted(known))} by name")
        self._max_traces = _number("max_traces", options.get("max_traces"))
        self._max_ops = _number("max_ops", options.get("max_ops"))
        no = options.get("no", ())
        self._no = (no,) if isinstance(no, str) else tuple(no)
        if not all(isinstance(code, str) and code for code in self._no):
            raise UsageError('@pytest.mark.tfperf: no takes codes or their beginnings, such as ["RET", "EAG001"]')
        self._name = name
        self._stack = ExitStack()
        self._traces: Traces | None = None
        self._operations: Operations | None = None
        self._run: Any = None

    def __enter__(self) -> Marked:
        with ExitStack() as stack:
            if self._no:
                import tensorflow  # noqa: F401  (the recording starts with it)

                from tfperfkit.watch import watch

                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tfperf-test-"))
                self._run = stack.enter_context(watch(run_dir=Path(folder) / "run"))
            if self._max_traces is not None:
                self._traces = stack.enter_context(watch_traces())
            if self._max_ops is not None:
                self._operations = stack.enter_context(counted())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def problem(self) -> str:
        """Everything that is wrong, a paragraph each."""
        problems = []
        if self._traces is not None and self._max_traces is not None:
            over = {name: count for name, count in self._traces.counts.items() if count > self._max_traces}
            if over:
                rows = "".join(f"\n  {name}: {often(count)}{self._why(name)}" for name, count in over.items())
                problems.append(f"traced more often than {often(self._max_traces)}:{rows}")
        if self._operations is not None and self._max_ops is not None and self._operations.count > self._max_ops:
            problems.append(
                f"{say_called(self._operations)}, allowed are {self._max_ops}:{described(self._operations)}"
            )
        for finding in self._run.findings if self._run is not None else ():
            if finding.code.startswith(self._no):
                at = f" at {finding.where[0].file}:{finding.where[0].line}" if finding.where else ""
                problems.append(f"{finding.code}: {finding.title}{at}\n  {finding.advice}")
        return "\n".join(problems)

    def _why(self, name: str) -> str:
        reason = self._traces.reasons.get(name) if self._traces is not None else None
        return f", {reason}" if reason else ""


def _number(name: str, value: Any) -> int | None:
    if value is None or isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise UsageError(f"@pytest.mark.tfperf: {name} takes a whole number from 0 on, not {value!r}")
