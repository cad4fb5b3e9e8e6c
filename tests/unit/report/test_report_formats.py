"""Findings as SARIF, GitHub's annotations and Markdown: at their places, and no text of a script becomes markup."""

from __future__ import annotations

import difflib
import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from side_builder import FILE, FOLDER, make_finding, make_side

from tfperfkit.model import SourceSpan
from tfperfkit.report.annotation import Annotation, below, of_finding
from tfperfkit.report.github import github
from tfperfkit.report.markdown import code, escaped, findings_markdown, report_markdown
from tfperfkit.report.replacements import replacements
from tfperfkit.report.sarif import report_sarif, sarif

REPORT = make_side("a", [40.0] * 50, findings=[make_finding(), make_finding("INP001", 9, 0.1)]).report


def test_sarif_has_a_rule_for_each_code_and_a_result_for_each_finding() -> None:
    document = json.loads(report_sarif(REPORT))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["RET002", "INP001"]
    first, second = run["results"]
    assert (first["ruleId"], first["ruleIndex"], second["ruleIndex"], first["level"]) == ("RET002", 0, 1, "warning")
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "train.py", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 3},
            },
            "logicalLocations": [{"name": "main", "kind": "function"}],
        }
    ]
    assert "It costs 30.0 % of a step. Fixed, that gets 1.4x faster. Pass a tensor." in first["message"]["text"]


OLD = [f"line {number}" for number in range(1, 13)]
NEW = [OLD[0], "new", *OLD[1:4], "other", *OLD[6:10], *OLD[11:], "end"]


def test_sarif_has_the_patch_of_a_finding_as_a_fix() -> None:
    patch = "\n".join(difflib.unified_diff(OLD, NEW, "a/sub/train.py", "b/sub/train.py", lineterm=""))
    finding = msgspec.structs.replace(REPORT.findings[0], patch=patch)
    report = msgspec.structs.replace(REPORT, findings=(finding, *REPORT.findings[1:]))
    first, second = json.loads(report_sarif(report))["runs"][0]["results"]
    ((change,),) = (each["artifactChanges"] for each in first["fixes"])
    assert change["artifactLocation"] == {"uri": "sub/train.py", "uriBaseId": "%SRCROOT%"} and "fixes" not in second
    lines = OLD.copy()
    for each in reversed(change["replacements"]):
        region = each["deletedRegion"]
        assert (region["startColumn"], region["endColumn"]) == (1, 1)
        made = each.get("insertedContent", {"text": ""})["text"].splitlines()
        lines[region["startLine"] - 1 : region["endLine"] - 1] = made
    assert lines == NEW


@pytest.mark.parametrize(
    "patch", ["no patch", "--- a/../x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b", "--- a/x.py\n@@ -1,2 +1,2 @@\n-a\n+b"]
)
def test_a_patch_that_is_none_is_no_fix(patch: str) -> None:
    assert replacements(patch, FOLDER) == ()


def test_sarif_of_more_places_of_none_and_of_files_elsewhere() -> None:
    spans = (SourceSpan("/else where/x.py", 2), SourceSpan(FILE, 0), SourceSpan(FILE, 7))
    some = Annotation(code="A", rule="r", level="error", title="t", text="x", where=spans)
    none = msgspec.structs.replace(some, where=())
    results = json.loads(sarif([some, none], FOLDER))["runs"][0]["results"]
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///else%20where/x.py"}
    assert [place["id"] for place in results[0]["relatedLocations"]] == [1, 2]
    assert "region" not in results[0]["relatedLocations"][0]["physicalLocation"]  # no line 0
    assert "locations" not in results[1]
    assert json.loads(sarif([]))["runs"][0]["results"] == []


def test_github_shows_it_at_its_line() -> None:
    lines = github(map(of_finding, REPORT.findings), FOLDER).splitlines()
    assert lines[0].startswith("::warning file=train.py,line=3,title=RET002 A function is traced again::A function")
    assert "30.0 %25 of a step" in lines[0] and len(lines) == 2


@given(st.text(max_size=200), st.text(max_size=50))
def test_whatever_the_text_a_line_is_a_line(text: str, file: str) -> None:
    each = Annotation(code="A", rule="r", level="error", title=text, text=text, where=(SourceSpan(file, 1),))
    made = github([each])
    assert made.count("\n") == 1 and made.isprintable() is False
    properties = made.partition(" ")[2].partition("::")[0]
    assert re.fullmatch(r"file=[^,:]*,line=1,title=[^,:]*", properties)


def test_markdown_has_a_table_and_the_details() -> None:
    text = report_markdown(REPORT)
    assert "| `RET002` | high | A function is traced again | `train.py:3` | 30.0 % | 1.4x |" in text
    assert "- measured: retraces 7" in text and "- fix: Pass a tensor." in text
    assert findings_markdown([]) == ""


def test_markdown_has_the_account_and_no_html_where_it_is_not_known() -> None:
    steps = msgspec.structs.replace(REPORT.steps, breakdown_ms={"graph": 3.0, "input": 1.0, "gc": 0.001})
    text = report_markdown(msgspec.structs.replace(REPORT, steps=steps), folded=False)
    assert "- A step, 4.00 ms in the mean: graph 75.0 %, input 25.0 %\n" in text
    assert "<" not in text and "**RET002: A function is traced again**" in text and "- fix: Pass a tensor." in text


@pytest.mark.parametrize(
    "text",
    ["<script>", "[a](http://x)", "a|b", "**b**", "`c`", "@team", "# head", "a\n\n| b |", "![x](y)", "https://a.b"],
)
def test_text_of_scripts_is_no_markup(text: str) -> None:
    made = escaped(text)
    assert "\n" not in made
    assert not re.search(r"(?<!\\)[<>|`*@\[\]#]", made.replace("&#8203;", "")) and "://" not in made


@pytest.mark.parametrize("text", ["a", "`", "a`b``c", "x|y", "", "<b>"])
def test_a_code_span_holds_anything(text: str) -> None:
    made = code(text)
    assert bool(made) == bool(text)
    assert not re.search(r"(?<!\\)\|", made)
    if text:
        fence = re.match("`+", made)
        assert fence is not None and made.endswith(fence[0]) and fence[0] not in text


def test_a_path_is_given_from_the_root_where_it_lies_below() -> None:
    assert below("/a/b/c.py", "/a") == "b/c.py"
    assert below("/a/b/c.py", "/a/x") == "/a/b/c.py"
    assert below("<stdin>", "/a") == "<stdin>" and below("/a/b", "") == "/a/b"
