"""The documents speak of what there is: commands, options, codes, links, code that compiles."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest

from tfperfkit.analysis.step_account import PARTS
from tfperfkit.cli import cli
from tfperfkit.launch.arguments import split
from tfperfkit.report.forms import CHOICES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *(page for folder in ("docs", "examples", "benchmarks/results") for page in sorted((ROOT / folder).rglob("*.md"))),
]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, *languages: str) -> Iterator[str]:
    for language, text in _FENCE.findall(page.read_text(encoding="utf-8")):
        if language in languages:
            yield text


def commands() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        lines = [line.strip() for text in blocks(page, "bash", "sh", "console") for line in text.splitlines()]
        lines += re.findall(r"`(tfperf [^`]+)`", page.read_text(encoding="utf-8"))
        for line in lines:
            line = line.removeprefix("$ ").partition(" #")[0].strip()
            if not line.startswith("tfperf ") or len(line.split()) < 3 and line.split()[1] not in ("list", "doctor"):
                continue  # the command's name in a sentence
            if not re.search(r"[A-Z]{3,}\b(?!\.)|…|\.\.\.|\[", line):
                found.append((page.name, line))
    return sorted(set(found))


def test_there_are_commands_to_check() -> None:
    assert len(commands()) >= 8


@pytest.mark.parametrize(("page", "line"), commands())
def test_every_command_of_the_documents_is_one_of_ours(page: str, line: str) -> None:
    words = shlex.split(line)[1:]
    if words[0].startswith("-"):
        assert words[0] in ("--help", "--version", "-h"), (page, line)
        return
    command = cli.commands[words[0]]
    if words[0] in ("run", "try"):
        params = command.get_params(click.Context(command))  # with those of the probes
        options = {name: not getattr(param, "is_flag", False) for param in params for name in param.opts}
        ours = words[1:]
        if any(not word.startswith("-") for word in ours):
            parts = split(ours, options)  # raises UsageError
            assert parts is not None
            ours = list(parts.ours)
        assert {word.partition("=")[0] for word in ours if word.startswith("--")} <= set(options)
    else:
        command.make_context(words[0], words[1:], resilient_parsing=False)


def readme_commands() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = [line for language, block in _FENCE.findall(text) if language == "bash" for line in block.splitlines()]
    return [command for line in lines if (command := line.partition(" #")[0].strip())]


def test_the_readme_has_commands_of_each_kind() -> None:
    assert {shlex.split(command)[0] for command in readme_commands()} == {"make", "python", "tfperf"}


@pytest.mark.parametrize("command", readme_commands())
def test_every_command_of_the_readme_works_from_a_clone(command: str) -> None:
    """Short ones are run; of the long ones everything that they name is resolved."""
    program, *words = shlex.split(command)
    if program == "make":
        done = subprocess.run(["make", "--dry-run", *words], cwd=ROOT, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
    elif program == "python":
        assert words[:3] == ["-m", "pip", "install"]
        (what,) = words[3:]
        name, _, extras = what.partition("[")
        assert (ROOT / name / "pyproject.toml").is_file(), "only the clone's content can be installed"
        known = metadata.metadata("tfperfkit").get_all("Provides-Extra") or []
        assert set(filter(None, extras.rstrip("]").split(","))) <= set(known)
    elif words[0] == "run":
        options = {name: not getattr(p, "is_flag", False) for p in cli.commands["run"].params for name in p.opts}
        parts = split(words[1:], options)
        assert parts is not None
        script = [sys.executable, parts.target]
        asked = subprocess.run([*script, "--help"], cwd=ROOT, capture_output=True, text=True, timeout=200, check=True)
        assert {word for word in parts.script_arguments if word.startswith("--")} <= set(asked.stdout.split())
    else:
        done = subprocess.run([sys.executable, "-m", "tfperfkit", *words], cwd=ROOT, capture_output=True, timeout=200)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_in_the_documents_compiles(page: Path) -> None:
    for text in blocks(page, "python"):
        ast.parse(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"`[^`]*`|^    .*$", "", _FENCE.sub("", page.read_text(encoding="utf-8")), flags=re.MULTILINE)
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", prose):
        if "://" not in target:
            assert (page.parent / target).exists(), (page.name, target)


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "plugins").rglob("*.py"))
    used = set(re.findall(r'"([A-Z]{3}\d{3})"', sources))
    pages = {path.stem for path in (ROOT / "docs" / "findings").glob("*.md")}
    assert [f"{code} has no docs/findings/{code}.md" for code in sorted(used - pages)] == []
    assert [f"nothing reports {code}, which docs/findings has" for code in sorted(pages - used)] == []


def run_examples(*codes: str) -> None:
    """Run what is before and after on pages of findings, each in a process forked from one that imported TensorFlow."""
    runner = ROOT / "tests" / "builders" / "page_examples.py"
    done = subprocess.run([sys.executable, str(runner), *codes], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == ""


@pytest.mark.timeout(1800)
def test_examples_of_some_findings_run() -> None:
    run_examples(*(page.stem for page in sorted((ROOT / "docs" / "findings").glob("*.md"))[::40]))


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_examples_of_all_findings_run() -> None:
    run_examples()


def test_every_probe_has_a_page() -> None:
    ours = {p.name for p in entry_points(group="tfperfkit.probes") if p.value.startswith("tfperfkit_probes.")}
    pages = {path.stem for path in (ROOT / "docs" / "probes").glob("*.md")}
    assert {"lines", "retrace", "tfprof"} <= ours
    assert ours <= pages


def test_every_option_of_run_is_documented() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    run = cli.commands["run"]
    missing = [
        name
        for param in run.get_params(click.Context(run))
        if isinstance(param, click.Option)
        for name in param.opts
        if name.startswith("--") and name not in ("--help",) and name not in text
    ]
    assert missing == []


def test_the_readme_names_every_probe() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = {page.stem for page in (ROOT / "docs" / "probes").glob("*.md")}
    assert pages and {name for name in pages if f"(docs/probes/{name}.md)" not in readme} == set()


@pytest.mark.parametrize("form", CHOICES)
def test_every_form_of_a_report_is_documented(form: str) -> None:
    assert f"`{form}`" in (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


_REPORTED = """clean; window; breakdown; stack samples; self time; Grappler; iteration of the loop; not known; on
no line; outside of this function; warm-up steps; compiling and first runs; startup;
outlier steps; between steps; idle; costs; gain not predicted; whole run; hits; ms/hit;
forward; backward; update; cut; skipped; failed; remarks; again; Also explains; windows; cost;
kept in; p90; examples/s; building and setting up"""


@pytest.mark.parametrize("word", [" ".join(word.split()) for word in _REPORTED.split(";")])
def test_reading_a_report_explains_what_reports_say(word: str) -> None:
    text = " ".join((ROOT / "docs" / "reading-a-report.md").read_text(encoding="utf-8").lower().split())
    assert word.lower() in text


def test_reading_a_report_names_every_part_of_a_step() -> None:
    text = (ROOT / "docs" / "reading-a-report.md").read_text(encoding="utf-8").lower()
    names = {"eager_ops": "eager ops", "dispatch": "tensorflow's python", "host_sync": "reading values"}
    names |= {"gc": "garbage collection", "collectives": "communication", "evaluate": "predict and evaluate"}
    assert [part for part in PARTS if names.get(part, part) not in text] == []


def test_the_site_has_every_page_once() -> None:
    """mkdocs checks the same with all anchors (``make site``), but tests do not need it."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2].partition("\nplugins:")[0]
    entries = re.findall(r"[-:] (\S+(?:\.md|/))$", text, re.MULTILINE)
    listed: list[Path] = []
    for entry in entries:
        found = sorted((ROOT / "docs" / entry).glob("*.md")) if entry.endswith("/") else [ROOT / "docs" / entry]
        assert found and all(page.is_file() for page in found), entry
        listed += found
    unlisted = set((ROOT / "docs" / "design").glob("*.md"))
    assert unlisted and sorted(listed) == sorted(set((ROOT / "docs").rglob("*.md")) - unlisted)


def test_the_index_of_design_notes_has_every_note() -> None:
    index = (ROOT / "docs" / "design-notes.md").read_text(encoding="utf-8")
    notes = {note.name for note in (ROOT / "docs" / "design").glob("*.md")}
    assert set(re.findall(r"\(design/([^)#]+)\)", index)) == notes
    titles = "".join((ROOT / "docs" / "design" / name).read_text(encoding="utf-8") for name in notes)
    numbers = [int(number) for number in re.findall(r"^## (\d+)\. ", titles, re.MULTILINE)]
    assert sorted(numbers) == sorted(map(int, re.findall(r"\[(\d+)\]\(design/", index)))


def test_the_site_asks_no_other_host() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "\n  font: false\n" in text and "\n  - offline\n" in text and "://" not in text


SYMPTOMS = sorted((ROOT / "docs" / "symptoms").glob("*.md"))


@pytest.mark.parametrize("page", SYMPTOMS, ids=lambda page: page.name)
def test_a_symptom_leads_to_findings_and_to_a_pair_that_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(set(re.findall(r"\(\.\./findings/([A-Z]{3}\d{3})\.md\)", text))) >= 5
    scripts = set(re.findall(r"^tfperf run (tests/faults/scripts/\S+\.py)", text, re.MULTILINE))
    assert scripts and all((ROOT / script).is_file() for script in scripts)
    assert all(script.endswith("_fixed.py") or script.replace(".py", "_fixed.py") in scripts for script in scripts)
    assert f"(symptoms/{page.name})" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
