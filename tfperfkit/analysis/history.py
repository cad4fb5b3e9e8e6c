"""The history that watch mode kept of a run over all of its time, in the form that the report has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tfperfkit.clock import NS_PER_S, ms
from tfperfkit.model import History, Period, RunChange, WatchedWindow
from tfperfkit.records.events import Event, of_kind
from tfperfkit.records.history import CHANGES, MINUTES, Change, Stretch, joined, read
from tfperfkit.storage.run_directory import Manifest, RunDirectory

#: Rows of the report: so many neighbours are joined that no more are left.
MAX_PERIODS = 240
_MAX_CHANGES = 500


def stretches(run: RunDirectory, manifest: Manifest) -> list[Stretch]:
    """Return the rows of minutes, and what came after the last one; empty without watch mode."""
    if manifest.watch is None:
        return []
    minutes = read(run.records(MINUTES), Stretch)
    until = minutes[-1].end_ns if minutes else 0
    rest = [row for row in read(run.blocks(), Stretch) if row.begin_ns >= until]
    return [row for row in [*minutes, *([joined(rest)] if rest else [])] if row.end_ns > row.begin_ns]


def history(
    run: RunDirectory, manifest: Manifest, events: list[Event], dropped: int, headline: Callable[[Path], str]
) -> History | None:
    """None without watch mode. ``headline`` of the run of a window; ``dropped`` steps are known by periods only."""
    if manifest.watch is None:
        return None
    rows = stretches(run, manifest)
    since = manifest.started_ns
    taken = sum(row.end_ns - row.begin_ns for row in rows)
    size = -(-len(rows) // MAX_PERIODS) or 1
    return History(
        periods=tuple(_period(joined(rows[at : at + size]), since) for at in range(0, len(rows), size)),
        changes=tuple(
            RunChange(change.why, _seconds(change.ns, since), change.step, change.text)
            for change in read(run.records(CHANGES), Change)[-_MAX_CHANGES:]
        ),
        windows=tuple(_window(run, event, since, headline) for event in of_kind(events, "asked")),
        dropped_steps=dropped,
        ours_share=sum(row.ours_ns for row in rows) / taken if taken else None,
    )


def _seconds(when_ns: int, since_ns: int) -> float:
    return round((when_ns - since_ns) / NS_PER_S, 3)


def _period(row: Stretch, since: int) -> Period:
    known = row.steps > 0
    samples = sum(row.samples.values())
    return Period(
        begin_s=_seconds(row.begin_ns, since),
        end_s=_seconds(row.end_ns, since),
        steps=row.steps,
        median_ms=ms(row.median_ns) if known else None,
        p90_ms=ms(row.p90_ns) if known else None,
        max_ms=ms(row.max_ns) if known else None,
        traces=row.traces,
        traced_s=row.traced_ns / NS_PER_S,
        rss_bytes=row.rss_bytes,
        doing={name: count / samples for name, count in sorted(row.samples.items()) if count > 0} if samples else {},
        windows=row.windows,
        step=row.step,
        compute_share=_compute_share(row),
    )


def _compute_share(row: Stretch) -> float | None:
    """Threads that are ready and have no processor compute too, only longer."""
    if not row.inside_ns:
        return None
    stretched = 1 + row.ready_ns / row.ran_ns if row.ran_ns > 0 else 1.0
    return min(row.busy_ns * stretched / row.inside_ns, 1.0)


def _window(run: RunDirectory, event: Event, since: int, headline: Callable[[Path], str]) -> WatchedWindow:
    name, when = str(event.get("window") or ""), event.get("ns")
    parts = name.split("/")
    safe = len(parts) == 2 and parts[1].isdigit()
    folder = run.path / name
    kept = safe and (folder / "run.json").is_file() and not folder.is_symlink()
    return WatchedWindow(
        why=str(event.get("why")),
        text=str(event.get("text")),
        at_s=_seconds(when, since) if isinstance(when, int) else 0.0,
        name=name if safe else "",
        refused=str(event.get("refused") or ""),
        headline=headline(folder) if kept else "",
        kept=kept,
    )
