"""Predicted gains taken apart: scores of forecasts, ledgers side by side, and the page, on recorded runs."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

from benchmarks.forecast_scores import Forecast, score_all
from benchmarks.residual_nodes import Lines, compare_ledgers
from benchmarks.residuals import keep_by_hand, name_largest, read_pairs, write_page
from tests.builders.recorded_runs import FOLDER
from tfperfkit.ledger.call_tree import Entry, Ledger
from tfperfkit.records.samples import Frame, Stack


def make_entry(line: int, part: str, value: float, file: str = "/home/train.py") -> Entry:
    """Make time of one line."""
    return Entry(Stack((Frame(file, 1, "main", line),), "tensorflow"), part, value)


def test_a_forecast_without_width_scores_its_distance() -> None:
    assert Forecast(4.0, 4.0, 4.0, 5.5, 8.0, 4.0).score == pytest.approx(1.5)


def test_a_forecast_that_holds_scores_less_than_one_that_is_narrow_and_wrong() -> None:
    holds, narrow = Forecast(4.0, 5.0, 7.0, 6.0, 8.0, 4.0), Forecast(3.0, 3.1, 3.2, 6.0, 8.0, 4.0)
    assert holds.holds and not narrow.holds
    assert holds.score < narrow.score


def test_scores_are_shares_of_what_was_measured() -> None:
    scores = score_all([Forecast(1.0, 2.0, 4.0, 2.0, 4.0, 2.0), Forecast(10.0, 10.0, 10.0, 20.0, 40.0, 20.0)])
    assert (scores.count, scores.held, scores.near, scores.nearer) == (2, 1, 1, 1)
    assert scores.bias == pytest.approx(0.75)
    assert scores.everything == pytest.approx(1.0)
    assert scores.half == pytest.approx(0.0)


def test_lines_are_matched_by_their_text() -> None:
    faulty = ["import tf", "for x in data:", "    y = model.predict(x)", "    save(y)", "done()"]
    twin = ["import tf", "step = tf.function(model)", "for x in data:", "    y = step(x)", "done()"]
    assert dict(Lines.match(faulty, twin).from_twin) == {1: 1, 3: 2, 4: 3, 5: 5}


def test_what_a_finding_owns_shrinks_and_the_rest_stays() -> None:
    faulty = Ledger([make_entry(3, "saving", 6.0), make_entry(5, "python", 4.0)], {"gc": 1.0})
    after = [make_entry(3, "saving", 0.5), make_entry(4, "python", 3.0), make_entry(9, "python", 0.25)]
    twin = Ledger([entry._replace(stack=make_entry(entry.stack.frames[0].line, "", 1.0, "/home/train_fixed.py").stack)
                   for entry in after])  # fmt: skip
    lines = {"train_fixed.py": Lines({3: 3, 4: 5})}
    found = compare_ledgers(faulty, twin, frozenset([0]), 5.0, lines, lambda entry: entry.part)
    assert (found.removed, found.left_predicted, found.left) == (6.0, 1.0, 0.5)
    assert (found.rest_before, found.rest_predicted, found.rest_after, found.new) == (5.0, 5.0, 3.0, 0.25)
    assert (found.predicted, found.measured) == (5.0, pytest.approx(7.25))
    assert name_largest(found.errors) == "the rest (-2.00)"
    assert {(str(node.site), node.group): node.predicted for node in found.nodes} == {
        ("train.py:3", "removed"): 1.0,
        ("train.py:5", "rest"): 4.0,
        ("no line", "rest"): 1.0,
        ("train.py:9 of the twin", "new"): 0.0,
    }


def test_what_goes_beyond_the_owned_time_comes_from_the_rest() -> None:
    faulty = Ledger([make_entry(3, "saving", 2.0), make_entry(5, "python", 4.0)])
    found = compare_ledgers(faulty, Ledger(), frozenset([0]), 3.0, {}, lambda entry: entry.part)
    assert (found.left_predicted, found.rest_predicted) == (0.0, 3.0)


def test_a_part_without_a_line_can_be_owned() -> None:
    faulty = Ledger([make_entry(3, "graph", 1.0)], {"input": 9.0})
    found = compare_ledgers(faulty, Ledger(), frozenset(), 6.0, {}, lambda entry: entry.part, ("input",))
    assert (found.removed, found.left_predicted) == (9.0, 3.0)


def test_a_run_next_to_itself_saves_nothing(tmp_path: Path) -> None:
    name = "plain_loop_mlp"
    for folder in (f"collection.{name}", f"collection.{name}_fixed"):
        with tarfile.open(FOLDER / f"{name}.tar.xz") as archive:
            archive.extractall(tmp_path / folder, filter="data")
    shutil.copytree(tmp_path / f"collection.{name}", tmp_path / "nobody.knows")
    shutil.copytree(tmp_path / f"collection.{name}", tmp_path / "nobody.knows_fixed")
    pairs, left_out = read_pairs(tmp_path)
    assert left_out == ["nobody.knows: not in the collection"]
    (pair,) = pairs
    assert (pair.finding.code, pair.rank, pair.saved_s) == ("EAG001", 1, 0.0)
    assert pair.run.measured == pytest.approx(0.0, abs=1e-6)
    assert all(node.before == pytest.approx(node.twin) for node in pair.run.nodes)
    assert pair.step is not None and 0 < pair.step.predicted < sum(node.before for node in pair.step.nodes)
    assert pair.forecast is None  # nothing was saved
    assert pair.step_forecast is not None and pair.step_forecast.measured == pytest.approx(1.0)
    page = write_page(pairs, left_out)
    assert "| Compile | 1 |" in page and "nobody.knows" in page and "collection.plain_loop_mlp | EAG001" in page


def test_what_is_written_by_hand_is_kept() -> None:
    assert keep_by_hand("# Page\n| 1 |\n\n## What was found\n\nBy hand.\n") == "\n## What was found\n\nBy hand.\n"
    assert keep_by_hand("# Page\n| 1 |\n") == ""
