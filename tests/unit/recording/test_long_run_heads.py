"""The heads of watch mode's files: their steps have the numbers that a count of all markers gives them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from tfperfkit.analysis.step_table import read_steps
from tfperfkit.clock import now_ns
from tfperfkit.recording.long_run import LongRun, LongSession
from tfperfkit.records.history import WatchPlan
from tfperfkit.records.steps import Definition, Loop, Marker, Site, StepCounter
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.storage.stream_set import Streams

US = 1000
LOOP = (Loop("t.py", 2),)


class Session:
    """Knows what a step is once it has seen so many markers, and decides again now and then, as the follower does."""

    def __init__(self, run: RunDirectory, sites: list[Site], known_after: int) -> None:
        self.run, self.manifest = run, SimpleNamespace(rank=None)
        self.traces, self.ours_ns, self.definition = (0, 0), 0, cast(Definition | None, None)
        self._sites, self._counter, self._known_after, self._seen = sites, StepCounter(), known_after, 0
        for site in sites:
            self._counter.add_site(site)

    def saw(self, marker: Marker) -> None:
        self._counter.count(marker)
        self._seen += 1
        if self._seen >= self._known_after and self._seen % 7 == 0:
            self.definition = self._counter.definition()

    def is_fetch(self, site: int) -> bool:
        return self._sites[site - 1].kind == "next"


def _sites(fetches: bool) -> list[Site]:
    call = Site(id=1, kind="call", target=1, file="t.py", line=4, loops=LOOP)
    return [call, Site(id=2, kind="next", target=1, file="t.py", line=3, loops=LOOP)] if fetches else [call]


@pytest.mark.parametrize("fetches", [False, True])
@pytest.mark.parametrize("known_after", [1, 40])
@pytest.mark.parametrize("behind", [0, 17])
def test_steps_after_a_gap_have_their_numbers(tmp_path: Path, fetches: bool, known_after: int, behind: int) -> None:
    """``behind``: so many markers are on their way as a file ends. Each hundredth step is long."""
    run = RunDirectory.create(tmp_path / "run", Manifest(tfperfkit_run=1, argv=[], cwd="", python="", probes=[]))
    sites = _sites(fetches)
    rows = b"".join(b'["session/sites",' + msgspec.json.encode(site) + b"]\n" for site in sites)
    (run.path / "records.jsonl").write_bytes(rows)
    session = Session(run, sites, known_after)
    long = LongRun(cast(LongSession, session), WatchPlan(block_s=1e6, details_mb=0.03), cast(Streams, None))
    waiting: list[Marker] = []
    at = now_ns()
    for step in range(1, 1501):
        if fetches:
            waiting.append(Marker(2, at, at + 10 * US))
        length = 5000 * US if step % 100 == 0 else 50 * US
        waiting.append(Marker(1, at + 20 * US, at + length))
        at += length + 30 * US
        while len(waiting) > behind:
            marker = waiting.pop(0)
            session.saw(marker)
            long.append(marker)
        long._details.flush()
    for marker in waiting:
        session.saw(marker)
        long.append(marker)
    long._details.close()
    table = read_steps(run, cast(Any, []))
    assert table.gaps and table.dropped > 500
    assert table.count == 1500
    late = {step.number % 100 for step in table.steps if step.end_ns - step.begin_ns > 1000 * US}
    assert late == {0}
