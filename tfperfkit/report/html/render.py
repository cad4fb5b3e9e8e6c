"""The page: templates, style and scripts put into one file that asks nobody for anything.

Its Content-Security-Policy names the hashes of its own styles and scripts: whatever else is in the file runs nothing,
loads nothing and sends nothing.
"""

from __future__ import annotations

import base64
import hashlib
import math
import shlex
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit.model import Report
from tfperfkit.records.plural import plural
from tfperfkit.report import numbers
from tfperfkit.report.html.accounts import accounts
from tfperfkit.report.html.cards import cards, list_anchors
from tfperfkit.report.html.colors import write_style
from tfperfkit.report.html.drawn import drawn, flows, ledgers
from tfperfkit.report.html.explained import Pages, explain_codes, no_page
from tfperfkit.report.html.fold import make_fold
from tfperfkit.report.html.source import Sources
from tfperfkit.report.html.tables import probes
from tfperfkit.report.html.widths import Rules
from tfperfkit.report.html.words import conclusion, figure, name, text
from tfperfkit.report.paths import short_path
from tfperfkit.report.silenced import say_silenced
from tfperfkit.report.summary import windows
from tfperfkit.report.terminal import Screen
from tfperfkit.report.verdict.block import list_warnings

_HERE = Path(__file__).parent
_STYLES = ("vendor/uPlot.min.css", "assets/page.css")
_SCRIPTS = (
    "vendor/uPlot.iife.min.js",
    "vendor/d3-hierarchy.min.js",
    "assets/page.js",
    "assets/steps.js",
    "assets/trees.js",
    "assets/search.js",
)


def page(report: Report, pages: Pages = no_page) -> str:
    """Return the report as an HTML document. ``pages`` returns the page of a code, which is embedded.

    Pictures are those of ``report.album``.
    """
    rules, sources = Rules(), Sources(report)
    found, remarks = cards(report, sources, rules)
    anchors = {id(finding): anchor for finding, anchor in list_anchors(report)}
    fold = make_fold(report, anchors, rules)
    explained = explain_codes([item["code"] for item in (*found, *remarks)], pages)
    made = accounts(report, rules, sources)
    styles = [_asset(path) for path in _STYLES] + [write_style(), rules.css]
    scripts = [_asset(path) for path in _SCRIPTS]
    data = drawn(report)
    return str(
        template("page.html").render(
            policy=_policy(styles, scripts),
            styles=styles,
            scripts=scripts,
            data=_script_json(data),
            title=_page_title(report),
            fold=fold,
            silenced=text(say_silenced(report.silenced)),
            explained=explained,
            counted=_count_findings(found),
            codes={item["code"] for item in explained},
            conclusion=conclusion(report) if fold["tone"] == "bad" else [],
            handle=_handle(report),
            command=name(shlex.join(report.run.argv)),
            findings=found,
            remarks=remarks,
            figures=figures(report),
            accounts=made,
            trees=[_heading(item, report) for item in _pictures(report, "Tree")],
            series=[_heading(item, report) for item in _pictures(report, "Series")],
            flows=flows(report),
            ledgers=ledgers(report),
            timeline=data["timeline"],
            definition=text(report.steps.definition, report.run.folder),
            probes=probes(report),
            about=_about(report),
            notes=[
                text(note, report.run.folder)
                for note in (
                    report.steps.note if report.conclusion is not None else "",
                    *list_warnings(report)[1:],
                )
                if note
            ],
        )
    )


def _count_findings(found: list[Any]) -> str:
    """Return how many findings there are, as the console counts them: choices are optional changes."""
    optional = sum(item["optional"] for item in found)
    parts = [plural(optional, "optional change")] if optional else []
    if len(found) > optional or not parts:
        parts.insert(0, plural(len(found) - optional, "finding") if found else "No findings")
    return " and ".join(parts)


def _handle(report: Report) -> str:
    """Return the commands for this run, on the machine that it was made on."""
    directory = report.run.directory.rstrip("/")
    short = short_path(directory)
    known = report.run.handle or (directory if short.startswith("~") else short)
    return name(shlex.quote(known)) if known else "RUN"


def figures(report: Report) -> list[tuple[str, str, str]]:
    """(what, figure, more) in the order of importance; what is not known is left out."""
    steps, run = report.steps, report.run
    median, p90, batch = steps.median_ms, steps.p90_ms, steps.batch_size
    rows: list[tuple[str, str, str]] = []
    if median is not None and math.isfinite(median):
        more = f"9 of 10 under {figure(p90, 'ms')}" if p90 is not None and math.isfinite(p90) else ""
        rows.append(("a step, median", figure(median, "ms"), more))
    if steps.count:
        rows.append(("training steps", f"{steps.count:,}", f"{steps.clean:,} of them measured clean"))
    if steps.examples_per_s is not None and math.isfinite(steps.examples_per_s):
        rows.append(
            ("examples per second", numbers.plain(steps.examples_per_s), f"batches of {batch}" if batch else "")
        )
    if run.wall_s > 0 and math.isfinite(run.wall_s):
        how = {"finished": "", "failed": f"failed, exit status {run.exit_code}"}.get(run.status, run.status)
        rows.append(("the whole run", figure(float(run.wall_s), "s"), how))
    peak = run.machine.get("peak_rss_bytes")
    if isinstance(peak, int) and peak > 0:
        rows.append(("memory, at most", figure(peak, "bytes"), ""))
    return rows


def _page_title(report: Report) -> str:
    """Return the title of the page."""
    script = Path(report.run.argv[0]).name if report.run.argv else "run"
    return name(f"{script} · tfperf")


def _pictures(report: Report, kind: str) -> list[Any]:
    album = report.album
    return [item for item in (album.pictures if album is not None else ()) if type(item).__name__ == kind]


def _heading(item: Any, report: Report) -> dict[str, Any]:
    note = text(item.note, report.run.folder)
    made: dict[str, Any] = {"key": name(item.key), "title": text(item.title), "note": note}
    if hasattr(item, "kinds"):
        made["kinds"] = [(name(kind), text(words)) for kind, words in item.kinds.items()]
    return made


def _about(report: Report) -> list[tuple[str, str]]:
    run = report.run
    machine = {key: value for key, value in run.machine.items() if isinstance(value, str | int | list)}
    rows = [
        ("command", name(shlex.join(run.argv))),
        ("ended", name(f"{run.status}, exit status {'not known' if run.exit_code is None else run.exit_code}")),
        ("versions", ", ".join(name(f"{key} {value}") for key, value in run.versions.items())),
        ("processors", name(machine.get("cpus", ""))),
        ("platform", name(machine.get("platform", ""))),
        ("a step is", text(report.steps.definition, report.run.folder)),
        ("windows", " · ".join(windows(report, Screen()))),
        ("tfperf's cost", _cost(report)),
        ("kept in", name(run.directory)),
    ]
    return [(label, value) for label, value in rows if value]


def _cost(report: Report) -> str:
    ratio = report.overhead.baseline_ratio
    parts = []
    if ratio is not None and math.isfinite(ratio):
        parts.append(f"{figure(max(ratio - 1, 0.0), 'share')} of the clean steps")
    slower = [f"{name(probe)} {figure(value, 'ratio')}" for probe, value in report.overhead.per_probe.items()]
    if slower:
        parts.append(f"slowdown while probes were active: {', '.join(slower)}")
    if report.overhead.by_python:
        parts.append("hooks ran in pure Python (C extension not built; run tfperf doctor)")
    return "; ".join(parts)


def _policy(styles: list[str], scripts: list[str]) -> str:
    """Inline styles and scripts by hash; nothing else from anywhere."""
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src {' '.join(map(_hash, styles))}; script-src {' '.join(map(_hash, scripts))}"
    )


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _script_json(value: Any) -> str:
    """Return JSON that can't end the element around it."""
    packed = msgspec.json.encode(value).decode()
    return packed.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@lru_cache(maxsize=32)
def _asset(path: str) -> str:
    return (_HERE / path).read_text(encoding="utf-8")


@lru_cache(maxsize=8)
def template(file: str) -> Any:
    """Return a template of this room, everything in it escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(file)
