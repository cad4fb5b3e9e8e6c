"""Notebooks in a real kernel: what a cell shows, places in cells, magics, mistakes, a cell that fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from notebook_cells import CELLS


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    folder = tmp_path_factory.mktemp("notebook")
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    kept = {key: value for key, value in os.environ.items() if not key.startswith("TFPERF_")}
    kept |= {"TFPERF_RUNS": str(folder / "runs"), "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    client = NotebookClient(made, timeout=120, allow_errors=True, resources={"metadata": {"path": str(folder)}})
    client.execute(env=kept)
    return made, folder


def outputs(notebook: tuple[Any, Path], number: int) -> list[Any]:
    return list(notebook[0].cells[number - 1].outputs)


def html(notebook: tuple[Any, Path], number: int) -> str:
    found = [out.data["text/html"] for out in outputs(notebook, number) if "text/html" in out.get("data", {})]
    assert len(found) == 1, outputs(notebook, number)
    return str(found[0])


def printed(notebook: tuple[Any, Path], number: int) -> str:
    return "".join(out.text for out in outputs(notebook, number) if out.output_type == "stream")


def test_a_watch_shows_its_report_in_the_cell(notebook: tuple[Any, Path]) -> None:
    made = html(notebook, 3)
    assert "step retraced" in made and "RET001" in made and "<b>Change:</b>" in made
    assert len(made.encode()) < 60_000 and "<script" not in made
    assert "step is traced" not in printed(notebook, 3)  # and not as text, too


def test_places_are_cells(notebook: tuple[Any, Path]) -> None:
    made = html(notebook, 3)
    assert "cell 2, line" in made and "ipykernel_" not in made
    assert "step(number // 5)" in made  # its source, the line to change


def test_a_run_shows_itself_and_its_repr_is_short(notebook: tuple[Any, Path]) -> None:
    assert html(notebook, 4) == html(notebook, 3)
    text = printed(notebook, 5)
    assert "<tfperf run: 80 steps" in text and "RET001" in text and len(text) < 1000


def test_the_magic_of_a_cell_takes_options_and_shows_the_last_value(notebook: tuple[Any, Path]) -> None:
    assert "tfperf-report" in html(notebook, 6)
    assert any("'the last value'" in out.get("data", {}).get("text/plain", "") for out in outputs(notebook, 6))


def test_the_magic_of_a_line(notebook: tuple[Any, Path]) -> None:
    made = html(notebook, 7)
    assert "tfperf-report" in made and "tfperf_run.save_html" in made  # where it is left
    assert ">run.save_html" in html(notebook, 3)


def test_a_mistake_is_one_line(notebook: tuple[Any, Path]) -> None:
    text = printed(notebook, 8)
    assert text.startswith("tfperf: '--nonsense' is no option") and text.count("\n") == 1


def test_a_cell_that_fails_fails_as_itself_and_is_reported(notebook: tuple[Any, Path]) -> None:
    (error,) = [out for out in outputs(notebook, 9) if out.output_type == "error"]
    assert (error.ename, error.evalue) == ("ValueError", "mine")
    made = html(notebook, 9)
    assert "The code failed." in made and "cell 9, line 3" in made
    assert printed(notebook, 10) == "failed\n"  # what it left is its own run


def test_the_magic_is_told_what_a_step_is(notebook: tuple[Any, Path]) -> None:
    assert "12 steps, median" in html(notebook, 12)


def test_the_page_of_a_run_has_cells_too(notebook: tuple[Any, Path]) -> None:
    page = (notebook[1] / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "cell 2, line" in page
    told = printed(notebook, 11)
    assert told == "" or "needs pandas" in told
