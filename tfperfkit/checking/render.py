"""A check for people, for pull requests and for programs."""

from __future__ import annotations

from html import escape

from rich.text import Text

from tfperfkit.checking.result import Checked, Measure, Outcome
from tfperfkit.records.plural import plural
from tfperfkit.report import numbers
from tfperfkit.report.annotation import Annotation, below, of_finding
from tfperfkit.report.difference import limits
from tfperfkit.report.layout import heading, prose
from tfperfkit.report.markdown import code, escaped, findings_markdown, table
from tfperfkit.report.paths import name, place
from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import visible

_WORDS: dict[Outcome, str] = {"pass": "pass", "fail": "FAIL", "undecided": "undecided"}
_STYLES: dict[Outcome, str] = {"pass": "green", "fail": "bold red", "undecided": "bold yellow"}
_HEADLINES: dict[Outcome, str] = {
    "pass": "The budget is kept.",
    "fail": "The budget is not kept.",
    "undecided": "Not decided: something could not be measured well enough.",
}
_INDENT = 11


def lines_of(checked: Checked, screen: Screen) -> list[Text]:
    """For people, as lines no wider than the screen."""
    lines = heading("check", name(checked.script, screen), screen)
    for measure in checked.measures:
        rows = prose(measure.says, screen, indent=_INDENT)
        margin = Text(_WORDS[measure.outcome].ljust(_INDENT), _STYLES[measure.outcome])
        rows[0] = margin.append_text(rows[0][_INDENT:])
        lines += rows
        for span in measure.where if measure.outcome == "fail" else ():
            lines += prose(f"at {place(span, screen)}", screen, indent=_INDENT, style="dim")
    for note in checked.notes:
        lines += prose(note, screen, indent=_INDENT, label="note")
    lines += prose(_HEADLINES[checked.outcome], screen, style=_STYLES[checked.outcome])
    if checked.run:
        lines += prose(f"the run: tfperf report {checked.run}", screen, style="dim")
    return lines


def annotated(checked: Checked, *, findings: bool = True) -> list[Annotation]:
    """Annotate failures as errors, undecided budgets as warnings, at their places; then the run's findings that the
    budget does not forbid.
    """
    made = [_annotation(measure) for measure in checked.measures if measure.outcome != "pass"]
    reported = {(span.file, span.line) for measure in checked.measures for span in measure.where}
    if findings:
        rest = (each for each in checked.findings if not {(span.file, span.line) for span in each.where} & reported)
        made += [of_finding(each) for each in rest]
    return made


def _annotation(measure: Measure) -> Annotation:
    return Annotation(
        code=f"budget/{measure.name.replace(' ', '/')}",
        rule="budget",
        level="error" if measure.outcome == "fail" else "warning",
        title=f"{measure.title}: {'over the budget' if measure.outcome == 'fail' else 'undecided'}",
        text=f"{measure.says[0].upper()}{measure.says[1:]}.",
        where=measure.where,
    )


def markdown(checked: Checked, root: str) -> str:
    """For a pull request."""
    lines = [f"### tfperf check: {_WORDS[checked.outcome]}", ""]
    lines += [f"{code(checked.script)}: {_HEADLINES[checked.outcome]}", ""]
    rows = [
        (
            _WORDS[each.outcome],
            escaped(each.title),
            numbers.alone(each.value, each.unit),
            numbers.alone(float(each.limit), each.unit) if each.limit is not None else "",
            ", ".join(code(f"{below(span.file, root)}:{span.line}") for span in each.where),
        )
        for each in checked.measures
    ]
    lines += table(("", "budget", "measured", "at most", "at"), rows)
    if checked.time is not None:
        lines += [
            "",
            escaped(f"{plural(checked.rounds, 'pair')} of runs against {checked.base[:12]}. {limits(checked.time)}"),
        ]
    lines += ["", *(f"> {escaped(note)}" for note in checked.notes)]
    return "\n".join(lines) + "\n\n" + findings_markdown(checked.findings, root)


def junit(checked: Checked) -> str:
    """JUnit's XML: a test for each bound; undecided ones are skipped tests, as JUnit has no third outcome."""
    failed = sum(each.outcome == "fail" for each in checked.measures)
    skipped = sum(each.outcome == "undecided" for each in checked.measures)
    counts = f'tests="{len(checked.measures)}" failures="{failed}" errors="0" skipped="{skipped}"'
    cases = "".join(_case(each, checked) for each in checked.measures)
    suite = f"  <testsuite name={quoteattr(_xml(f'tfperf check {checked.script}'))} {counts}>\n{cases}  </testsuite>\n"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {counts}>\n{suite}</testsuites>\n'


def _case(each: Measure, checked: Checked) -> str:
    where = f' file={quoteattr(_xml(each.where[0].file))} line="{each.where[0].line}"' if each.where else ""
    head = f'    <testcase classname="tfperf.budget" name={quoteattr(_xml(each.title))}{where}'
    if each.outcome == "pass":
        return f"{head}/>\n"
    kind = "failure" if each.outcome == "fail" else "skipped"
    body = "".join(f"{_xml(span.file)}:{span.line}\n" for span in each.where)
    said = f"<{kind} message={quoteattr(_xml(each.says))}>{escape(_xml(body))}</{kind}>"
    return f"{head}>\n      {said}\n    </testcase>\n"


def _xml(text: str) -> str:
    """Control characters are no XML, in whatever form; here they are written out as everywhere."""
    return "\n".join(visible(line) for line in text.splitlines()) + ("\n" if text.endswith("\n") else "")


def quoteattr(text: str) -> str:
    """As the value of an attribute of XML, in its quotes."""
    return f'"{escape(text)}"'
