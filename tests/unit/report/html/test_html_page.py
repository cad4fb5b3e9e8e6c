"""The HTML page as text: its content, the order, and that nothing of a script's can act."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest

from tfperfkit.gain import AtLeast, Range, UpTo
from tfperfkit.model import (
    REPORT_SCHEMA,
    Column,
    Finding,
    LineTime,
    Measured,
    Measurement,
    Outlier,
    Overhead,
    ProbeOutcome,
    Report,
    RunAccount,
    RunInfo,
    SourceSpan,
    StepAccount,
    StepSummary,
    Table,
    WarmUp,
    WindowSummary,
    Work,
)
from tfperfkit.records.conclusion import Conclusion
from tfperfkit.records.pictures import (
    Album,
    Bar,
    Entry,
    Flow,
    Happening,
    Ledger,
    Line,
    LineHeat,
    Node,
    Phase,
    Series,
    Stage,
    Start,
    Timeline,
    Tree,
)
from tfperfkit.report.html.cards import cards
from tfperfkit.report.html.render import page
from tfperfkit.report.html.source import Sources
from tfperfkit.report.html.widths import Rules
from tfperfkit.report.json import encode

FILE = "/project/train.py"
BAD = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m{{ 7 * 7 }}"


def finding(**fields: Any) -> Finding:
    made: dict[str, Any] = {
        "code": "INP002",
        "family": "input",
        "title": "data.npz is loaded again at every step",
        "severity": "high",
        "share_of_step": 0.77,
        "gain": Range(3.5, 4.3, 5.3),
        "where": (SourceSpan(FILE, 4, "train"),),
        "evidence": (Measurement("opens per step", 2.0, "count", "run"),),
        "advice": "Load data.npz once.",
        "share_of_run": 0.6,
    }
    return Finding(**(made | fields))


def report(**fields: Any) -> Report:
    text = "in the script's folder"
    album = Album(
        timeline=Timeline(
            bars=(Bar(1, 1, 9.0, 9.0, 9.0, "warmup"), Bar(2, 2, 4.0, 5.0, 6.0, "clean")),
            happenings=(Happening("gc", 2, 3.0),),
        ),
        start=Start(
            phases=(Phase("importing TensorFlow", 0.0, 2.0), Phase("tracing", 2.0, 3.0)),
            steps=(Phase("before the steps", 0.0, 2.5), Phase("step 1", 2.5, 3.0)),
        ),
        pictures=(
            Tree(
                key="flame",
                title="Lines",
                unit="ms",
                nodes=(Node(-1, "all", 5.0), Node(0, "train", 4.0, "own", FILE, 4, text)),
                kinds={"own": "your Python"},
            ),
            Series(
                key="memory",
                title="Memory",
                x_label="seconds",
                x=(0.0, 1.0),
                lines=(Line(label="rss", unit="bytes", values=(1.0, None)),),
            ),
            Flow(
                key="pipeline-1",
                title="Pipeline",
                stages=(Stage(name="Map", ms=7.1, share=0.9, marked=True, where=SourceSpan(FILE, 3)),),
                end="the step",
            ),
            Ledger(
                key="traces",
                title="Traces",
                entries=(Entry(lane="step", step=3, ms=200.0, kind="retrace", text="rate: 1 → 2", marked=True),),
            ),
        ),
        sources={FILE: ("import numpy", "", "def train():", "    data = load()", "    return data")},
        heat=(LineHeat(FILE, 4, 3.5, 0.0, 0.0, 0.0),),
        part_lines={"python": ((SourceSpan(FILE, 4, "train"), 3.5),)},
    )
    made: dict[str, Any] = {
        "schema": REPORT_SCHEMA,
        "run": RunInfo(
            argv=("train.py",),
            exit_code=0,
            status="finished",
            wall_s=12.0,
            folder="/project",
            machine={"peak_rss_bytes": 2**30},
        ),
        "probes": (
            ProbeOutcome(
                name="input",
                status="ok",
                summary="two",
                tables=(
                    Table(
                        title="Files",
                        columns=(Column("file"), Column("size", "bytes")),
                        rows=(("a", 2048), ("b", None)),
                    ),
                ),
            ),
        ),
        "steps": StepSummary(
            count=40,
            source="custom",
            warmup=2,
            clean=30,
            median_ms=5.0,
            mean_ms=5.2,
            p90_ms=6.0,
            breakdown_ms={"python": 4.0, "graph": 1.2},
            breakdown_window="samples",
            warm_up=WarmUp(total_s=3.0, parts_s={"importing TensorFlow": 2.0, "tracing": 1.0}),
            account=StepAccount(
                steps=30,
                mean_ms=5.2,
                ordinary_ms=5.0,
                outliers=(Outlier(step=9, ms=20.0, excess_ms=15.0, cause="tracing"),),
            ),
        ),
        "findings": (finding(), finding(code="SYN001", severity="info", title="Values are read")),
        "overhead": Overhead(baseline_ratio=1.01, notes=("Other programs kept the processors busy.",)),
        "windows": (WindowSummary(name="lines", first_step=5, steps=2),),
        "headline": "First: data.npz is loaded again at every step (train.py:4).",
        "run_account": RunAccount(
            total_s=12.0,
            parts_s={"training": 10.0, "imports": 2.0},
            lines={"training": (LineTime(SourceSpan(FILE, 4), 9.0),)},
        ),
        "album": album,
    }
    return Report(**(made | fields))


def data_of(html: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])


class Elements(HTMLParser):
    """Names of elements, attributes, and the text outside of styles and scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.texts.append(data)


def test_first_stands_what_to_do() -> None:
    html = page(
        report(), lambda code: "# INP002 · A file is reloaded\n\n## Use instead\n\n```python\nbefore\nafter\n```\n"
    )
    order = [
        html.index(words)
        for words in (
            "</span> data.npz is loaded again at every step</h1>",
            "<strong>Change</strong> Load data.npz once.",
            "predicted</p>",
            "step 4.3x faster (3.5x-5.3x)",
            "1 finding<",
            "opens per step",
            "Steps over the run",
            "What each probe recorded",
        )
    ]
    assert order == sorted(order)
    assert "Other programs kept the processors busy." in html
    assert "before\nafter" in html
    assert "3.5x to 5.3x expected" in html
    assert 'id="INP002"' in html and 'id="SYN001"' in html


def test_an_account_opens_into_its_lines() -> None:
    html = page(report())
    account = html[html.index('id="account-step"') :].partition("</details>")[0]
    assert "train.py:4 (train)" in account and "data = load()" in account and "stack samples" in account
    run = html[html.index('id="account-run"') :].partition("</details>")[0]
    assert "9.00 s" in run and "training" in run
    assert 'id="account-start"' in html


def test_the_time_of_one_call_is_no_mean() -> None:
    steps = StepSummary(count=0, source="none", breakdown_ms={"graph": 9_000.0}, mean_ms=9_000.0)
    call = Work(kind="call", where=SourceSpan(FILE, 4), seconds=9.0, share_of_run=0.7, steps=steps)
    html = page(report(work=(call,)))
    account = html[html.index('id="account-work-1"') :].partition("</details>")[0]
    assert "9,000 ms" in account and "mean" not in account


def test_the_start_is_a_line_of_time() -> None:
    html = page(report())
    start = html[html.index('id="account-start"') :].partition("</details>")[0]
    assert "in order of time" in start and "before the steps <span" in start
    assert "at 0 s importing TensorFlow for 2.00 s, at 2.00 s tracing for 1.00 s" in start
    assert start.index("importing TensorFlow 2.00 s</span>") < start.index("tracing 1.00 s</span>")


def test_pictures_come_as_data_and_as_words() -> None:
    html = page(report())
    data = data_of(html)
    assert data["timeline"]["bars"][1] == [2, 2, 4.0, 5.0, 6.0, "clean"]
    assert data["timeline"]["outliers"] == [[9, 20.0, "tracing"]]
    assert data["trees"][0]["nodes"][1][:6] == [0, "train", 4.0, "own", 0, 4]
    assert data["series"][0]["lines"][0]["values"] == [1.0, None]
    assert "sets the pace" in html and "rate: 1 → 2" in html


def test_places_are_short_and_the_cost_stands_beside_the_line() -> None:
    html = page(report())
    assert "<code>train.py:4</code>" in html and "/project/train.py" not in html
    row = re.search(r'<tr class="here">(.*?)</tr>', html)
    assert row and "3.50 ms" in row[1] and "data = load()" in row[1]


def test_several_findings_of_one_code_have_addresses_of_their_own() -> None:
    html = page(report(findings=(finding(), finding(), finding())))
    assert [f'id="{anchor}"' in html for anchor in ("INP002", "INP002-2", "INP002-3")] == [True] * 3


def test_a_measured_gain_stands_beside_the_predicted_one() -> None:
    measured = Measured(experiment="patch:INP002", keeps="results", verdict="faster", speedup=3.9, interval=(3.1, 5.0))
    html = page(report(findings=(finding(measured=measured, patch="--- a/train.py\n+++ b/train.py\n-old\n+new\n"),)))
    gain = html[html.index('aria-label="Gain"') :].partition("</aside>")[0]
    assert (
        gain.index("measured</p>") < gain.index("3.9x faster") < gain.index("predicted</p>") < gain.index("4.3x faster")
    )
    assert "<strong>Measured:</strong> 3.9x faster · 95 %: 3.10x to 5.00x" in html
    assert "and run in a trial" in html
    assert '<span class="minus">-old' in html and '<span class="plus">+new' in html and "<span>+++ b/" in html


def test_notes_are_counted_as_the_console_and_json_count_them() -> None:
    both = report(findings=(finding(), finding(code="STP003", severity="high", gain=UpTo(3.0))))
    html = page(both, lambda code: "")
    assert "Notes: no predicted gain" in html and html.index("Notes: no predicted gain") < html.rindex("STP003")
    assert [each["note"] for each in json.loads(encode(both))["findings"]] == [False, True]


def test_outside_of_training_steps_nothing_was_measured_in_clean_steps() -> None:
    evidence = (Measurement("samples", 12, "count", "baseline"),)
    assert "clean steps" in page(report(findings=(finding(evidence=evidence),)), lambda code: "")
    of_loop = finding(evidence=evidence, work="infer.py:40", work_kind="loop")
    assert "the loop" in page(report(findings=(of_loop,)), lambda code: "")
    assert cards(report(findings=(of_loop,)), Sources(report()), Rules())[0][0]["evidence"] == [
        {"name": "samples", "value": "12", "window": "the loop"}
    ]


def test_what_bounds_a_step_stands_below_the_headline_not_in_it() -> None:
    said = Conclusion(verdict="No cause found", why="90 % of a step is computing", limit="It reaches 212 GFLOP/s.")
    html = page(report(findings=(), headline=said.headline, conclusion=said), lambda code: "")
    assert heading(html) == "○ No cause found" and 'class="lead good"' not in html
    assert '<p class="why">90 % of a step is computing</p>' in html
    assert "<dt>speed</dt><dd>It reaches 212 GFLOP/s.</dd>" in html


def heading(html: str) -> str:
    """Return the text of the page's first heading."""
    found = re.search(r"<h1>(.*?)</h1>", html, re.DOTALL)
    assert found
    return re.sub("<[^>]*>", "", found[1])


def test_the_heading_is_the_title_of_the_first_finding_in_20_words() -> None:
    html = page(report(findings=(finding(title="The step runs as 9 operations"),)))
    assert heading(html) == "▲ The step runs as 9 operations"
    long = page(report(findings=(finding(title=" ".join(["word"] * 60)),)))
    assert len(heading(long).split()) == 22  # a sign, 20 words, an ellipsis


def test_the_first_screen_has_the_line_its_commands_and_further_findings() -> None:
    two = (
        finding(patch="--- a/train.py\n+++ b/train.py\n-old\n+new\n"),
        finding(code="EAG001", title="Eager step", saves_s=(2.0, 3.0)),
    )
    run = RunInfo(
        argv=("train.py",),
        exit_code=0,
        status="finished",
        wall_s=12.0,
        folder="/project",
        handle="train-1",
        directory="/runs/train-1",
    )
    html = page(report(findings=two, run=run, source={f"{FILE}:4": "    data = load()"}))
    fold = html[html.index('id="top"') :].partition("</section>")[0]
    assert '<code class="line">data = load()</code>' in fold and "77 % of the step" in fold
    assert 'data-copy="tfperf try train-1 --only INP002"' in fold and 'data-copy-from="patch-INP002"' in fold
    assert 'id="patch-INP002"' in html
    assert re.search(r"<b>2</b> <a href=\"#EAG001\">Eager step</a>.*predicted: saves 2.0-3.0 s", fold, re.DOTALL)
    assert "<polyline" not in fold  # two steps make no line
    table = html[html.index('aria-label="All findings"') :].partition("</table>")[0]
    assert re.findall(r'<a href="#(\w+)">', table) == ["INP002", "EAG001"] and "saves 2.0-3.0 s" in table
    assert "All findings" not in page(report())  # one finding and a note


def test_the_steps_are_a_line_in_the_first_screen() -> None:
    bars = tuple(Bar(step, 1, 4.0, 4.0 + step % 2, 6.0, "clean") for step in range(1, 600))
    html = page(report(album=Album(timeline=Timeline(bars=bars))))
    points = re.search(r'<polyline points="([^"]*)"', html)
    assert points and 60 <= len(points[1].split()) <= 120
    assert "time of each step: 4.00 ms to 5.00 ms" in html


def test_the_page_of_a_code_is_embedded_once_and_its_code_leads_there() -> None:
    markdown = (
        "# INP002 · Title\n\nSee [RET001](RET001.md), [TensorFlow](https://tensorflow.org) and `np`.\n\n"
        "![p](https://x.y/p.png) <b>bold</b>\n"
    )
    html = page(report(findings=(finding(), finding())), lambda code: markdown)
    assert html.count('id="explain-INP002"') == 1 and html.count('href="#explain-INP002"') >= 3
    text = html[html.index('id="explain-INP002"') :].partition("</details>")[0]
    assert "See RET001, " in text and '<a href="https://tensorflow.org" rel="noreferrer">' in text
    assert "<img" not in text and "<b>" not in text and "&lt;b&gt;bold" in text
    assert 'href="#explain-INP002"' not in page(report())


def test_a_run_without_steps_says_why() -> None:
    steps = StepSummary(count=0, source="none", note="No training step was seen. Name it with --steps-from FUNCTION.")
    html = page(report(steps=steps, findings=(), headline="", album=None, overhead=Overhead()))
    assert "<dd>No training step was seen. Name it with --steps-from FUNCTION.</dd>" in html
    assert html.count("No training step was seen") == 1 and 'class="warn"' not in html
    evidence = (Measurement("samples", 12, "count", "baseline"),)
    unstepped = page(report(steps=steps, findings=(finding(evidence=evidence),), album=None, overhead=Overhead()))
    assert "clean steps" not in " ".join(Elements(unstepped).texts)


def test_a_lower_bound_is_one_wherever_it_stands() -> None:
    html = page(report(findings=(finding(gain=AtLeast(8.1)),)))
    assert "step at least 8.1x faster</p>" in html and "<b>at least 8.1x faster</b>" in html


def test_without_pictures_the_words_stand() -> None:
    html = page(report(album=None))
    assert "Steps over the run" not in html and data_of(html)["trees"] == []
    assert "Load data.npz once." in html


def test_an_empty_report_is_a_page() -> None:
    run = RunInfo(argv=(), exit_code=None, status="unknown")
    empty = Report(
        schema=1, run=run, probes=(), steps=StepSummary(count=0, source="none"), findings=(), overhead=Overhead()
    )
    html = page(empty)
    assert heading(html) == "○ No cause found" and Elements(html).names.count("h1") == 1


def test_the_policy_names_the_hash_of_all_that_runs_and_nothing_else() -> None:
    html = page(report())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy
    rules = policy[1].replace("&#39;", "'")
    assert rules.startswith("default-src 'none'; base-uri 'none'; form-action 'none'; ")
    assert "unsafe" not in rules and "http" not in rules
    for element in ("style", "script"):
        for content in re.findall(rf"<{element}>(.*?)</{element}>", html, re.DOTALL):
            assert base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() in rules
    names = dict(Elements(html).attributes)
    assert not any(name.startswith("on") for name in names)
    assert "style" not in names and "src" not in names  # what the policy would refuse


@pytest.mark.parametrize("part", ["findings", "probes", "album", "run", "steps", "run_account", "overhead", "windows"])
def test_text_of_others_is_text(part: str) -> None:
    whole = report()
    raw = msgspec.to_builtins(getattr(whole, part))
    changed = _texts(raw)
    made = msgspec.convert(changed, type=_type_of(part), strict=False)
    html = page(msgspec.structs.replace(whole, **{part: made}), lambda code: BAD)
    clean = page(whole, lambda code: "x")
    assert Elements(html).names.count("script") == Elements(clean).names.count("script")
    assert "img" not in Elements(html).names
    assert "\u202e" not in html and "\x1b" not in html and "49" not in "".join(Elements(html).texts).split()
    assert not any(name == "onerror" for name, _ in Elements(html).attributes)
    data_of(html)


def _type_of(part: str) -> Any:
    field = next(field for field in msgspec.structs.fields(Report) if field.name == part)
    return field.type


#: Texts that are one of a few words, by the model's types.
_KINDS = ("cause", "type", "basis", "family", "severity", "unit", "work_kind")
_WORDS = frozenset(
    {
        "step",
        "turn",
        "run",
        "risk",
        "high",
        "info",
        "ok",
        "input",
        "custom",
        "finished",
        "text",
        "bytes",
        "Tree",
        "Series",
        "Flow",
        "Ledger",
        "cut",
        "skipped",
    }
)


def _texts(value: Any, key: str = "") -> Any:
    if isinstance(value, str):
        return value if value in _WORDS or key in _KINDS else BAD
    if isinstance(value, dict):
        return {name: item if name == "remedy" else _texts(item, str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_texts(item, key) for item in value]
    return value
