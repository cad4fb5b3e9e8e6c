"""``tfperf report`` in each form, and completion, as a user types them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest
from recorded_runs import unpack_recorded
from tfperf_runner import Tfperf

SCHEMA = Path(__file__).parents[2] / "docs" / "report.schema.json"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Tfperf:
    tfperf = Tfperf(tmp_path_factory.mktemp("forms"), warm=True)
    tfperf.script("")
    unpack_recorded("plain_loop_mlp", tfperf.folder / "run")
    return tfperf


def test_json_keeps_to_the_published_schema(recorded: Tfperf) -> None:
    done = recorded("report", "run", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    jsonschema.validate(json.loads(done.stdout), json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert recorded("report", "run", "--json", "-").stdout == done.stdout


@pytest.mark.parametrize(
    ("form", "begin"), [("html", "<!doctype html>"), ("markdown", "**"), ("sarif", "{"), ("text", "")]
)
def test_each_form_goes_to_stdout_or_to_a_file(recorded: Tfperf, form: str, begin: str) -> None:
    done = recorded("report", "run", "--format", form)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(begin) and done.stdout.strip()
    to_file = recorded("report", "run", "--format", form, "--output", f"report.{form}")
    assert (to_file.returncode, to_file.stdout, to_file.stderr) == (0, "", "")
    assert (recorded.folder / f"report.{form}").read_text(encoding="utf-8").startswith(begin)


def test_for_agents(recorded: Tfperf) -> None:
    done = recorded("report", "run", "--format", "agents")
    assert done.returncode == 0 and len(done.stdout.encode()) < 4000 and "findings " in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("report", "run", "--format", "xml"),
        ("report", "run", "--format", "json", "--format", "html"),
        ("report", "run", "--format", "json", "-o", "a.json", "-o", "b.json"),
        ("report", "run", "--html", "no/such/folder.html"),
        ("report", "run", "--html", "."),
        ("report", "nothing", "--html", "x.html"),
        ("run", "--html", "-", "train.py"),
        ("run", "--html", "no/such/folder.html", "train.py"),
        ("completion", "tcsh"),
    ],
)
def test_a_mistake_is_one_line(recorded: Tfperf, words: tuple[str, ...]) -> None:
    done = recorded(*words)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("tfperf: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(("shell", "position"), [("bash", "2"), ("zsh", "2"), ("fish", "--fo")])
def test_a_shell_completes_commands_and_options(recorded: Tfperf, shell: str, position: str) -> None:
    script = recorded("completion", shell).stdout
    assert f"_TFPERF_COMPLETE={shell}_complete" in script and "tfperf" in script
    asked = {"_TFPERF_COMPLETE": f"{shell}_complete", "COMP_WORDS": "tfperf report --fo", "COMP_CWORD": position}
    done = recorded("report", "--fo", env=asked)
    assert "--format" in done.stdout


@pytest.mark.parametrize(
    ("line", "offered", "not_offered"),
    [
        ("tfperf run --pro", ["plain,--probes", "plain,--profiler-service"], "Usage"),
        ("tfperf run tr", ["file,tr"], "Usage"),
        ("tfperf run train.py ", ["file,"], "Usage"),
        ("tfperf try --wi", ["plain,--with"], "Usage"),
        ("tfperf check --output ", ["file,"], "Usage"),
        ("tfperf report la", ["plain,last"], "dir,"),
        ("tfperf report no/", ["dir,no/"], "plain"),
        ("tfperf report last --html ", ["file,"], "plain"),
        ("tfperf explain eag00", ["plain,EAG001", "plain,EAG002"], "RET"),
        ("tfperf fix last RET", ["plain,RET001"], "EAG"),
    ],
)
def test_what_bash_is_offered(recorded: Tfperf, line: str, offered: list[str], not_offered: str) -> None:
    words = {"_TFPERF_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = recorded(env=words)
    assert set(offered) <= set(done.stdout.split("\n")), done.stdout
    assert not_offered not in done.stdout and done.stderr == ""


def test_bash_takes_the_script(recorded: Tfperf) -> None:
    script = recorded("completion", "bash").stdout
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, timeout=200)
    assert (done.returncode, done.stderr) == (0, "")
