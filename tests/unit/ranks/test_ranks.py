"""Which rank a process is, and what the parts of several say together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tfperfkit.clock import NS_PER_S
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import Exchange
from tfperfkit.offers.late_rank import Cause
from tfperfkit.ranks.command import lines
from tfperfkit.ranks.page import page
from tfperfkit.ranks.part import LineTime, Part, Traced
from tfperfkit.ranks.parts import Whole, read, whole
from tfperfkit.ranks.words import exchange_words, first_line, late_words, warnings
from tfperfkit.records.rank import Rank, holds_parts, rank_of
from tfperfkit.report.terminal import UNICODE, Screen


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
        ({"PMIX_RANK": "1", "PMIX_SIZE": "2"}, 1, 2, "worker"),
        ({"HOROVOD_RANK": "1", "HOROVOD_SIZE": "2"}, 1, 2, "worker"),
        ({"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_STEP_ID": "0"}, 1, 2, "worker"),
        ({"RANK": "1", "WORLD_SIZE": "2"}, 1, 2, "worker"),
    ],
)
def test_what_launchers_say(environ: dict[str, str], rank: int, size: int, role: str) -> None:
    found = rank_of(environ)
    assert found is not None
    assert (found.rank, found.size, found.role) == (rank, size, role)
    assert found.in_step is (role in ("worker", "chief"))


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


def found(share: float, code: str = "STP004", **more: Any) -> Finding:
    return Finding(
        code=code,
        family="step",
        title="It sleeps",
        severity="high",
        share_of_step=share,
        where=(SourceSpan("/home/a/train.py", 30),),
        evidence=(Measurement("sleeping", share, "share"),),
        advice="Don't.",
        **more,
    )


def part(rank: int, turn: float, inside: float | None, *findings: Finding, **more: Any) -> Part:
    """Return a rank whose time outside of compiled functions is Python, unless ``more`` says otherwise."""
    outside = {"python": turn - inside} if inside is not None else {}
    given = {"outside_ms": outside, "step_ms": turn, "turn_ms": turn, "inside_ms": inside, "clean": 100, **more}
    return Part(name=f"rank-{rank:04}", rank=rank, size=2, status="finished", findings=findings, **given)


def together(*parts: Part, tmp_path: Path = Path("/nowhere")) -> Whole:
    return whole(tmp_path, parts)


def test_who_is_late_and_why() -> None:
    made = together(part(0, 28, 28), part(1, 27.6, 7.4, found(0.7)))
    assert (made.late, made.wait_ms) == ("rank 1", pytest.approx(20.2))
    assert made.why == "its Python takes longer: It sleeps (train.py:30)  STP004"
    assert made.cause is not None and (made.cause.kind, made.cause.code) == ("Python", "STP004")


def test_a_late_rank_is_a_finding_of_all() -> None:
    (late,) = together(part(0, 28, 28), part(1, 28, 8, found(0.7))).findings
    assert (late.code, late.title, late.basis) == ("DST008", "Rank 1 reaches the gradient exchange late", "turn")
    assert late.share_of_step == pytest.approx(20 / 28) and late.where[0].line == 30
    assert late.gain.bounds == (pytest.approx(28 / 18), pytest.approx(28 / 8))
    assert together(part(0, 28, 28), part(1, 28, 28)).findings == ()


def test_a_rank_that_evaluates_has_a_page_of_its_own() -> None:
    made = together(part(0, 28, 28), part(1, 28, 8, outside_ms={"evaluate": 20.0}))
    assert [each.code for each in made.findings] == ["DST009"]
    text = " ".join(line.plain.strip() for line in lines(made, Path("out"), Screen(width=200)))
    assert "DST009  Rank 1 evaluates while the others wait, step 1.6x to 3.5x faster: Evaluate on all ranks" in text


def test_a_late_rank_without_a_cause_has_a_ceiling_only() -> None:
    spread = {"python": 7.0, "saving": 6.5, "gc": 6.5}
    (late,) = together(part(0, 28, 28), part(1, 28, 8, outside_ms=spread)).findings
    assert (late.gain.bounds, late.where, late.gain.high) == (None, (), pytest.approx(28 / 8))


def test_a_finding_that_is_too_small_is_not_the_cause() -> None:
    made = together(part(0, 28, 28), part(1, 28, 8, found(0.1)))
    assert (made.late, made.cause and made.cause.code) == ("rank 1", "")


def test_a_finding_that_the_others_have_too_is_not_the_cause() -> None:
    mine = found(0.7)
    made = together(part(0, 100, 30, mine), part(1, 100, 10, mine, outside_ms={"python": 70.0, "saving": 20.0}))
    assert made.cause is not None and (made.cause.kind, made.cause.code) == ("saving", "")


def test_no_cause_where_nothing_takes_the_larger_half() -> None:
    spread = {"python": 7.0, "saving": 6.5, "gc": 6.5}
    made = together(part(0, 28, 28), part(1, 28, 8, outside_ms=spread))
    assert (made.late, made.cause) == ("rank 1", None)
    assert made.why.startswith("nothing that it does more of")


def test_python_that_waits_for_a_processor_is_not_slow_python() -> None:
    made = together(part(0, 28, 28, waited_ms=0.0), part(1, 28, 8, waited_ms=15.0))
    assert made.cause is not None and (made.cause.kind, made.cause.ms) == ("slower processor", 15.0)
    assert made.why.startswith("its training thread has no processor for 15 ms of a step")
    # If all ranks wait as long, waiting explains nothing, and the rest of the Python does.
    both = together(part(0, 28, 24, waited_ms=2.0), part(1, 28, 8, found(0.7), waited_ms=2.0))
    assert both.cause is not None and both.cause.kind == "Python"
    unknown = together(part(0, 28, 28), part(1, 28, 8, waited_ms=15.0))  # of the other it was not noted
    assert unknown.cause is None


def at(line: int, ms: float) -> LineTime:
    return LineTime(file="/home/a/train.py", line=line, ms=ms)


def test_a_line_that_one_rank_alone_comes_to() -> None:
    """Evaluate by hand: some input, some computing and some Python."""
    spread = {"input": 7.0, "python": 6.5, "gc": 6.5}
    steps, evaluates = at(40, 8), at(50, 18)
    made = together(part(0, 28, 28, lines=(at(40, 27),)), part(1, 28, 8, outside_ms=spread, lines=(evaluates, steps)))
    assert made.cause is not None and (made.cause.kind, made.cause.ms) == ("alone", 18)
    assert made.why == "it alone is at this line for 18.0 ms of a step (train.py:50)"


def test_compiled_calls_at_a_line_of_one_rank_alone_are_not_slower_ones() -> None:
    mine, yours = (at(50, 18), at(40, 8)), (at(40, 27),)
    slower = {"outside_ms": {"python": 2.0}}
    made = together(
        part(0, 28, 28, lines=yours, compute_ms=6.0, **slower), part(1, 28, 26, lines=mine, compute_ms=20.0, **slower)
    )
    assert made.cause is not None and (made.cause.kind, made.cause.ms) == ("alone", 18)
    same = together(
        part(0, 28, 28, lines=yours, compute_ms=6.0, **slower), part(1, 28, 26, lines=yours, compute_ms=20.0, **slower)
    )
    assert same.cause is not None and same.cause.kind == "computing"


def test_a_line_that_the_others_come_to_or_that_takes_little_is_not_the_cause() -> None:
    spread = {"input": 7.0, "python": 6.5, "gc": 6.5}
    for mine, yours in (((at(50, 18),), (at(50, 6),)), ((at(50, 9),), (at(40, 27),)), ((at(50, 18),), ())):
        made = together(part(0, 28, 28, lines=yours), part(1, 28, 8, outside_ms=spread, lines=mine))
        assert (made.late, made.cause) == ("rank 1", None)


def test_nobody_is_named_without_reason() -> None:
    healthy = [part(0, 28, 27), part(1, 28, 26)]
    unknown = [part(0, 28, 28), part(1, 28, None)]
    for parts in (healthy, unknown, [part(0, 28, 28)]):
        made = together(*parts)
        assert (made.late, made.wait_ms, made.why) == (None, 0.0, "")
    apart = together(part(0, 28, 28), part(1, 10, 2, found(0.7)))
    assert apart.late is None and "more than a fifth" in apart.notes[0]


def test_ranks_that_take_turns_are_not_late() -> None:
    mine = {ten: 20.0 + (ten % 2) * 8 for ten in range(10)}
    yours = {ten: 20.0 + (1 - ten % 2) * 6 for ten in range(10)}
    made = together(part(0, 40, 36, own_ms=mine), part(1, 40, 30, own_ms=yours))
    assert made.late is None and "5 of 10 tens of steps" in made.notes[0]


@pytest.mark.parametrize(
    ("pace", "waits", "late"),
    [
        (62.0, 40.0, None),
        (42.0, 10.0, None),  # read too small; but it waits, and the pipeline works meanwhile
        (42.0, 1.0, "rank 1"),  # its pipeline is done in time
        (42.0, 40.0, "rank 1"),  # one that works only when it is asked
        (10.0, 5.0, "rank 1"),
        (None, 40.0, "rank 1"),
    ],
)
def test_input_that_takes_the_whole_step_on_all_ranks(pace: float | None, waits: float, late: str | None) -> None:
    """One of them is ahead of the other by what it happened to be at the start."""
    mine = part(0, 65, 65 - waits, outside_ms={"input": waits}, pace_ms=pace)
    made = together(mine, part(1, 65, 10, outside_ms={"input": 55.0}, pace_ms=61.0))
    assert made.late == late and (late is not None or "nobody is named" in made.notes[0])
    assert [each.code for each in made.findings] == (["DST008"] if late else [])


def computing(rank: int, compute: float, **more: Any) -> Part:
    return part(rank, 40, 38, compute_ms=compute, compute_by="samples", **more)


def test_a_rank_whose_compiled_function_takes_longer() -> None:
    fast, slow = computing(0, 10), computing(1, 30)
    assert together(fast, slow).cause == Cause(
        kind="computing", ms=20, words="its compiled functions take 3.0 times as long"
    )
    work = together(computing(0, 10, batch_size=64), computing(1, 30, batch_size=256)).cause
    assert work is not None and work.kind == "more work" and "batches of 256" in work.words
    fewer = together(computing(0, 10, processors=4), computing(1, 30, processors=1)).cause
    assert fewer is not None and fewer.kind == "slower processor" and "on 1 processor, where" in fewer.words
    taken = together(computing(0, 10, stretched=1.1), computing(1, 30, stretched=3.0)).cause
    assert taken is not None and taken.kind == "slower processor" and "67 % of the time" in taken.words
    assert together(fast, slow).waits_ms == {"rank 0": 20, "rank 1": 0}


def test_computing_that_was_measured_otherwise_is_not_compared() -> None:
    made = together(computing(0, 10), part(1, 40, 38, compute_ms=30, compute_by="trace"))
    assert (made.late, made.waits_ms) == (None, {})


def test_long_steps_now_and_then() -> None:
    late = part(
        1, 60, 28, outside_ms={"tracing": 32.0}, rare_ms={"tracing": 31.0}, long_steps={"tracing": 25}, compute_ms=None
    )
    made = together(part(0, 60, 59), late)
    assert made.lateness is not None and (made.lateness.rare, made.lateness.times, made.lateness.of) == (True, 25, 100)
    assert "25 of 100 steps that are much longer" in late_words(made, UNICODE)


def exchanges(*ms: float) -> tuple[Exchange, ...]:
    """Two of one name and one of another, in each step."""
    step = tuple(zip("aab", ms, strict=True))
    return tuple(Exchange(step=number, name=name, ms=took) for number in (5, 6) for name, took in step)


def test_waiting_apart_from_transfer() -> None:
    made = together(part(0, 40, 38, exchanges=exchanges(10, 2, 1)), part(1, 40, 38, exchanges=exchanges(4, 3, 1)))
    assert made.traced is not None
    assert (made.traced.steps, made.traced.exchanges, made.transfer_ms) == (2, 3, 4 + 2 + 1)
    assert made.waits_ms == {"rank 0": 6, "rank 1": 1} and made.traced.last == {"rank 1": 2}


@pytest.mark.parametrize(
    ("hidden", "said"),
    [((4, 6), "in it, and compute for 40 % to 60 % of its time."), ((4, None), "in it.")],
)
def test_an_exchange_that_computing_hides(hidden: tuple[float, float | None], said: str) -> None:
    """Nothing is said where it is not known of each rank."""
    rows = exchanges(10, 2, 1)
    made = together(
        *(part(n, 40, 38, exchanges=rows, exchange_ms=10, exchange_hidden_ms=ms) for n, ms in enumerate(hidden))
    )
    assert exchange_words(made, UNICODE).endswith(said)


def test_ranks_that_trace_or_compile_differently() -> None:
    def traced(traces: int, **more: Any) -> tuple[Traced, ...]:
        return (Traced(function="step", file="/a/train.py", line=3, traces=traces, **more),)

    often = together(part(0, 9, 9, functions=traced(1)), part(1, 9, 9, functions=traced(20, varying="n=1, 2, 3")))
    assert often.differing == (
        "step (train.py:3) is traced differently often: once on rank 0; 20 times (n=1, 2, 3) on rank 1",
    )
    other = together(
        part(0, 9, 9, functions=traced(1, operations=10)), part(1, 9, 9, functions=traced(1, operations=12))
    )
    (told,) = other.differing
    assert told == "step (train.py:3) has different graphs: 10 operations on rank 0; 12 operations on rank 1"
    same = together(part(0, 9, 9, functions=traced(1)), part(1, 9, 9, functions=traced(1)))
    assert same.differing == ()


HOUR = 3600


@pytest.mark.parametrize(
    ("machines", "ended_s", "after_s"),
    [
        (("a", "a"), (12.0, 10.0), (12.0, 10.0)),
        (("a", "a"), (12.0, 10.0), (1.0, 5.0)),  # on one machine its clock counts, not who was started later
        (("a", "b"), (12.0, 3 * HOUR), (12.0, 10.0)),  # of two the clocks are not compared
        (("a", "a"), (12.0, 14.0), (12.0, 14.0)),  # that one was killed is noticed late
    ],
)
def test_the_first_to_end_is_said_first(
    tmp_path: Path, machines: tuple[str, str], ended_s: tuple[float, float], after_s: tuple[float, float]
) -> None:
    parts = []
    for rank, (status, code) in enumerate((("failed", 1), ("killed", 137))):
        when = {"ended_ns": round(ended_s[rank] * NS_PER_S), "after_s": after_s[rank]}
        made_part = part(rank, 9, 9, steps=57, exit_code=code, **when)
        parts.append(msgspec.structs.replace(made_part, status=status))
        (tmp_path / made_part.name).mkdir()
        (tmp_path / made_part.name / "agent.json").write_text(json.dumps({"machine": machines[rank]}))
    made = together(*parts, tmp_path=tmp_path)
    assert made.endings == ("rank 1 was ended by SIGKILL after 57 steps", "rank 0 failed with status 1 after 57 steps")
    assert warnings(made)[0].startswith("Did not finish: rank 1 was ended by SIGKILL")


def test_missing_and_damaged_parts_are_told_first(tmp_path: Path) -> None:
    for name, text in (("rank-0000", "{"), ("rank-0002", "[]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(text)
    assert holds_parts(tmp_path)
    made = read(tmp_path)
    assert (made.size, made.missing, made.died) == (2, (1,), ("rank 0", "rank 2"))
    shown = [line.plain for line in lines(made, tmp_path, Screen(width=80))]
    header = next(index for index, line in enumerate(shown) if line.startswith("tfperf "))
    assert shown[header + 2].startswith("No part of rank 1")
    assert shown[header + 3].startswith("Did not finish: rank 0 has no report")
    assert max(map(len, shown)) <= 80
    document = page(made, tmp_path)
    assert "No part of rank 1" in document and document.count("<tr>") == 3


def test_a_part_of_another_version_is_a_row_with_its_reason(tmp_path: Path) -> None:
    for rank, schema in ((0, 99), (1, 1)):
        name = f"rank-000{rank}"
        (tmp_path / name).mkdir()
        manifest = {"tfperfkit_run": schema, "argv": ["train.py"], "cwd": "/", "python": "/usr/bin/python"}
        manifest |= {"probes": [], "started_ns": 1, "started_wall_s": 1.0, "rank": {"rank": rank, "size": 2}}
        (tmp_path / name / "run.json").write_text(json.dumps(manifest))
    made = read(tmp_path)
    assert (made.size, made.missing) == (2, ()) and "rank 0" in made.died
    assert "99" in made.parts[0].problem and not made.parts[1].problem
    (told,) = [line for line in made.endings if line.startswith("rank 0")]
    assert told.startswith("rank 0 has no report: ")


def test_ranks_that_disagree_about_their_number() -> None:
    made = together(part(0, 9, 9), msgspec.structs.replace(part(1, 9, 9), size=4))
    # One record has two more, the other none: nothing is reported as missing.
    assert (made.size, made.sizes, made.missing) == (4, (2, 4), ()) and "disagree" in warnings(made)[0]
    assert first_line(made, UNICODE)[0] == "2 parts"


def test_a_rank_that_finished_without_a_step_is_said_first() -> None:
    """Its records may have been cut on the way."""
    made = together(part(0, 9, 9, steps=60), Part(name="rank-0001", rank=1, size=2, status="finished"))
    assert warnings(made) == ["No step is known of rank 1, which finished: its records are cut, or it trained none."]
    server = Part(name="rank-0001", rank=1, size=2, status="finished", role="ps")
    assert warnings(together(part(0, 9, 9, steps=60, role="worker"), server)) == []


def test_what_is_of_the_script_is_text_in_the_page() -> None:
    bad = msgspec.structs.replace(found(0.7), title="<script>alert(1)</script>")
    document = page(together(part(0, 28, 28), part(1, 28, 8, bad)), Path("/tmp/<b>"))
    assert "<script>" not in document and "&lt;script&gt;alert" in document and "<b>" not in document


@pytest.mark.parametrize("width", [80, 100, 140])
def test_fits_the_screen(width: int) -> None:
    made = together(part(0, 28, 28), part(1, 27.6, 7.4, found(0.7)))
    assert max(len(line.plain) for line in lines(made, Path("/nowhere"), Screen(width=width))) <= width
