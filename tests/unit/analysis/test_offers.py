"""A probe's offers reach those who ask by type, whoever made them; anything else is left out and reported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tfperfkit import registry
from tfperfkit.analysis.analyze import analyze
from tfperfkit.analysis.gather import gather
from tfperfkit.diagnosis import every_work
from tfperfkit.model import ProbeResult, Report, RunInfo
from tfperfkit.offers import AcceleratorUse, GarbageCollections, MemoryLimit, StepBreakdown
from tfperfkit.probe import Cost
from tfperfkit.rule import Offer, Offers
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.testing import even_steps, evidence_of


@dataclass(frozen=True)
class Own:
    """An offer of a type that only its package knows."""

    value: float


class OwnData(msgspec.Struct, frozen=True):
    value: int = 7


class Other:
    api, cost, claims = 1, Cost.FREE, frozenset[str]()
    made: ProbeResult

    def __init__(self, name: str, made: ProbeResult) -> None:
        self.name, self.made = name, made

    def record(self, recording: object, /) -> None: ...

    def analyze(self, capture: object, /) -> ProbeResult:
        return self.made


def report(folder: Path, patch: pytest.MonkeyPatch, seen: list[Any] | None = None, **made: ProbeResult) -> Report:
    """The report of a run with these probes; ``seen``: gets the evidence that rules are given."""
    run = RunDirectory.create(
        folder / "run", Manifest(tfperfkit_run=1, argv=["t.py"], cwd="/", python="python", probes=list(made))
    )
    run.write_json("agent.json", {"armed_ns": 0})
    patch.setattr(registry, "available", lambda: dict.fromkeys(made))
    patch.setattr(registry, "load", lambda name, known=None: Other(name, made[name]))
    if seen is not None:
        patch.setattr(every_work, "apply", lambda evidence: (seen.append(evidence), ([], []))[1])
    return analyze(run.path)


def test_the_first_of_a_kind_counts_and_data_is_on_offer_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    report(
        tmp_path,
        monkeypatch,
        seen,
        one=ProbeResult(data={"plain": 1}, offers=(MemoryLimit(limit_bytes=1),)),
        two=ProbeResult(data=OwnData(), offers=(MemoryLimit(limit_bytes=2), Own(3))),
    )
    (evidence,) = seen
    assert evidence.offer(MemoryLimit) == MemoryLimit(limit_bytes=1) and evidence.offered_by(MemoryLimit) == "one"
    assert evidence.offer(Own) == Own(3.0) and evidence.offered_by(Own) == "two"
    assert evidence.offer(OwnData) == OwnData(7)
    assert evidence.offer(StepBreakdown) is None and evidence.offered_by(StepBreakdown) == ""
    assert evidence.data("two", OwnData) == OwnData(7)  # as version 1 of the contract has it


def test_what_is_no_offer_is_left_out_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    wrong: Any = (MemoryLimit(limit_bytes="much"), object(), Own(1.0))  # type: ignore[arg-type]
    rows = report(tmp_path, monkeypatch, seen, one=ProbeResult(offers=wrong), two=ProbeResult(offers=7)).probes  # type: ignore[arg-type]
    assert [row.status for row in rows] == ["cut", "cut"]
    assert "what it offers as MemoryLimit is left out" in str(rows[0].reason)
    assert "what it offers as object is left out" in str(rows[0].reason)
    assert "int is no tuple" in str(rows[1].reason)
    assert seen[0].offer(MemoryLimit) is None and seen[0].offer(Own) == Own(1.0)


def test_collections_are_those_of_whoever_saw_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    report(tmp_path, monkeypatch, seen, anyone=ProbeResult(offers=(GarbageCollections(spans=((1, 5), (4, 9))),)))
    assert list(seen[0].collections) == [(1, 9)]


def test_the_account_is_made_from_offers_and_names_who_made_them(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run", Manifest(tfperfkit_run=1, argv=[], cwd="", python="", probes=[]))
    info = RunInfo(argv=("t.py",), exit_code=0, status="finished")
    step, spans = 10_000_000, [(n * 10_000_000, n * 10_000_000 + 2_000_000) for n in range(20)]
    offers = Offers(
        Offer(probe, type(made), msgspec.to_builtins(made))
        for probe, made in (
            ("theirs", StepBreakdown(parts_ms={"python": 3.0, "graph": 2.0}, steps=3, words="their clock")),
            ("another", GarbageCollections(spans=tuple(spans))),
            ("third", AcceleratorUse(busy_share={"GPU:0": 0.25})),
        )
    )
    account = gather(run, info, {}, 0, even_steps(20, step, warmup=2), [], {}, [], offers).account
    assert account is not None and account.windows == ("theirs",)
    assert account.parts_ms["gc"] == pytest.approx(2.0) and account.parts_ms["python"] == pytest.approx(4.0)
    assert account.idle_ms == {"GPU:0": pytest.approx(7.5)}


def test_made_up_evidence_offers_what_a_test_gives() -> None:
    evidence = evidence_of(data={"mine": OwnData(3), "raw": {"a": 1}}, offers={"yours": [MemoryLimit(limit_bytes=5)]})
    assert evidence.offer(OwnData) == OwnData(3) and evidence.offered_by(OwnData) == "mine"
    assert evidence.offer(MemoryLimit) == MemoryLimit(limit_bytes=5) and evidence.offered_by(MemoryLimit) == "yours"
