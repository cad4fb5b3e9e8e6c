"""The verdict at the end of the report: what recorded runs and made ones show on a small terminal."""

from __future__ import annotations

import keyword
import re

import msgspec
import pytest
from recorded_runs import NAMES, study_recorded
from rich.text import Text
from test_report_console import HEALTHY, rendered
from test_report_records import EAGER_FINDING, INPUT_FINDING, NAIVE_GAN, RETRACE_FINDING

from tfperfkit.gain import Range, Unknown, UpTo
from tfperfkit.model import CallTime, Measured, Report, SourceSpan, StepSummary, Work
from tfperfkit.records.conclusion import LARGEST_START_UP, NO_CAUSE, NO_FAULT, ROOM, Conclusion
from tfperfkit.report.verdict.findings import cost_items, first_sentence


def verdict(report: Report, width: int = 80, **options: object) -> str:
    """The report without tables."""
    return rendered(msgspec.structs.replace(report, shown=()), width, full=False, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_run_fits_on_a_small_terminal(name: str) -> None:
    report, _ = study_recorded(name)
    lines = verdict(report, handle="last").splitlines()
    assert len(lines) <= 24
    assert lines[0].startswith(f"tfperf · {name}.py · ")
    if any(line.startswith("FIX FIRST") for line in lines):
        assert next(index for index, line in enumerate(lines) if line.startswith("  change ")) <= 5
        gain = next(line for line in lines if line.startswith("  gain "))
        assert "predicted" in gain or "measured" in gain
    else:
        assert any(line.startswith(("NO CAUSE FOUND", "NO KNOWN FAULT")) for line in lines)
    assert "tfperf report last --full" in "\n".join(lines[-4:])


@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_gets_the_same_text_without_colour(name: str) -> None:
    report, _ = study_recorded(name)
    plain = verdict(report)
    assert "\x1b" not in plain
    assert Text.from_ansi(verdict(report, color=True)).plain.splitlines() == plain.splitlines()


def test_the_verdict_is_the_end_also_after_tables() -> None:
    text = rendered(NAIVE_GAN, 80, full=True)
    assert text.endswith(rendered(msgspec.structs.replace(NAIVE_GAN, shown=()), 80, full=False))
    named = rendered(msgspec.structs.replace(NAIVE_GAN, shown=("retrace",)), 80, full=False)
    assert "Traces of train_step" in named and "Costliest ops" not in named
    assert named.index("Traces of train_step") < named.index("FIX FIRST")


def test_notes_are_no_findings() -> None:
    report = msgspec.structs.replace(NAIVE_GAN, findings=(INPUT_FINDING, EAGER_FINDING))
    assert "EAG001" not in verdict(report)
    unknown = msgspec.structs.replace(EAGER_FINDING, severity="high", gain=UpTo(3.0))
    assert unknown.is_note and "EAG001" not in verdict(msgspec.structs.replace(report, findings=(unknown,)))
    assert "notes · no predicted gain" in rendered(report)


def test_further_findings_are_one_or_two_lines_each_and_the_rest_is_counted() -> None:
    more = msgspec.structs.replace(RETRACE_FINDING, saves_s=(2.0, 4.0))
    lines = verdict(msgspec.structs.replace(NAIVE_GAN, findings=(INPUT_FINDING, *[more] * 8))).splitlines()
    assert len(lines) <= 24
    then = next(index for index, line in enumerate(lines) if line.startswith("THEN"))
    assert lines[then].startswith("THEN        2. train_step is traced again")
    assert lines[then + 1].strip().startswith("train.py:41 · predicted: saves 2.0-4.0 s, each step 1.03x faster")
    assert any(line.strip().endswith("more in the full report") for line in lines)


def test_the_factor_of_a_further_finding_has_no_range() -> None:
    more = msgspec.structs.replace(INPUT_FINDING, saves_s=(2.0, 4.0), gain=Range(1.9, 2.5, 3.1))
    text = verdict(msgspec.structs.replace(NAIVE_GAN, findings=(more, more)))
    assert "each step 2.5x faster\n            (1.9x-3.1x)" in text[: text.index("THEN")]
    then = text[text.index("THEN") :]
    assert "step 2.5x faster" in then and "(1.9x" not in then


@pytest.mark.parametrize(("spare", "shown"), [(0, True), (-1, False)])
def test_the_advice_of_a_further_finding_is_shown_if_it_fits(spare: int, shown: bool) -> None:
    """The line has 66 columns; two of them are for a colon and a space."""
    advice = "x" * (80 - 12 - 2 - 2 - 1 - spare) + "."
    more = msgspec.structs.replace(INPUT_FINDING, where=(), gain=Unknown(), saves_s=None, advice=advice)
    text = verdict(msgspec.structs.replace(NAIVE_GAN, findings=(INPUT_FINDING, more)))
    assert (f"              {advice}\n" in text) == shown


def test_places_after_the_second_are_counted_and_a_long_line_is_cut() -> None:
    where = tuple(SourceSpan("train.py", number, "f") for number in (57, 60, 61, 62, 63))
    finding = msgspec.structs.replace(INPUT_FINDING, where=where)
    source = {"train.py:57": f"x = {'y' * 100}"}
    text = verdict(msgspec.structs.replace(NAIVE_GAN, findings=(finding,), source=source))
    assert "            train.py:60 (f) (3 more)\n" in text
    assert max(map(len, text.splitlines())) == 80 and f"  at        train.py:57  x = {'y' * 50}…\n" in text


def test_a_first_sentence_ends_at_its_full_stop() -> None:
    assert first_sentence("Use tf.data. It is faster.") == "Use tf.data."
    assert first_sentence("Use tf.data") == "Use tf.data"


@pytest.mark.parametrize(("share", "words"), [(0.02, ["2.0 % of the run"]), (0.001, [])])
def test_a_small_share_of_the_run_is_no_cost(share: float, words: list[str]) -> None:
    item = msgspec.structs.replace(INPUT_FINDING, share_of_step=0.0, share_of_run=share)
    assert [part for part in cost_items(item) if "run" in part] == words


def test_a_gain_of_the_training_loop_names_it_beside_the_steps() -> None:
    finding = msgspec.structs.replace(INPUT_FINDING, basis="turn", saves_s=(4.7, 5.5), gain=Range(2.8, 3.3, 4.0))
    lines = verdict(msgspec.structs.replace(NAIVE_GAN, findings=(finding, finding))).splitlines()
    assert any("training loop 3.3x faster" in line for line in lines)
    assert any(line.startswith("  takes ") and "of the training loop" in line for line in lines)
    # A factor that doesn't fit is left out, not cut.
    assert not any("faster…" in line or "loop…" in line for line in lines)


def test_seconds_come_first_and_a_gain_says_whether_it_is_predicted_or_measured() -> None:
    finding = msgspec.structs.replace(INPUT_FINDING, saves_s=(13.2, 16.8), gain=Range(1.9, 2.5, 3.1))
    report = msgspec.structs.replace(NAIVE_GAN, findings=(finding,))
    assert "  gain      predicted: saves 13-17 s of 27 s, each step 2.5x faster (1.9x-3.1x)\n" in verdict(report)
    proof = Measured(experiment="jit", keeps="results", verdict="faster", speedup=1.8, interval=(1.7, 1.9), pairs=3)
    measured = msgspec.structs.replace(finding, measured=proof)
    text = verdict(msgspec.structs.replace(report, findings=(measured,)))
    assert "  gain      measured: 1.8x faster" in text and "predicted: each step 2.5x" in text


def test_a_place_has_its_code_and_a_long_advice_ends_at_a_sentence() -> None:
    advice = "Load the data once. " + "This explains it at length and nobody reads that. " * 12
    finding = msgspec.structs.replace(INPUT_FINDING, advice=advice)
    report = msgspec.structs.replace(NAIVE_GAN, findings=(finding,), source={"train.py:57": "x_train, _ = load()"})
    text = verdict(report)
    assert "  at        train.py:57  x_train, _ = load()\n            train.py:308 (forward_pass)\n" in text
    change = text[text.index("  change") : text.index("  at  ")]
    assert change.startswith("  change    Load the data once. This") and change.rstrip().endswith(".")
    assert len(change.splitlines()) <= 4


def test_work_without_steps_has_its_own_header_and_bar() -> None:
    steps = StepSummary(
        count=640, source="work", median_ms=22.4, mean_ms=25.0, breakdown_ms={"graph": 20.0, "python": 5.0}
    )
    loop = Work(
        kind="loop",
        where=SourceSpan("infer.py", 40, "main"),
        seconds=16.0,
        share_of_run=0.6,
        iterations=640,
        steps=steps,
    )
    stepless = msgspec.structs.replace(HEALTHY, steps=StepSummary(count=0, source="none"), work=(loop,))
    lines = verdict(stepless).splitlines()
    assert lines[0] == "tfperf · train.py · 27 s · loop at infer.py:40, 640 iterations, median 22 ms"
    assert any(line.startswith("ITERATION   ▓▓▓") for line in lines)
    assert "mean 25 ms  ▓ graph 80 %  █ Python 20 %" in lines
    one = msgspec.structs.replace(loop, seconds=30.0, iterations=None)
    text = verdict(msgspec.structs.replace(stepless, work=(one,)))
    assert "LOOP 30 s   ▓▓▓" in text and "25 ms clean " in text
    call = msgspec.structs.replace(loop, kind="call", iterations=None)
    assert "call at infer.py:40, 16 s" in verdict(msgspec.structs.replace(stepless, work=(call,)))


def test_without_a_cause_the_costliest_calls_that_no_finding_owns_are_named() -> None:
    calls = (
        CallTime(where=SourceSpan("a.py", 3), call="model.fit", seconds=9.0, share_of_run=0.33, findings=("INP001",)),
        CallTime(where=SourceSpan("a.py", 24), call="model.export", seconds=7.0, share_of_run=0.26, times=25),
        CallTime(where=SourceSpan("a.py", 28), call="score", seconds=6.0, share_of_run=0.22, times=200, rows=6000),
        CallTime(where=SourceSpan("a.py", 30), call="tiny", seconds=0.3, share_of_run=0.01),
    )
    conclusion = Conclusion(verdict="No cause found", why="60 % of the run is loading and saving")
    text = verdict(msgspec.structs.replace(HEALTHY, conclusion=conclusion, calls=calls))
    assert "NO CAUSE FOUND   60 % of the run is loading and saving\n" in text
    assert "  7.0 s  a.py:24  model.export, 25+ calls\n" in text
    assert "  6.0 s  a.py:28  score, 200+ calls, 6,000 rows each\n" in text
    assert "model.fit" not in text and "tiny" not in text


@pytest.mark.parametrize(("found", "shown"), [(NO_FAULT, False), ("No cause found", True)])
def test_the_speed_of_computing_is_shown_if_the_work_may_be_unnecessary(found: str, shown: bool) -> None:
    conclusion = Conclusion(verdict=found, why="93 % of a step is computing", limit="It reaches 212 GFLOP/s.")
    text = verdict(msgspec.structs.replace(HEALTHY, conclusion=conclusion))
    assert f"{found.upper()}   93 % of a step is computing\n" in text
    assert ("  speed     It reaches 212 GFLOP/s.\n" in text) == shown


def test_commands_name_the_run_so_that_it_can_be_pasted() -> None:
    assert "full report   tfperf report last --full       explain  tfperf explain INP001\n" in verdict(
        NAIVE_GAN, handle="last"
    )
    run = msgspec.structs.replace(NAIVE_GAN.run, directory="/tmp/a dir; rm -rf x")
    assert "tfperf report '/tmp/a dir; rm -rf x' --full" in verdict(msgspec.structs.replace(NAIVE_GAN, run=run), 140)


#: A plain English word; numbers, units, code and places are none.
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*[.,;:]?")
_UNITS = {"ms", "s", "MiB", "GiB"}


@pytest.mark.parametrize("name", NAMES)
def test_a_title_on_the_screen_has_at_most_nine_words_and_the_users_names(name: str) -> None:
    report, evidence = study_recorded(name)
    for finding in (*report.findings, *report.headroom):
        words = [word for word in finding.title.split() if _WORD.fullmatch(word) and word not in _UNITS]
        names = {word for span in finding.where for word in re.findall(r"\w+", " ".join(evidence.source(span.file)))}
        assert len([word for word in words if word not in names or keyword.iskeyword(word)]) <= 9, finding.title


def test_startup_with_faster_choices_still_says_where_the_time_went() -> None:
    why = "imports take 44 % of this run, a one-time cost"
    report = msgspec.structs.replace(HEALTHY, headroom=(INPUT_FINDING,))
    said = Conclusion(verdict=LARGEST_START_UP, why=why, also="No known fault: 90 % of a step is computing.")
    text = " ".join(verdict(msgspec.structs.replace(report, conclusion=said)).split())
    assert why in text and "No known fault: 90 %" in text and "optional" in text and "these choices" not in text
    room = msgspec.structs.replace(said, verdict=f"{NO_CAUSE}{ROOM}", why=INPUT_FINDING.title)
    text = verdict(msgspec.structs.replace(report, conclusion=room))
    assert "NO CAUSE FOUND   these choices are faster:" in text


@pytest.mark.parametrize(("work", "said"), [("", "2.5x the examples/s"), ("infer.py:40", "2.5x faster")])
def test_a_choice_outside_of_training_has_no_examples(work: str, said: str) -> None:
    choice = msgspec.structs.replace(INPUT_FINDING, gain=Range(1.9, 2.5, 3.1), advice="Compute in float32.", work=work)
    conclusion = Conclusion(verdict=NO_FAULT, why="93 % is computing")
    text = verdict(msgspec.structs.replace(HEALTHY, conclusion=conclusion, headroom=(choice,)))
    assert f"  optional  Compute in float32. {said} (predicted, INP001)\n" in text
