"""Each code of the rules has its page, and the manual names what a rule can ask."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from evidence_builder import make_evidence as made_evidence
from tfperfkit_probes.retrace.model import Blame
from tfperfkit_rules import measures
from tfperfkit_rules.retrace import avoidable

from benchmarks.finding_pages import rule_titles
from tfperfkit.rule import Evidence
from tfperfkit.testing import missing_pages

PAGES = Path(__file__).resolve().parents[3] / "docs" / "findings"
MANUAL = PAGES.parent / "writing-a-rule.md"
#: The functions with which the run's analysis makes a work's evidence.
INSIDE = {"within", "narrowed"}


def test_no_page_is_missing() -> None:
    assert missing_pages(rule_titles(), PAGES) == []


def test_the_readme_names_every_family() -> None:
    readme = (PAGES.parents[1] / "README.md").read_text(encoding="utf-8")
    families = set(re.findall(r"`([A-Z]{3})`", readme))
    assert families == {page.stem[:3] for page in PAGES.glob("*.md")}


def test_the_manual_names_what_a_rule_can_ask() -> None:
    manual = MANUAL.read_text(encoding="utf-8")
    public = [name for name in {*vars(Evidence), *made_evidence().__dict__} if not name.startswith("_")]
    assert [name for name in public if not re.search(rf"`{name}[`(]", manual) and name not in INSIDE] == []


def test_the_manual_names_every_measure() -> None:
    manual = MANUAL.read_text(encoding="utf-8")
    modules = [path.stem for path in Path(measures.__path__[0]).glob("*.py") if path.stem != "__init__"]
    assert [name for name in modules if not re.search(rf"`{name}[`.]", manual)] == []


def test_every_blame_has_a_code() -> None:
    assert set(avoidable._CAUSES) == set(get_args(Blame)) - {""}
    assert sorted(avoidable.TITLES) == [f"RET{number:03d}" for number in range(1, 14)]
