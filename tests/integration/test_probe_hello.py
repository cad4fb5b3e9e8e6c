"""A probe from somebody else: ``examples/probe_hello`` is installed, listed, run and rendered; its manual is true."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from warm_run import warm_tfperf

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "probe_hello"
MANUAL, RULES = ROOT / "docs" / "writing-a-probe.md", ROOT / "docs" / "writing-a-rule.md"

SCRIPT = """
import gc
import tensorflow as tf

weights = tf.Variable(tf.ones([8, 8]))
optimizer = tf.keras.optimizers.SGD(0.01)

@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.matmul(x, weights) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss

def train():
    for step in range(12):
        loss = train_step(tf.ones([4, 8]))
        gc.collect()
    print("loss", float(loss))

train()
"""


def in_environment(library: Path, *command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python with the installed package on its path, as in an environment that has it."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(library),
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "COLUMNS": "140",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    started = [sys.executable]
    if command[:2] == ("-m", "tfperfkit"):
        del environment["PYTHONDONTWRITEBYTECODE"]  # so it is the interpreter that others begin in
        (started, environment), command = warm_tfperf(environment), command[2:]
    return subprocess.run(
        [*started, *map(str, command)],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, built and installed into a folder of its own by pip, without a network."""
    for needed in ("pip", "hatchling"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed here")
    folder = tmp_path_factory.mktemp("library")
    done = in_environment(
        folder,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        folder,
        EXAMPLE,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_it_is_listed_with_its_package(library: Path) -> None:
    done = in_environment(library, "-m", "tfperfkit", "list", "probes")
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("hello ")]
    assert "the whole run" in line
    assert "tfperfkit-probe-hello 0.1.0" in line
    assert "Times Python's garbage collections" in line


@pytest.mark.parametrize("code", ["HEL001", "HEL002"])
def test_its_findings_are_explained(library: Path, code: str) -> None:
    done = in_environment(library, "-m", "tfperfkit", "explain", code)
    assert (done.returncode, done.stderr) == (0, "")
    page = EXAMPLE / "probe_hello" / "pages" / f"{code}.md"
    assert done.stdout.startswith(page.read_text(encoding="utf-8").partition("\n")[0])


def test_its_own_tests_pass(library: Path) -> None:
    done = in_environment(
        library,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        EXAMPLE,
        "-c",
        EXAMPLE / "pyproject.toml",
        EXAMPLE / "tests",
    )
    assert done.returncode == 0, done.stdout + done.stderr


class Ran:
    def __init__(self, folder: Path, library: Path) -> None:
        self.script = folder / "train.py"
        self.script.write_text(SCRIPT)
        self.done = in_environment(
            library,
            "-m",
            "tfperfkit",
            "run",
            "--probes",
            "hello,retrace",
            "--full",
            self.script,  # our options may stand behind it, those of somebody else's probe too
            "--hello-min-share",
            "0.03",
            "--run-dir",
            folder / "run",
            "--json",
            folder / "report.json",
            "--output",
            folder / "report.txt",
        )
        assert self.done.returncode == 0, self.done.stderr
        self.report: dict[str, Any] = json.loads((folder / "report.json").read_text())
        self.manifest: dict[str, Any] = json.loads((folder / "run" / "run.json").read_text())
        self.console = (folder / "report.txt").read_text()
        self.row = next(row for row in self.report["probes"] if row["name"] == "hello")


@pytest.fixture(scope="module")
def ran(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed here")
    return Ran(tmp_path_factory.mktemp("hello"), library)


def test_script_runs_as_without_it(ran: Ran) -> None:
    assert ran.done.stdout.startswith("loss ") and ran.done.stdout.count("\n") == 1


def test_its_row_stands_beside_that_of_a_first_party_probe(ran: Ran) -> None:
    assert [(row["name"], row["status"], row["reason"]) for row in ran.report["probes"]] == [
        ("hello", "ok", None),
        ("retrace", "ok", None),
    ]
    assert ran.report["steps"]["count"] == 12


def test_json_has_its_data_and_table(ran: Ran) -> None:
    data = ran.row["data"]
    full = data["generations"][2]
    assert (full["generation"], full["per_step"] >= 1) == (2, True)
    assert full["collections"] >= data["steps"] >= 1
    assert data["collections"] >= 12
    (table,) = ran.row["tables"]
    assert [column["name"] for column in table["columns"]][:2] == ["generation", "collections"]
    assert table["rows"][2][1] == full["collections"]


def test_its_finding_names_the_line(ran: Ran) -> None:
    (finding,) = [finding for finding in ran.report["findings"] if finding["code"] == "HEL001"]
    line = SCRIPT.splitlines().index("        gc.collect()") + 1
    assert finding["where"] == [{"file": str(ran.script), "line": line, "function": "train"}]
    assert "Take the call of gc.collect() out of the loop" in finding["advice"]


def test_its_rule_is_found_by_its_entry_point_and_told_as_a_remark(ran: Ran) -> None:
    (finding,) = [finding for finding in ran.report["findings"] if finding["code"] == "HEL002"]
    line = SCRIPT.splitlines().index("        gc.collect()") + 1
    assert [(place["file"], place["line"]) for place in finding["where"]] == [(str(ran.script), line)]
    assert {item["window"] for item in finding["evidence"]} <= {"baseline", "run"}
    assert re.search(r"HEL002 +Full collections by hand take the place of Python's cheap ones", ran.console)
    assert (EXAMPLE / "probe_hello" / "pages" / "HEL002.md").is_file()


def test_its_option_is_in_the_help_and_reaches_it(ran: Ran, library: Path, tmp_path: Path) -> None:
    assert ran.manifest["options"]["hello"] == {"min_share": 0.03}
    help_text = in_environment(library, "-m", "tfperfkit", "run", "--help-all").stdout
    assert "--hello-min-share SHARE" in help_text.partition("Options of the probe hello:\n")[2]
    command = ["-m", "tfperfkit", "report", ran.script.parent / "run", "--json", "-"]
    (tmp_path / "pyproject.toml").write_text("[tool.tfperf.hello]\nmin_share = 1.0\n")  # is for runs to come
    told = json.loads(in_environment(library, *command, cwd=tmp_path).stdout)
    assert "HEL001" in {finding["code"] for finding in told["findings"]}
    silent = json.loads(in_environment(library, *command, "--hello-min-share", "1.0").stdout)
    assert "HEL001" not in {finding["code"] for finding in silent["findings"]}


def test_a_value_that_is_none_is_refused_before_the_script_starts(library: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('ran')\n")
    (tmp_path / "pyproject.toml").write_text("[tool.tfperf.hello]\nmin_share = 'much'\n")
    done = in_environment(library, "-m", "tfperfkit", "run", "train.py", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "min_share in [tool.tfperf.hello]: takes a number from 0 up, not 'much'" in done.stderr


def test_console_shows_its_section_table_and_finding(ran: Ran) -> None:
    assert re.search(r"── hello ─", ran.console)
    assert "Garbage collections inside the training steps" in ran.console
    assert re.search(r"2 \(full\) +\d+", ran.console)
    assert re.search(r"HIGH +Full garbage collections run inside the training steps +HEL001", ran.console)
    assert re.search(r"full collections \d+ ", ran.console)  # a count, not 10.0


# --- the manual -------------------------------------------------------------------------------------------------------


def blocks() -> list[tuple[str, bool, str]]:
    """(file, whether it is a part only, text) of each block of the two manuals that names a file of the example."""
    text = MANUAL.read_text() + RULES.read_text()
    found = re.findall(r"^```\w+ (\S+)( \(part\))?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [
        (name, bool(part), text)
        for name, part, text in found
        if (EXAMPLE / name).is_file() or not (ROOT / name).is_file()
    ]


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def test_manual_makes_the_example_from_nothing() -> None:
    """The blocks of each file, one after the other, are the file."""
    made: dict[str, list[str]] = {}
    for name, part, text in blocks():
        if not part:
            made.setdefault(name, []).extend(lines(text))
    modules = {str(path.relative_to(EXAMPLE)) for path in (EXAMPLE / "probe_hello").glob("*.py")}
    assert set(made) == {"pyproject.toml", *modules}
    for name, text in made.items():
        assert text == lines((EXAMPLE / name).read_text()), name


def test_manual_quotes_the_tests_as_they_are() -> None:
    parts = [(name, text) for name, part, text in blocks() if part]
    assert len(parts) >= 5
    for name, text in parts:
        assert text.strip("\n") in (EXAMPLE / name).read_text(), text


def test_manual_names_every_unit_and_attribute() -> None:
    """The tables of the manual are those of the code."""
    from typing import get_args

    from tfperfkit.model import Unit
    from tfperfkit.probe import Probe

    manual = MANUAL.read_text()
    units = manual.partition("| Unit |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([a-z]+)`", "".join(row.split("|")[1] for row in units.splitlines()[2:]))) == set(
        get_args(Unit)
    )
    attributes = manual.partition("| Attribute |")[2].partition("\n\n")[0]
    named = {row.split("|")[1].strip(" `") for row in attributes.splitlines()[2:]}
    assert named == set(Probe.__annotations__)


def test_manual_shows_the_commands_that_there_are() -> None:
    commands = MANUAL.read_text().partition("```console\n")[2].partition("```")[0].splitlines()
    assert f"pip install ./{EXAMPLE.relative_to(ROOT)}" in commands
    assert "tfperf list probes" in commands
