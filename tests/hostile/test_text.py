"""Text from scripts and files can't command the terminal, pose as markup or break a document, wherever it comes out."""

from __future__ import annotations

import gzip
import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import survival
from apart import apart
from hypothesis import given, settings
from hypothesis import strategies as st
from warm_run import forked_tfperf

from tfperfkit.analysis.analyze import analyze
from tfperfkit.config import UsageError, resolve
from tfperfkit.report.console import render
from tfperfkit.report.json import encode
from tfperfkit.report.text import LINE_LIMIT, one_line

TEXTS = {
    "markup": "[red]r[/red] [link=http://x.org]l[/link] [/] [[ \\[x] :smile:",
    "html": "<script>alert(1)</script><img src=x onerror=y> &lt; \" '",
    "escapes": "\x1b[31m\x1b[2J\x1b]0;title\x07\x1b]8;;http://x.org\x1b\\l\x9b31m\x9d0;t\x9c\x90q\x84\x85",
    "controls": "".join(map(chr, [*range(32), *range(127, 160)])),
    "lines": "a\nb\rc\r\nd\te\x0bf\x0cg\u2028h\u2029i\x85j",
    "direction": "\u202aa\u202bb\u202cc\u202dd\u202ee\u2066f\u2067g\u2068h\u2069i\u061cj\u200ek\u200f",
    "invisible": "a\u200bb\u200cc\u200dd\u2060e\ufefff\xadg\u180eh\ufe0fi\U000e0100j\U000e0041k",
    "surrogate": "a\udc80b\ud800c\udfffd",
    "combining": "e" + "\u0301" * 300,
    "wide": "\u5b57" * 200 + "\U0001f468\u200d\U0001f469",
    "long": "n" * 100_000,
    "long line": "x/" * 50_000,
    "nothing": "",
}


def put(value: Any, text: str, replaced: Callable[[str], bool]) -> Any:
    if isinstance(value, str):
        return text if replaced(value) else value
    if isinstance(value, list):
        return [put(item, text, replaced) for item in value]
    return {key: put(item, text, replaced) for key, item in value.items()} if isinstance(value, dict) else value


def with_text(run: Path, text: str) -> None:
    """Every name that a user may choose is this text: files, functions, scopes, arguments, messages.

    Insert a text; five in each file for a long one: a stream ends at 24 MB.
    """
    text = text.encode("utf-8", "backslashreplace").decode()  # as the recording writes what is no JSON
    ours = re.compile(r"/|step|main|train|dense|sequential|kernel|bias|python|linux", re.IGNORECASE)
    for path in [*apart(run).glob("*.json"), *run.rglob("*.jsonl")]:
        lines = []
        left = 5 if len(text) > 10_000 else 1 << 30

        def chosen(value: str) -> bool:
            nonlocal left
            left -= bool(ours.search(value)) and len(value) < 500
            return left > 0 and bool(ours.search(value)) and len(value) < 500

        for line in path.read_bytes().splitlines():
            record = put(json.loads(line), text, chosen)
            if path.name == "run.json":
                record |= {"argv": [text, text], "cwd": text, "probes": [*json.loads(line)["probes"], text]}
            lines.append(json.dumps(record, ensure_ascii=False).encode())
        path.write_bytes(b"\n".join(lines) + b"\n")


@pytest.mark.parametrize("kind", TEXTS)
def test_every_name_in_a_run(kind: str, copied: Path, tmp_path: Path) -> None:
    with_text(copied, TEXTS[kind])
    report = survival.report_of(copied, tmp_path)
    assert report is not None and not survival.faults(report)
    if kind != "surrogate":
        assert json.loads(encode(report))["run"]["argv"] == [TEXTS[kind]] * 2  # the exact value
    full = io.StringIO()
    render(analyze(copied, show_all=True), file=full, width=80)
    survival.harmless(full.getvalue())
    assert len(full.getvalue()) < 2_000_000  # lines of source are shown whole
    exported = tmp_path / "x.trace.json.gz"
    if exported.exists():
        assert survival.strict(gzip.decompress(exported.read_bytes()))["traceEvents"]
        for path in tmp_path.glob("*.speedscope.json"):
            assert survival.strict(path.read_bytes())["profiles"]


def test_markup_is_shown_as_it_is(copied: Path) -> None:
    with_text(copied, TEXTS["markup"])
    page = io.StringIO()
    render(analyze(copied), file=page, width=200)
    assert TEXTS["markup"] in page.getvalue()


@settings(settings.get_profile("hostile"), max_examples=300)
@given(st.text(st.characters(), max_size=3000))
def test_one_line_is_one_line(text: str) -> None:
    for unicode in (True, False):
        line = one_line(text, unicode=unicode)
        survival.harmless(line)
        assert "\n" not in line
        assert len(line) <= 10 * LINE_LIMIT
        assert unicode or line.isascii()


# --- the command itself -------------------------------------------------------------------------------------------

ODD = "x\x1b[31m\x9b2J\u202e\n[red]<b>"


def command(folder: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TFPERF_")}
    environment |= {"TFPERF_RUNS": str(folder / "runs"), **(env or {})}
    tfperf, environment = forked_tfperf(environment)
    return subprocess.run([*tfperf, *arguments], cwd=folder, env=environment, capture_output=True, timeout=120)


def clean(data: bytes) -> str:
    text = data.decode("utf-8")
    survival.harmless(text)
    return text


def test_script_with_an_odd_name(tmp_path: Path) -> None:
    """Header, folder of the run, report, list of runs, errors."""
    (tmp_path / f"{ODD}.py").write_text("print(__import__('sys').argv)")
    done = command(tmp_path, "run", "--probes", "none", f"{ODD}.py", ODD)
    assert done.returncode == 0
    clean(done.stderr)
    assert ascii(ODD) in done.stdout.decode()  # the script sees the name as it is
    folders = [path.name for path in (tmp_path / "runs").iterdir()]
    survival.harmless_line(folders[0])
    assert folders[0].isprintable()
    for arguments in (["report", "last"], ["report", folders[0]], ["report", "last", "--json", "-"]):
        shown = command(tmp_path, *arguments)
        assert shown.returncode == 0, shown.stderr
        clean(shown.stdout)


@pytest.mark.parametrize("name", ["../../up", "/etc", "a/b", "..", "\udc80", "n" * 5000, ODD])
def test_module_with_an_odd_name(name: str, tmp_path: Path) -> None:
    """The folder of a run is called after the module: it must not lie elsewhere."""
    done = command(tmp_path, "run", "--probes", "none", "-m", name)
    clean(b"".join(line for line in done.stderr.splitlines() if b": No module named" not in line))  # that is Python's
    assert b"in <module>" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"runs"}
    assert {path.parent for path in tmp_path.rglob("run.json")} <= set((tmp_path / "runs").iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--probes", ODD, "t.py"),
        ("run", ODD),
        ("run", f"--{ODD}", "t.py"),
        ("run", "--window", f"{ODD}=1:2", "t.py"),
        ("run", "--json", f"{ODD}/x", "t.py"),
        ("run", "--run-dir", f"t.py/{ODD}", "t.py"),
        ("report", ODD),
        (ODD,),
        ("report", "n" * 100_000),
        ("trace", ODD),
        ("view", ODD),
        ("run", "--probes", "n" * 100_000, "t.py"),
        ("run", "--lines-in", ODD, "t.py"),
        ("report", ODD, "--show", ODD),
    ],
)
def test_one_harmless_line_for_a_mistake(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("open('ran', 'w')")
    done = command(tmp_path, *arguments)
    text = clean(done.stderr)
    assert (done.returncode, done.stdout, text.count("\n")) == (2, b"", 1), text
    assert text.startswith("tfperf: ") and len(text) < 2500
    assert not (tmp_path / "ran").exists()


def test_doctor_and_probes_of_an_odd_environment(tmp_path: Path) -> None:
    from tfperfkit.doctor.command import _show, check_folder

    (tmp_path / "f").write_text("")
    row = check_folder(tmp_path / "f" / ODD)
    assert row.status == "broken"
    page = io.StringIO()
    stdout, sys.stdout = sys.stdout, page
    try:
        _show(row)
    finally:
        sys.stdout = stdout
    survival.harmless(page.getvalue())
    assert page.getvalue().count("\n") == 2


def test_report_on_a_terminal(copied: Path) -> None:
    """With colours of ours, and no other escape."""
    with_text(copied, TEXTS["escapes"])
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tfperfkit", "report", str(copied), "--show", "all"],
        stdout=child,
        stderr=child,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(child)
    seen = b""
    try:
        while part := os.read(parent, 65536):
            seen += part
    except OSError:
        pass  # Linux' way to say that the other end has closed
    os.close(parent)
    assert process.wait(60) == 0
    text = seen.decode().replace("\r\n", "\n")
    assert "\x1b[" in text  # colour
    survival.harmless(re.sub(r"\x1b\[[0-9;]*m", "", text))


# --- configuration ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "[tool.tfperf]\nprobes = " + "[" * 5000 + "]" * 5000,
        "[tool.tfperf]\nprobes = " + "9" * 5000,
        "[tool.tfperf]\nprobes = 3",
        "[tool.tfperf]\nprobes = [1]",
        "[tool.tfperf]\nprobes = {a = 1}",
        "[tool.tfperf]\nprobes = inf",
        "[tool.tfperf]\nprobes = 1979-05-27",
        "[tool.tfperf]\nprobes = true",
        '[tool.tfperf]\nout = "a\\u0000b"',
        '[tool.tfperf]\n"\\u001b[31m" = 1',
        "[tool.tfperf]\nprobes = [[]]",
        "[tool.tfperf]\n" + "a." * 3000 + "b = 1",
        "[tool.tfperf",
        "[tool.tfperf]\nprobes = 'a\x1b[31m'",
        '[tool.tfperf]\n"' + "n" * 100_000 + '" = 1',
        "[tool.tfperf]\nx = 1\n[tool.tfperf]\nx = 2",
    ],
    ids=range(16),
)
def test_one_line_for_an_odd_configuration(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        resolve({}, tmp_path, {})
    survival.harmless_line(str(caught.value))


@pytest.mark.parametrize(
    "text", ["tool = 3 # tool.tfperf", "[tool]\ntfperf = 3 # tool.tfperf", "x = 1 # tool.tfperf", ""]
)
def test_configuration_that_says_nothing_to_us(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert resolve({}, tmp_path, {})["probes"].origin == "default"


@settings(settings.get_profile("hostile"), max_examples=100)
@given(st.text(max_size=60))
def test_any_configuration(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("configured")
    (folder / "pyproject.toml").write_text("[tool.tfperf]\n" + text, encoding="utf-8", errors="replace")
    try:
        resolve({}, folder, {})
    except UsageError as error:
        survival.harmless_line(str(error))


@pytest.mark.parametrize("kind", ["binary", "pipe", "folder", "zero", "loop"])
def test_configuration_that_is_no_text(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    if kind == "binary":
        path.write_bytes(b"[tool.tfperf]\n\xff\xfe")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "zero" else "pyproject.toml")
    assert resolve({}, tmp_path, {})["probes"].origin == "default"


@pytest.mark.parametrize(
    "variables",
    [
        {"TFPERF_PROBES": ODD},
        {"TFPERF_RUN_DIR": "t.py/x"},
        {"TFPERF_RUNS": "/dev/null"},
        {"TFPERF_JSON": "."},
        {"TFPERF_RUNS": "t.py"},
        {"TFPERF_OUTPUT": f"no/{ODD}"},
        {"TFPERF_PROBES": "\udcff"},
    ],
)
def test_odd_variables(variables: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("open('ran', 'w')")
    done = command(tmp_path, "run", "t.py", env=variables)
    text = clean(done.stderr)
    assert (done.returncode, text.count("\n")) == (2, 1), text
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("value", ["", "/", "/nowhere", "/dev/zero", "/etc/passwd", ODD, "..", "pipe"])
def test_somebody_elses_run_directory_in_the_environment(value: str, tmp_path: Path) -> None:
    """Our own variables are set again for the script; one that was there before is neither used nor passed on."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "t.py").write_text("import os; print([name for name in os.environ if name.startswith('TFPERF_')])")
    names = {"TFPERF_RUN_DIRECTORY": value, "TFPERF_PYTHONPATH": value, "TFPERF_PROFILE": value}
    done = command(tmp_path, "run", "--probes", "none", "t.py", env=names)
    assert (done.returncode, done.stdout) == (0, b"['TFPERF_RUNS']\n"), (done.stdout, done.stderr)


@pytest.mark.parametrize("kind", ["markup", "html", "escapes", "direction", "surrogate", "long"])
def test_every_name_in_a_page(kind: str, copied: Path) -> None:
    """The HTML report of a run whose names are all hostile: no element that the template has not, nothing invisible."""
    from html.parser import HTMLParser

    from tfperfkit.report.html.render import page

    class Names(HTMLParser):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.tags: set[str] = set()
            self.scripts = 0
            self.attributes: set[str] = set()
            self.feed(text)

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.tags.add(tag)
            self.scripts += tag == "script"
            self.attributes |= {name for name, _ in attrs}

    before = Names(page(analyze(copied, pictures=True)))
    with_text(copied, TEXTS[kind])
    made = page(analyze(copied, pictures=True))
    assert len(made.encode("utf-8", "backslashreplace")) < 3_000_000
    after = Names(made)
    assert after.tags <= before.tags | {"th", "td", "table"}
    assert after.scripts == before.scripts
    assert not {name for name in after.attributes if name.startswith("on") or name in ("style", "src", "srcdoc")}
    text = re.sub(r"<(style|script)[^>]*>.*?</\1>", "", made, flags=re.DOTALL)
    survival.harmless(text)
