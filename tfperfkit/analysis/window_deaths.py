"""Whether the script died of a signal in a window of ours, or right after: then that must be known first."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable
from typing import Any

from tfperfkit.clock import NS_PER_S
from tfperfkit.model import SourceSpan, WindowDeath
from tfperfkit.records.conclusion import KILLED, Conclusion
from tfperfkit.storage import safe_reader
from tfperfkit.storage.run_directory import PHASES, STACKS, Exit, RunDirectory

#: Faults, and what the system does to a process that takes too much memory. All others somebody sends.
_SIGNALS = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGTRAP", "SIGSYS", "SIGKILL")
#: A window that was closed no longer ago than this may have to do with it.
_AFTER_NS = NS_PER_S
_MAX_BYTES, _MAX_FRAMES = 100_000, 12
_FRAME = re.compile(r'^  File "(.*)", line (\d{1,9}) in (.*)$')
_WHILE = {
    "opening": "while {} window was opening",
    "open": "while {} window was open",
    "closing": "while {} window was closing",
    "closed": "less than a second after {} window had closed",
}


def window_death(run: RunDirectory, ended: Exit | None) -> WindowDeath | None:
    """None when the script did not die so, or when that is not known."""
    name = fault(ended)
    if ended is None or name is None:
        return None
    for probe, (phase, ns) in reversed(_last_phases(run.records(f"session/{PHASES}.jsonl")).items()):
        if phase != "closed" or ended.ended_ns - ns <= _AFTER_NS:
            return WindowDeath(signal=name, probe=probe, phase=phase, stack=_stack(run))
    return None


def fault(ended: Exit | None) -> str | None:
    """Return the name of the signal that killed the script, if it is one that a window of ours may have brought
    about."""
    number = -(ended.status or 0) if ended is not None and not ended.interrupted else 0
    try:
        name = signal.Signals(number).name
    except ValueError:
        return None
    return name if name in _SIGNALS else None


def closed_windows(run: RunDirectory) -> set[str]:
    """Return the probes whose windows were opened and closed."""
    phases = _last_phases(run.records(f"session/{PHASES}.jsonl"))
    return {probe for probe, (phase, _) in phases.items() if phase == "closed"}


def conclude(death: WindowDeath) -> Conclusion:
    """Conclude a run that ended so."""
    when = _WHILE[death.phase].format(possessive(death.probe))
    memory = " (the system does that when memory runs out)" if death.signal == "SIGKILL" else ""
    return Conclusion(
        verdict=KILLED,
        why=f"by {death.signal} {when}{memory}",
        look="Run it with --probes none to see whether it does so by itself.",
    )


def stack_note(death: WindowDeath) -> str:
    """Return the stack in one line; "" if there is none."""
    if not death.stack:
        return ""
    places = " < ".join(f"{each.file.rpartition('/')[2]}:{each.line} ({each.function})" for each in death.stack)
    return f"The thread that was struck, innermost call first: {places}. All threads: session/{STACKS} of the run."


def possessive(probe: str) -> str:
    return f"{probe}'" if probe.endswith("s") else f"{probe}'s"


def _last_phases(rows: Iterable[Any]) -> dict[str, tuple[Any, int]]:
    """By probe, the last that began something at the end."""
    found: dict[str, tuple[Any, int]] = {}
    for row in rows:
        match row:
            case [str(probe), str(phase), int(ns), *_] if phase in _WHILE:
                found.pop(probe, None)
                found[probe] = (phase, ns)
    return found


def _stack(run: RunDirectory) -> tuple[SourceSpan, ...]:
    """Return the stack of the thread that was struck, innermost first; empty if there is none."""
    try:
        with safe_reader.open_file(run.path, f"session/{STACKS}") as file:
            text = file.read(_MAX_BYTES).decode(errors="replace")
    except OSError:
        return ()
    _, found, rest = text.rpartition("Current thread ")
    frames: list[SourceSpan] = []
    for line in rest.splitlines()[1:] if found else ():
        match = _FRAME.match(line)
        if match is None or len(frames) >= _MAX_FRAMES:
            break
        frames.append(SourceSpan(file=match[1], line=int(match[2]), function=match[3]))
    return tuple(frames)
