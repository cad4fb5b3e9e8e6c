"""Read a run for the server, or describe one finding, in a process of its own:
``python -m tfperfkit.agents.worker RUN TEXT JSON [ID]``.

Writes the findings, or all that is known of one, as text into the file TEXT and the whole report into the file JSON.
Standard output is left to the probes of others.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

from tfperfkit.analysis.analyze import analyze
from tfperfkit.config import find_run
from tfperfkit.errors import TfperfError, UsageError
from tfperfkit.explain import pages
from tfperfkit.model import Finding, Report, SourceSpan
from tfperfkit.records.plural import plural
from tfperfkit.report.agents import agents, evidence, gain, identified, kind, place, text
from tfperfkit.report.json import encode
from tfperfkit.report.text import one_line, shorten, visible


def main(words: Sequence[str]) -> int:
    """Returns the exit status; a mistake is one line on stderr."""
    run, text, document, *identity = words
    try:
        report = analyze(find_run(run), pictures=True)
        foot = f"more of one: explain(id, run) | whole report: {document}\n"
        made = one_finding(report, identity[0]) if identity else agents(report, foot)
    except TfperfError as error:
        print(one_line(str(error)), file=sys.stderr)
        return error.exit_status
    Path(text).write_text(made, encoding="utf-8", errors="backslashreplace")
    Path(document).write_bytes(encode(report))
    return 0


#: Characters of an answer; lines of source around a place; characters of one line.
LIMIT = 12_000
_AROUND, _LINE = 3, 160
_PLACES, _DETAIL = 5, 30


def one_finding(report: Report, identity: str) -> str:
    """Raises UsageError for what is neither a finding of the run nor the code of a page."""
    wanted = identity.strip().strip("[]").upper()
    found = dict(identified((*report.findings, *report.headroom)))
    page = pages.findings().get(wanted.partition("-")[0])
    if wanted in found:
        made = _describe_finding(report, wanted, found[wanted])
    elif page is not None:
        has = f"it has {', '.join(found)}" if found else "it has none"
        made = f"This run has no finding {wanted}; {has}. Meaning of the code:\n"
    else:
        raise UsageError(f"no finding {identity!r:.80} in that run: {', '.join(found) or 'it has none'}")
    if page is not None:
        made += f"\npage: {page}\n\n{pages.shorten(pages.read(page)).strip()}\n"
    return made if len(made) <= LIMIT else made[:LIMIT].rpartition("\n")[0] + "\n(cut here)\n"


def _describe_finding(report: Report, identity: str, finding: Finding) -> str:
    lines = [f"[{visible(identity)}] {kind(finding)}: {text(finding.title, report, 400)}", f"gain: {gain(finding)}"]
    for span in finding.where[:_PLACES]:
        lines += [f"at: {place(span, report)}", *_source(report, span)]
    if len(finding.where) > _PLACES:
        lines.append(f"and {plural(len(finding.where) - _PLACES, 'more place')}")
    lines += ["evidence:", *(f"  {evidence(item)}" for item in finding.evidence)]
    lines += _windows(report, finding)
    lines.append(f"do: {text(finding.advice, report, 2000)}")
    if finding.detail:
        rows = [visible(shorten(row, _LINE)) for row in finding.detail.splitlines()]
        lines += ["detail:", *(f"  {row}" for row in rows[:_DETAIL])]
    if finding.measured is not None:
        tried = finding.measured
        results = f", results: {tried.results}, {plural(tried.pairs, 'pair')} of runs"
        lines.append(f"tried: {visible(tried.experiment)}: {tried.verdict}{results}{_because(tried.reason)}")
    return "\n".join(lines) + "\n"


def _because(reason: str) -> str:
    return f" ({visible(shorten(reason, 300))})" if reason else ""


def _source(report: Report, span: SourceSpan) -> list[str]:
    lines = report.album.sources.get(span.file, ()) if report.album is not None else ()
    first = max(span.line - _AROUND, 1)
    shown = lines[first - 1 : span.line + _AROUND] if span.line > 0 else ()
    return [
        f"  {'>' if number == span.line else ' '} {number:5} {visible(shorten(line.rstrip(), _LINE))}"
        for number, line in enumerate(shown, first)
    ]


def _windows(report: Report, finding: Finding) -> list[str]:
    """In which steps the windows of the evidence were."""
    named = {item.window for item in finding.evidence}
    made = [
        f"{window.name}: {plural(window.steps, 'step')} from step {window.first_step}"
        for window in report.windows
        if window.name in named and window.steps
    ]
    steps = report.steps
    if steps.clean and steps.median_ms is not None and math.isfinite(steps.median_ms):
        made.append(f"clean steps (nothing invasive ran): {steps.clean} of {steps.count}")
    return [f"windows: {visible('; '.join(made))}"] if made else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
