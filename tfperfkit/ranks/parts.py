"""The parts of a training by several processes, and what only all of them together show."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from tfperfkit.clock import NS_PER_S
from tfperfkit.diagnosis.rules import ask_about
from tfperfkit.errors import UsageError
from tfperfkit.model import Finding
from tfperfkit.offers.late_rank import Cause, Late, LateRank
from tfperfkit.ranks import arrival, clocks, kept, numbers
from tfperfkit.ranks.alone import Alone, alone
from tfperfkit.ranks.cause import cause, sentence
from tfperfkit.ranks.over_time import Stretch, over_time
from tfperfkit.ranks.pace import as_slow
from tfperfkit.ranks.part import Part, Traced
from tfperfkit.ranks.studied import studied
from tfperfkit.records.plural import plural
from tfperfkit.storage import safe_reader

_PREFIXES = ("rank-", "evaluator-")
#: More parts than this are not read.
_MAX_PARTS = 10_000


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """All of them.

    ``sizes``: how many ranks there are, as the ranks reported; ``missing``: ranks without a part; ``died``: those that
    did not finish, ``endings`` how, the first to end first. ``late``: for whom the others wait, None if that is
    unknown; ``wait_ms``: of a step, of the middle one of the others. ``transfer_ms``: of a step, the exchange without
    waiting, where it was traced; ``waits_ms``: by rank, of the waiting in it. ``differing``: functions that ranks trace
    or compile differently, in words. ``findings``: what only all ranks together show; each rank's own are in its part.
    ``over_time``: in watch mode, who came last.
    """

    schema: int
    parts: tuple[Part, ...]
    size: int
    sizes: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    died: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    examples_per_s: float | None = None
    alone: Alone | None = None
    late: str | None = None
    wait_ms: float = 0.0
    why: str = ""
    lateness: Late | None = None
    cause: Cause | None = None
    transfer_ms: float | None = None
    waits_ms: dict[str, float] = {}
    traced: arrival.Traced | None = None
    findings: tuple[Finding, ...] = ()
    differing: tuple[str, ...] = ()
    over_time: tuple[Stretch, ...] = ()
    notes: tuple[str, ...] = ()


def _part_names(folder: Path) -> list[str]:
    """Return the names of the parts in a folder."""
    try:
        with os.scandir(folder) as entries:
            return sorted(e.name for e in entries if e.name.startswith(_PREFIXES) and e.is_dir(follow_symlinks=False))
    except OSError:
        return []


def read(folder: Path) -> Whole:
    """Read all parts; a damaged one is a row with its reason.

    For ranks that have kept facts, only these are read. Raises UsageError if there are too many.
    """
    names = _part_names(folder)
    if len(names) > _MAX_PARTS:
        raise UsageError(f"{folder} holds more than {_MAX_PARTS} parts")
    known = {name: kept.read(folder, name) for name in names}
    of_these = [part for part in known.values() if part is not None]
    made = studied(folder, [name for name, part in known.items() if part is None], of_these)
    return whole(folder, tuple(part or made[name] for name, part in known.items()))


def whole(folder: Path, parts: tuple[Part, ...]) -> Whole:
    """Combine the parts; a run of one worker is looked for next to ``folder``."""
    workers = [part for part in parts if part.role not in ("evaluator", "ps")]
    members = [part for part in parts if part.role != "evaluator"]
    sizes = {part.size for part in members if part.size}
    size = max([*sizes, len(members)])
    there = {part.rank for part in members}
    speeds = [part.examples_per_s for part in workers if part.examples_per_s is not None]
    together = sum(speeds) if speeds and len(speeds) == len(workers) else None
    seen = arrival.traced(workers)
    found, note = arrival.late(workers, seen)
    waited = seen.wait_ms if seen is not None else arrival.waits(workers)
    why = cause(found, workers) if found is not None else None
    if found is not None and (own := as_slow(found, why, workers)):
        found, why, note = None, None, own
    notes = [each for each in (note, clocks.words(clocks.offsets(workers))) if each]
    if left := [part for part in parts if not part.looked]:
        notes.append(
            f"Findings were looked for in {len(parts) - len(left):,} of {len(parts):,} ranks: of the others, which "
            "kept no report of their own, times were read and what they traced. "
            f"tfperf report {folder}/{left[0].name} looks into one."
        )
    turn_ms = max((part.turn_ms or 0.0 for part in workers), default=0.0)
    told, troubles = ask_about(LateRank(late=found, cause=why, turn_ms=turn_ms)) if found is not None else ([], [])
    notes += troubles
    died = [part for part in parts if part.problem or part.status not in ("finished", "running")]
    return Whole(
        schema=1,
        parts=parts,
        size=size,
        sizes=tuple(sorted(sizes)),
        # Of ranks that disagree only those are missing that each of them counts.
        missing=tuple(rank for rank in range(min(size, _MAX_PARTS, *sizes)) if rank not in there),
        died=tuple(part.label for part in died),
        endings=endings(folder, died),
        examples_per_s=together,
        alone=alone(folder, parts[0].name, len(workers), together) if parts else None,
        late=found.rank if found is not None else None,
        wait_ms=found.wait_ms if found is not None else 0.0,
        why=sentence(why, found) if found is not None else "",
        lateness=found,
        cause=why,
        transfer_ms=seen.transfer_ms if seen is not None else None,
        waits_ms=waited,
        traced=seen,
        findings=tuple(told),
        differing=tuple(differing(workers)),
        over_time=over_time(workers),
        notes=tuple(notes),
    )


_MAX = 5


def differing(parts: Sequence[Part]) -> list[str]:
    """Name each function that ranks trace a different number of times, or to different graphs."""
    functions: defaultdict[tuple[str, str, int], dict[str, Traced]] = defaultdict(dict)
    for part in parts:
        for function in part.functions:
            functions[function.function, Path(function.file).name, function.line][part.label] = function
    differences = []
    for (name, file, line), by_rank in functions.items():
        if len(by_rank) < len(parts):
            continue
        what = f"{name} ({file}:{line})"
        if len({each.traces for each in by_rank.values()}) > 1:
            differences.append(f"{what} is traced differently often: {_group_ranks(by_rank, _times)}")
        elif len({each.jit_compile for each in by_rank.values()} - {None}) > 1:
            differences.append(f"{what} is compiled by XLA on some ranks only: {_group_ranks(by_rank, _jit)}")
        elif len({each.operations for each in by_rank.values()} - {None}) > 1:
            differences.append(f"{what} has different graphs: {_group_ranks(by_rank, _operations)}")
    return differences[:_MAX]


def _times(each: Traced) -> str:
    times = "once" if each.traces == 1 else f"{each.traces} times"
    return f"{times} ({each.varying})" if each.varying and each.traces > 1 else times


def _jit(each: Traced) -> str:
    return "by XLA" if each.jit_compile else "without"


def _operations(each: Traced) -> str:
    return plural(each.operations, "operation") if each.operations is not None else "not known"


def _group_ranks(by_rank: dict[str, Traced], words: Callable[[Traced], str]) -> str:
    """Return the ranks grouped by their number of times: ``once on rank 0, rank 2; 20 times on rank 1``."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for rank, each in by_rank.items():
        groups[words(each)].append(rank)
    shown = [f"{text} on {', '.join(who[:4])}{' ...' if len(who) > 4 else ''}" for text, who in groups.items()]
    return "; ".join(shown[:4])


def endings(folder: Path, died: Sequence[Part]) -> tuple[str, ...]:
    """Say how ranks that did not finish ended, the first to end first: the others may be its consequence.

    Processes of one machine share a clock that nobody sets. Clocks of several machines may be hours apart, so there the
    time since each rank's own start decides.
    """
    machines = {_machine(folder, part) for part in died if part.ended_ns is not None}
    one = len(machines) == 1 and "" not in machines

    def when(part: Part) -> tuple[bool, float, str]:
        known = part.ended_ns if one else part.after_s
        seconds = (known or 0.0) / (NS_PER_S if one else 1)
        late = numbers.NOTICED_LATE.value if part.status == "killed" else 0.0
        return known is None, seconds - late, part.name

    return tuple(f"{part.label} {_describe_ending(part)}" for part in sorted(died, key=when))


def _machine(folder: Path, part: Part) -> str:
    facts = safe_reader.read_json(folder / part.name, "agent.json")
    return str(facts.get("machine") or "") if isinstance(facts, dict) else ""


def _describe_ending(part: Part) -> str:
    """Return how a rank ended: ``was ended by SIGKILL after 3 steps``."""
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
