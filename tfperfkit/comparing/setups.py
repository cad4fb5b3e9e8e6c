"""Differences in set-up: code, arguments, packages, batch size, precision, devices, machine."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from tfperfkit.comparing.result import Setup, SourceChange
from tfperfkit.comparing.side import Side

_MAX_DIFF = 40  # lines of a file
_MAX_VALUE = 120  # characters


def setups(a: Side, b: Side) -> tuple[Setup, ...]:
    """Return all that differs and is known of both, code first."""
    return tuple(_setups(a, b))


def _setups(a: Side, b: Side) -> Iterator[Setup]:
    one, two = a.report.run, b.report.run
    if one.revision and two.revision and one.revision != two.revision:
        yield Setup("code", "revision", one.revision[:12], two.revision[:12])
    if one.argv[:1] != two.argv[:1]:
        yield Setup("code", "script", *(" ".join(run.argv[:1]) for run in (one, two)))
    if one.argv[1:] != two.argv[1:]:
        yield Setup("configuration", "arguments", *(shlex.join(run.argv[1:]) or "none" for run in (one, two)))
    yield from _differing("configuration", one.versions, two.versions)
    steps = (a.report.steps, b.report.steps)
    if steps[0].batch_size and steps[1].batch_size and steps[0].batch_size != steps[1].batch_size:
        yield Setup("configuration", "batch size", str(steps[0].batch_size), str(steps[1].batch_size))
    if steps[0].source != steps[1].source:
        yield Setup("configuration", "a step is", *(each.definition or "none was seen" for each in steps))
    if a.evidence is not None and b.evidence is not None:
        yield from _differing("configuration", a.settings, b.settings)
    yield from _differing("machine", _of_machine(one.machine), _of_machine(two.machine))
    if a.machine and b.machine and a.machine != b.machine:
        hosts = [side.machine.partition(" ")[0] for side in (a, b)]
        if hosts[0] == hosts[1]:
            yield Setup("machine", "host", hosts[0], f"{hosts[1]}, started anew")
        else:
            yield Setup("machine", "host", hosts[0], hosts[1])


def _of_machine(machine: Mapping[str, Any]) -> dict[str, Any]:
    devices = machine.get("devices")
    names = {"processors": machine.get("cpus"), "platform": machine.get("platform")}
    return {**names, "devices": ", ".join(map(str, devices)) if isinstance(devices, list) else None}


def _differing(kind: Any, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Setup]:
    for name in dict.fromkeys((*a, *b)):
        one, two = a.get(name), b.get(name)
        if one != two and one is not None and two is not None:
            yield Setup(kind, str(name).replace("_", " "), _show_value(one), _show_value(two))


def _show_value(value: Any) -> str:
    """Return a value as it is shown."""
    text = str(value)
    return text if len(text) <= _MAX_VALUE else text[:_MAX_VALUE] + "..."


def source_changes(a: Side, b: Side) -> tuple[SourceChange, ...]:
    """Return the kept files that are in both and differ, or in one only while the other run kept sources too."""
    before, after = a.sources, b.sources
    if not before or not after:
        return ()
    changes = []
    for file in sorted({*before, *after}):
        one, two = ([line.rstrip("\n") for line in sources.get(file, ())] for sources in (before, after))
        if one == two or (file not in before or file not in after) and not _is_moved(file):
            continue
        diff = list(difflib.unified_diff(one, two, n=1, lineterm=""))[2:]
        added = sum(line.startswith("+") for line in diff)
        removed = sum(line.startswith("-") for line in diff)
        changes.append(SourceChange(file, added, removed, tuple(diff[:_MAX_DIFF])))
    return tuple(changes)


def _is_moved(file: str) -> bool:
    """Return whether a file that only one run has is worth a word: one of the script's folder; others are copies
    elsewhere."""
    return not file.startswith("/")


def line_map(a: Side, b: Side) -> dict[tuple[str, int], tuple[str, int]]:
    """For lines of run B that stand unchanged in run A: (file, line) there. Files are relative."""
    found: dict[tuple[str, int], tuple[str, int]] = {}
    before, after = a.sources, b.sources
    for file in {*before} & {*after}:
        if before[file] == after[file]:
            found |= {(file, line): (file, line) for line in range(1, len(after[file]) + 1)}
            continue
        matcher = difflib.SequenceMatcher(None, before[file], after[file], autojunk=False)
        for block in matcher.get_matching_blocks():
            for offset in range(block.size):
                found[file, block.b + offset + 1] = (file, block.a + offset + 1)
    return found
