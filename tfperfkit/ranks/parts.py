"""The parts of a training by several processes, and what only all of them together show."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from tfperfkit.errors import UsageError
from tfperfkit.model import Finding
from tfperfkit.ranks import arrival, clocks, kept
from tfperfkit.ranks.alone import Alone, alone
from tfperfkit.ranks.cause import Cause, cause, sentence
from tfperfkit.ranks.differing import differing
from tfperfkit.ranks.endings import endings
from tfperfkit.ranks.found import findings
from tfperfkit.ranks.over_time import Stretch, over_time
from tfperfkit.ranks.pace import as_slow
from tfperfkit.ranks.part import Part
from tfperfkit.ranks.studied import studied

_PREFIXES = ("rank-", "evaluator-")
#: More parts than this are not read.
_MAX_PARTS = 10_000


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """All of them. ``sizes``: how many there are, as the ranks were told; ``missing``: ranks without a part; ``died``:
    those that did not finish, ``endings`` how, the first to end first. ``late``: for whom the others wait, None where
    that is unknown; ``wait_ms``: of a step, of the middle one of the others. ``transfer_ms``: of a step, the exchange
    without waiting, where it was traced; ``waits_ms``: by rank, of the waiting in it. ``differing``: functions that
    ranks trace or compile differently, in words. ``findings``: what only all ranks together show; each rank's own are
    in its part. ``over_time``: in watch mode, who came last."""

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
    lateness: arrival.Late | None = None
    cause: Cause | None = None
    transfer_ms: float | None = None
    waits_ms: dict[str, float] = {}
    traced: arrival.Traced | None = None
    findings: tuple[Finding, ...] = ()
    differing: tuple[str, ...] = ()
    over_time: tuple[Stretch, ...] = ()
    notes: tuple[str, ...] = ()


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(e.name for e in entries if e.name.startswith(_PREFIXES) and e.is_dir(follow_symlinks=False))
    except OSError:
        return []


def read(folder: Path) -> Whole:
    """Read all parts; a damaged one is a row with its reason. Of those that have it, only what was kept with their own
    report is read. Raises UsageError if there are too many."""
    names = _names(folder)
    if len(names) > _MAX_PARTS:
        raise UsageError(f"{folder} holds more than {_MAX_PARTS} parts")
    known = {name: kept.read(folder, name) for name in names}
    of_these = [part for part in known.values() if part is not None]
    made = studied(folder, [name for name, part in known.items() if part is None], of_these)
    return whole(folder, tuple(part or made[name] for name, part in known.items()))


def whole(folder: Path, parts: tuple[Part, ...]) -> Whole:
    """What the parts say together; ``folder``: beside it a run of one worker is looked for."""
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
        findings=findings(found, why, max((part.turn_ms or 0.0 for part in workers), default=0.0)),
        differing=tuple(differing(workers)),
        over_time=over_time(workers),
        notes=tuple(notes),
    )
