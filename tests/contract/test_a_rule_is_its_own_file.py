"""A new rule is its file, its page, a fault script with its twin, a test and a line in CHANGELOG: nothing lists it."""

from __future__ import annotations

import importlib
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from evidence_builder import make_evidence

ROOT = Path(__file__).resolve().parents[2]
FAMILY = """from tfperfkit_rules.collecting import collect_rules

RULES = collect_rules(__name__)
"""
RULE = '''"""ACM001: a step of the made kind."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.rule import Evidence

MADE_MIN = Threshold(0.125, "share", "of a made step", Chosen("an eighth"))


def made(evidence: Evidence) -> Iterator[Finding]:
    """ACM001: always."""
    yield Finding(
        code="ACM001",
        family="step",
        title="Made",
        share_of_step=MADE_MIN.value,
        evidence=(Measurement("made", 1, "count", "run"),),
        advice="Nothing.",
    )


def helper(number: int) -> int:
    return number
'''
CLASS = '''"""ACM002: a rule that is a class, in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence, LastRule
from tfperfkit_made.made import made


class Silent:
    code = "ACM002"
    __name__ = "Silent"

    def __call__(self, evidence: Evidence) -> Iterator[Finding]:
        return iter(())


@LastRule
def last(evidence: Evidence, findings) -> Iterator[Finding]:
    return iter(())
'''
FAULT = """print(1)  # FAULT

# /// fault
# style = "custom"
# cause = "made"
# codes = ["ACM001"]
# families = ["step"]
# source = "made"
# ///
"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a package of rules, as a contributor leaves it."""
    for name, text in (
        ("tfperfkit_made/__init__.py", FAMILY),
        ("tfperfkit_made/made.py", RULE),
        ("tfperfkit_made/deeper/__init__.py", ""),
        ("tfperfkit_made/deeper/silent.py", CLASS),
        ("tfperfkit_made/pages/ACM001.md", "# ACM001: Made\n"),
        ("faults/scripts/made.py", FAULT),
        ("faults/scripts/made_fixed.py", "print(2)\n"),
        ("faults/healthy/quiet.py", 'print(3)\n\n# /// healthy\n# style = "custom"\n# ///\n'),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "tfperfkit_made"]:
        del sys.modules[name]


def test_a_rule_is_registered_by_its_file(plugins: Path) -> None:
    from tfperfkit.diagnosis.rules import apply

    rules = importlib.import_module("tfperfkit_made").RULES
    # The folder "deeper" comes before the module "made"; what it imports from there is no second rule.
    assert [rule.__name__ for rule in rules] == ["Silent", "last", "made"]
    found, troubles = apply(make_evidence(), [EntryPoint("made", "tfperfkit_made:RULES", "tfperfkit.rules")])
    assert ([finding.code for finding in found], troubles) == (["ACM001"], [])


def test_a_rule_appears_on_the_page_of_numbers_and_among_the_codes(
    plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks import calibrate
    from tfperfkit import rule_pages
    from tfperfkit.explain import pages

    monkeypatch.setattr(calibrate, "SOURCES", (*calibrate.SOURCES, plugins))
    page = calibrate.tables()
    assert "## made\n" in page and "| `MADE_MIN` | 0.125 share | of a made step |" in page
    point = EntryPoint("made", "tfperfkit_made:RULES", "tfperfkit.rules")
    monkeypatch.setattr(rule_pages, "installed", lambda group: [point])
    assert pages.title(pages.findings()["ACM001"]) == "Made"


def test_a_fault_script_brings_what_is_known_of_it(plugins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "faults"))
    import fault_collection

    monkeypatch.setattr(fault_collection, "FOLDER", plugins / "faults")
    fault, quiet = fault_collection.cases()
    assert (fault.name, fault.codes, fault.marked, fault.healthy) == ("made", ("ACM001",), (1,), False)
    assert (quiet.name, quiet.codes, quiet.healthy) == ("quiet", (), True)


MANUAL = ROOT / "docs" / "writing-a-rule.md"
#: The rules that the manual shows: what a new one touches besides the changelog.
SHOWN = {
    "GRF034": {
        "plugins/tfperfkit_rules/graph/appended.py",
        "docs/findings/GRF034.md",
        "tests/faults/scripts/rollouts_appended.py",
        "tests/faults/scripts/rollouts_appended_fixed.py",
        "tests/unit/rules/graph/test_rules_appended.py",
    },
    "INP017": {
        "plugins/tfperfkit_rules/input/counted.py",
        "docs/findings/INP017.md",
        "tests/faults/scripts/batches_counted.py",
        "tests/faults/scripts/batches_counted_fixed.py",
        "tests/unit/rules/input/test_rules_counted.py",
    },
}


@pytest.mark.parametrize("code", SHOWN)
def test_a_rule_of_the_manual_stands_in_its_own_files_and_nowhere_else(code: str) -> None:
    """Neither its code nor the name of its module or script is in a list of another file."""
    own = {ROOT / name for name in SHOWN[code]}
    names = {code, *(path.stem for path in own if path.parent.name == "scripts")}
    names |= {f".{path.stem} import" for path in own if path.is_relative_to(ROOT / "plugins")}
    known = own | {Path(__file__)}
    folders = (ROOT / name for name in ("tfperfkit", "plugins", "tests", "benchmarks"))
    files = {path for folder in folders for path in folder.rglob("*.py")}
    lists = {
        ROOT / name
        for name in (
            "pyproject.toml",
            "mkdocs.yml",
            "README.md",
            "benchmarks/results/proof.md",
            "benchmarks/results/calibration.md",
        )
    }
    texts = {path: path.read_text(encoding="utf-8") for path in (*files, *lists, *own)}
    assert any(code in texts[path] for path in own)
    assert {path for path, text in texts.items() if any(name in text for name in names)} - known == set()


def test_the_manual_shows_the_rules_as_they_are() -> None:
    text = MANUAL.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python (\S+) \(part\)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    parts = [(name, part) for name, part in blocks if (ROOT / name).is_file()]
    assert {name for name, _ in parts} & SHOWN["GRF034"] and {name for name, _ in parts} & SHOWN["INP017"]
    assert [name for name, part in parts if part.strip("\n") not in (ROOT / name).read_text(encoding="utf-8")] == []


def test_the_manual_names_only_what_a_view_answers() -> None:
    from tfperfkit.graph.view import View

    table = (
        MANUAL.read_text(encoding="utf-8").partition("The view answers")[2].partition("\n\n")[2].partition("\n\n")[0]
    )
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)[`(]", row.split("|")[1])}
    known = {*vars(View), *View.__init__.__code__.co_varnames, *View.__init__.__code__.co_names}
    assert len(named) > 15 and named - known == set()
