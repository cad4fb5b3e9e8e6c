"""Silenced findings: the ways to silence, the owned time, and the report's words about them."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from recorded_runs import FOLDER, study_recorded
from side_builder import make_finding

from tfperfkit.analysis.analyze import study
from tfperfkit.config import read_silencing, resolve
from tfperfkit.diagnosis.headline import conclude_without_silenced
from tfperfkit.diagnosis.silencing import Silencer
from tfperfkit.errors import UsageError
from tfperfkit.model import Finding, Report, SourceSpan
from tfperfkit.records.silencing import Silencing
from tfperfkit.report.json import encode
from tfperfkit.report.silenced import say_silenced


def finding(code: str, *places: tuple[str, int]) -> Finding:
    where = tuple(SourceSpan(file, line, "step") for file, line in places)
    return msgspec.structs.replace(make_finding(code), where=where)


def by_what(item: Finding, silencing: Silencing | None = None, **sources: str) -> str:
    lines = {f"/p/{name}.py": text.splitlines(keepends=True) for name, text in sources.items()}
    (marked,) = Silencer(silencing, lines).mark([item])
    return marked.silenced


def test_by_code_and_by_pattern() -> None:
    item = finding("EAG008", ("/p/train.py", 2))
    assert by_what(item) == ""
    assert by_what(item, Silencing(ignore=("EAG001",))) == ""
    assert by_what(item, Silencing(ignore=("EAG008",))) == "ignore in pyproject.toml"
    assert by_what(item, Silencing(ignore=("EAG*",))) == "ignore in pyproject.toml"


@pytest.mark.parametrize(
    ("pattern", "silenced"),
    [("train.py", True), ("sub/*", True), ("sub/train.py", True), ("*.py", True), ("other.py", False), ("x/*", False)],
)
def test_by_file(pattern: str, silenced: bool) -> None:
    item = finding("EAG008", ("/p/sub/train.py", 2), ("/p/x/other.py", 3))
    said = by_what(item, Silencing(per_file={pattern: ("EAG008",)}, folder="/p"))
    assert said == (f"per-file-ignores {pattern} in pyproject.toml" if silenced else "")


def test_by_a_comment_at_one_of_its_places() -> None:
    item = finding("EAG008", ("/p/train.py", 2), ("/p/model.py", 1))
    comment = "step(x)  # tfperf: ignore[EAG008]\n"
    assert by_what(item, train=f"\n{comment}") == "comment at train.py:2"
    assert by_what(item, model=comment) == "comment at model.py:1"
    assert by_what(item, train=comment) == ""  # another line
    assert by_what(item, model=comment.replace("EAG008", "RET001")) == ""


def test_a_comment_in_a_cell_of_a_notebook() -> None:
    cell = "/tmp/ipykernel_7/123.py"
    lines = ["for x in data:\n", "    step(x)  # tfperf: ignore[EAG008]\n"]
    (marked,) = Silencer(None, {cell: lines}).mark([finding("EAG008", (cell, 2))])
    assert marked.silenced == "comment at 123.py:2"


def test_a_comment_with_a_code_that_no_rule_has() -> None:
    silencer = Silencer(None, {"/p/a.py": ["x = 1  # tfperf: ignore[EAG0008]\n", "y = 1  # tfperf: ignore[]\n"]})
    assert silencer.warnings() == [
        "a.py:1: tfperf: ignore[EAG0008]: no rule has the code 'EAG0008'; did you mean EAG008?",
        "a.py:2: tfperf: ignore[] names no code",
    ]


def test_the_headline_names_the_next_finding_and_never_says_that_there_is_no_cause() -> None:
    first, second = make_finding("EAG001"), make_finding("RET001")
    hidden = msgspec.structs.replace(first, silenced="ignore in pyproject.toml")
    assert conclude_without_silenced([first, second]) is None
    said = conclude_without_silenced([hidden, second])
    assert said is not None and said.verdict == "First" and second.title[1:] in said.why
    said = conclude_without_silenced([hidden])
    assert said is not None and said.headline == "All findings are silenced: EAG001."
    assert conclude_without_silenced([second, hidden]) is None


def test_how_many_and_by_what() -> None:
    hidden = msgspec.structs.replace(make_finding("EAG001"), silenced="comment at a.py:2")
    assert say_silenced([]) == ""
    assert say_silenced([hidden]) == "1 finding is silenced: EAG001 (comment at a.py:2)."
    assert say_silenced([hidden, hidden]).startswith("2 findings are silenced: EAG001")


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    with tarfile.open(FOLDER / "plain_loop_mlp.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def codes(findings: Sequence[Finding]) -> list[str]:
    return [item.code for item in findings]


def holds(report: Report, silenced: str) -> None:
    """Nothing takes the place of the silenced finding, and the rest of the report is as before."""
    before = study_recorded("plain_loop_mlp")[0]
    assert codes(before.findings) == ["EAG001", "INP013"] and before.silenced == ()
    assert codes(report.findings) == ["INP013"]
    assert [(item.code, item.silenced) for item in report.silenced] == [("EAG001", silenced)]
    assert report.headline == "All findings are silenced: EAG001."  # INP013 is a note there
    assert report.calls == before.calls  # of which silenced findings own theirs
    assert f"1 finding is silenced: EAG001 ({silenced})." in report.notes
    assert [item["silenced"] for item in json.loads(encode(report))["silenced"]] == [silenced]


def test_a_recorded_run_by_code(recorded: Path) -> None:
    report = study(recorded, silencing=Silencing(ignore=("EAG001",)))[0]
    holds(report, "ignore in pyproject.toml")
    report = study(recorded, silencing=Silencing(ignore=("EAG001", "INP013")))[0]
    assert (report.findings, report.headline) == ((), "All findings are silenced: EAG001.")
    assert codes(report.silenced) == ["EAG001", "INP013"]


def test_a_recorded_run_by_its_manifest_and_by_a_comment(recorded: Path) -> None:
    manifest = json.loads((recorded / "run.json").read_text())
    (recorded / "run.json").write_text(json.dumps({**manifest, "silencing": {"ignore": ["EAG001"]}}))
    holds(study(recorded)[0], "ignore in pyproject.toml")
    assert codes(study(recorded, silencing=Silencing())[0].findings) == ["EAG001", "INP013"]
    (recorded / "run.json").write_text(json.dumps(manifest))
    rows = (recorded / "records.jsonl").read_text().splitlines()
    (index,) = [
        number for number, row in enumerate(rows) if row.startswith('["sources",') and "plain_loop_mlp.py" in row
    ]
    stream, (file, lines) = json.loads(rows[index])
    lines[20] = lines[20].rstrip("\n") + "\t# tfperf: ignore[EAG001]\r\n"
    rows[index] = json.dumps([stream, [file, lines]])
    (recorded / "records.jsonl").write_text("\n".join(rows) + "\n")
    holds(study(recorded)[0], "comment at plain_loop_mlp.py:21")


def project(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(f"[tool.tfperf]\n{text}")
    return folder


def test_pyproject(tmp_path: Path) -> None:
    folder = project(tmp_path, 'ignore = ["EAG008", "RET*"]\n[tool.tfperf.per-file-ignores]\n"gan/*" = ["INP001"]\n')
    expected = Silencing(ignore=("EAG008", "RET*"), per_file={"gan/*": ("INP001",)}, folder=str(tmp_path))
    assert read_silencing(folder) == expected
    resolve({}, folder, {})  # both are known settings
    assert read_silencing(project(tmp_path, 'probes = "all"\n')) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('ignore = ["EAG0008"]\n', "no rule has the code 'EAG0008'; did you mean EAG008?"),
        ('ignore = ["eag008"]\n', "did you mean EAG008?"),
        ('ignore = ["XXX*"]\n', "no rule has the code 'XXX*'"),
        ('ignore = "EAG008"\n', "takes a list of codes"),
        ("ignore = [8]\n", "takes a list of codes"),
        ('per-file-ignores = ["EAG008"]\n', "write [tool.tfperf.per-file-ignores]"),
        ('[tool.tfperf.per-file-ignores]\n"a.py" = ["INP999"]\n', "per-file-ignores 'a.py' in [tool.tfperf]: no rule"),
    ],
)
def test_a_mistake_in_pyproject(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_silencing(project(tmp_path, text))
    assert says in str(caught.value)
