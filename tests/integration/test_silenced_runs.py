"""Silenced findings in real runs: comments, pyproject.toml, the report again, and mistakes before the script starts."""

from __future__ import annotations

import json
from typing import Any

from tfperf_runner import Tfperf

WARM = True

SCRIPT = """
import tensorflow as tf
v = tf.Variable(tf.ones([64, 64]))
def step(x):
    for _ in range(50):
        v.assign(v * 0.5 + tf.matmul(x, v) * 1e-4)
for n in range(150):
    step(tf.ones([64, 64]))
"""
RUN = ("run", "--steps-from", "step", "--run-dir", "r", "--json", "r.json", "train.py")


def report(tfperf: Tfperf, file: str = "r.json") -> dict[str, Any]:
    return dict(json.loads((tfperf.folder / file).read_text()))


def test_a_comment_and_pyproject(tfperf: Tfperf) -> None:
    tfperf.script(SCRIPT)
    assert tfperf(*RUN).returncode == 0
    found = report(tfperf)["findings"][0]
    code, line = found["code"], found["where"][0]["line"]
    # The report of the same run again obeys pyproject.toml of today.
    (tfperf.folder / "pyproject.toml").write_text(f'[tool.tfperf]\nignore = ["{code}"]\n')
    done = tfperf("report", "r", "--json", "again.json")
    assert done.returncode == 0 and f"{code} (ignore in pyproject.toml)" in " ".join(done.stdout.split())
    assert [item["code"] for item in report(tfperf, "again.json")["silenced"]] == [code]
    assert code not in [item["code"] for item in report(tfperf, "again.json")["findings"]]
    # An unknown code is a mistake of every command that would obey it.
    (tfperf.folder / "pyproject.toml").write_text(
        '[tool.tfperf]\nignore = ["EAG0008"]\n[tool.tfperf.budget]\nretraces = 1\n'
    )
    for words in (("report", "r"), ("run", "train.py"), ("check", "train.py")):
        assert "no rule has the code 'EAG0008'; did you mean EAG008?" in tfperf.refuses(*words)
    (tfperf.folder / "pyproject.toml").write_text("")
    lines = SCRIPT.splitlines()
    lines[line - 1] += f"  # tfperf: ignore[{code}]"
    tfperf.script("\n".join(lines))
    assert tfperf(*(word.replace("r", "s", 1) if word in ("r", "r.json") else word for word in RUN)).returncode == 0
    (silenced,) = [item for item in report(tfperf, "s.json")["silenced"] if item["code"] == code]
    assert silenced["silenced"] == f"comment at train.py:{line}"


def test_a_comment_with_an_unknown_code_is_said_before_the_script_runs(tfperf: Tfperf) -> None:
    tfperf.script("print('ran')  # tfperf: ignore[EAG0008]\n")
    said = tfperf.refuses("run", "train.py")
    assert "train.py:1: tfperf: ignore[EAG0008]: no rule has the code 'EAG0008'; did you mean EAG008?" in said
