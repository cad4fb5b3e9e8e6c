"""Which rank a process is, and what the parts of several say together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfperfkit.model import Finding, Measurement
from tfperfkit.ranks.command import lines
from tfperfkit.ranks.parts import Part, _late, read
from tfperfkit.records.rank import Rank, holds_parts, rank_of
from tfperfkit.report.terminal import Screen


def config(kind: str, index: int) -> dict[str, str]:
    cluster = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})}


@pytest.mark.parametrize(
    ("environ", "rank", "size", "role"),
    [
        (config("chief", 0), 0, 4, "chief"),
        (config("worker", 1), 2, 4, "worker"),
        (config("ps", 0), 3, 4, "ps"),
        (config("evaluator", 0), 0, 4, "evaluator"),
        ({"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"}, 3, 4, "worker"),
        ({"PMI_RANK": "1", "PMI_SIZE": "2"}, 1, 2, "worker"),
        ({"HOROVOD_RANK": "1", "HOROVOD_SIZE": "2"}, 1, 2, "worker"),
        ({"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_STEP_ID": "0"}, 1, 2, "worker"),
        ({"RANK": "1", "WORLD_SIZE": "2"}, 1, 2, "worker"),
    ],
)
def test_what_launchers_say(environ: dict[str, str], rank: int, size: int, role: str) -> None:
    found = rank_of(environ)
    assert found is not None
    assert (found.rank, found.size, found.role) == (rank, size, role)


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"RANK": "0", "WORLD_SIZE": "1"},
        {"RANK": "5", "WORLD_SIZE": "2"},
        {"RANK": "-1", "WORLD_SIZE": "2"},
        {"RANK": "x", "WORLD_SIZE": "²"},
        {"SLURM_PROCID": "0", "SLURM_NTASKS": "8"},  # a batch script, not srun
        {"TF_CONFIG": "{"},
        {"TF_CONFIG": '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}'},
        {"TF_CONFIG": '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 9}}'},
    ],
)
def test_who_trains_alone(environ: dict[str, str]) -> None:
    assert rank_of(environ) is None


def test_names_of_parts() -> None:
    assert Rank(rank=3, size=8).folder == "rank-0003"
    assert Rank(rank=0, size=8, role="evaluator").folder == "evaluator-0000"
    assert Part(name="rank-0010").label == "rank 10"


def sleeping(share: float) -> Finding:
    evidence = (Measurement("sleeping", share, "share"),)
    return Finding(
        code="STP004",
        family="step",
        title="It sleeps",
        severity="high",
        share_of_step=share,
        predicted_speedup=None,
        where=(),
        evidence=evidence,
        advice="Don't.",
    )


def part(rank: int, step: float, inside: float | None, *findings: Finding) -> Part:
    return Part(name=f"rank-{rank:04}", rank=rank, size=2, step_ms=step, inside_ms=inside, findings=findings)


def test_who_is_late_and_why() -> None:
    assert _late([part(0, 28, 28), part(1, 27.6, 7.4, sleeping(0.7))]) == ("rank 1", 28 - 7.4, "It sleeps  STP004")
    late, _, why = _late([part(0, 28, 28), part(1, 28, 8, sleeping(0.1))])
    assert (late, why) == ("rank 1", "none of its findings explains most of that")


def test_nobody_is_named_without_reason() -> None:
    healthy = [part(0, 28, 27), part(1, 28, 26)]
    apart = [part(0, 28, 28), part(1, 10, 2, sleeping(0.7))]
    unknown = [part(0, 28, 28), part(1, 28, None)]
    for parts in (healthy, apart, unknown, [part(0, 28, 28)]):
        assert _late(parts) == (None, 0.0, "")


def test_missing_and_damaged_parts_are_told_first(tmp_path: Path) -> None:
    for name, text in (("rank-0000", "{"), ("rank-0002", "[]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(text)
    assert holds_parts(tmp_path)
    whole = read(tmp_path)
    assert (whole.size, whole.missing, whole.died) == (2, (1,), ("rank 0", "rank 2"))
    shown = [line.plain for line in lines(whole, tmp_path, Screen(width=80))]
    assert shown[0].startswith("No part of rank 1") and shown[1].startswith("Did not finish: rank 0, rank 2")
    assert max(map(len, shown)) <= 80
