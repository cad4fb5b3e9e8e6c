"""How ranks ended that did not finish, the first to end first: what came after may be its consequence."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

from tfperfkit.clock import NS_PER_S
from tfperfkit.ranks import numbers
from tfperfkit.ranks.part import Part
from tfperfkit.storage import safe_reader


def endings(folder: Path, died: Sequence[Part]) -> tuple[str, ...]:
    """In words, in order of time, as far as that is known: of one machine by the clock that all its processes share and
    nobody sets. Clocks of several machines may be hours apart: there by the time since each one's own start."""
    machines = {_machine(folder, part) for part in died if part.ended_ns is not None}
    one = len(machines) == 1 and "" not in machines

    def when(part: Part) -> tuple[bool, float, str]:
        known = part.ended_ns if one else part.after_s
        seconds = (known or 0.0) / (NS_PER_S if one else 1)
        late = numbers.NOTICED_LATE.value if part.status == "killed" else 0.0
        return known is None, seconds - late, part.name

    return tuple(f"{part.label} {_words(part)}" for part in sorted(died, key=when))


def _machine(folder: Path, part: Part) -> str:
    facts = safe_reader.read_json(folder / part.name, "agent.json")
    return str(facts.get("machine") or "") if isinstance(facts, dict) else ""


def _words(part: Part) -> str:
    if part.problem:
        return f"has no report: {part.problem}"
    after = f" after {part.steps:,} {'step' if part.steps == 1 else 'steps'}"
    code = part.exit_code
    if part.status in ("killed", "interrupted") and code is not None and code > 128:
        try:
            return f"was ended by {signal.Signals(code - 128).name}{after}"
        except ValueError:
            pass
    if part.status == "failed":
        return f"failed{f' with status {code}' if code else ''}{after}"
    return {
        "killed": f"was killed{after}",
        "interrupted": f"was interrupted{after}",
        "unknown": f"can't be asked whether it still runs{after}",
    }.get(part.status, f"is {part.status or 'unknown'}{after}")
