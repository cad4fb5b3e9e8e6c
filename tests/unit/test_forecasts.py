"""The predictions in the documents' tables, and their scores."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import pytest

from benchmarks.forecasts import page, picture, summary
from benchmarks.stored_pairs import Pair, at_hand, first_sight, paired

BLIND = """\
## Ninth batch (1 May 2027)

| script | trains | cause, in its author's words | first finding | right | place | predicted | measured |
|---|---|---|---|---|---|---|---|
| a | no | slow | EAG008 | right | yes | 2 to 8 (of that loop) | 5.0 (4.8) |
| b | no | slow | RET008 | right | yes | at least 2.6 | 2.0 |
| c | no | slow | EAG008 | right line, wrong cause | yes | 2 to 8 | 5.0 |
| d | no | slow | GRF002 | right | yes | 1.5 | 3.0 |
| e | no | slow | OPS001 | right | yes | – | 29.0 |
"""
HAND = """\
| script | batch | finding | predicted | of the script | measured of the script | of steps | held |
|---|---|---|---|---|---|---|---|
| f | collection | EAG001 | 17.4 (11.2 to 27.1) | 6.0 | 4.3 (4.3 to 6.7) | 18.2 | yes |
| g | first | EAG004 | 16.6 (9.8 to 28.1) | 6.4 | 7.8 (6.0 to 7.8) | – | no |
| h | fresh | EAG004 | 16.6 (9.8 to 28.1) | 6.4 | 7.8 (6.0 to 7.8) | – | no |
| i | second | none | – | – | 5.7 | – | – |
"""


@pytest.mark.parametrize(
    ("told", "centre", "held"),
    [
        ("2 to 8", 4.0, True),
        ("6 to 24 (of the work)", 12.0, False),
        ("at least 4.9", None, True),
        ("at most 4.9", None, False),
        ("1.5", 1.5, None),
        ("–", None, None),
        ("3.0 (2.0 to 5.0)", 3.0, True),
    ],
)
def test_words_of_a_table_are_a_pair(told: str, centre: float | None, held: bool | None) -> None:
    found = paired("a", "first", "EAG008", told, 5.0)
    assert found.held is held and (found.centre == centre if centre is None else found.centre == pytest.approx(centre))


def test_right_first_findings_are_the_pairs_of_first_sight() -> None:
    found = first_sight(BLIND)
    assert [(pair.script, pair.batch, pair.measured) for pair in found] == [
        ("a", "ninth", 5.0), ("b", "ninth", 2.0), ("d", "ninth", 3.0), ("e", "ninth", 29.0)
    ]  # fmt: skip
    text = page(found, at_hand(HAND))
    assert "| EAG008 | 1 | 0.80 | 1 of 1 | 1 of 1 | 4.0 | – |" in text
    assert "| **all** | 4 | 0.65 | 1 of 1 | 1 of 2 | 4.0 | 0 of 1 |" in text
    assert "| b | ninth | RET008 | at least 2.6 | 2 | – |" in text


def test_where_a_table_has_what_is_saved_of_the_script_that_is_the_prediction() -> None:
    row = "| a | no | slow | EAG008 | right | yes | 20 to 30 | 3.0 to 6.0 | 5.0 (4.8) |"
    (pair,) = first_sight(f"## Twelfth batch\n\n{row}\n")
    assert pair.bounds == (3.0, 6.0) and pair.measured == 5.0 and pair.held


def test_what_was_at_hand_is_set_against_what_it_is_of() -> None:
    steps, script = at_hand(HAND)
    assert steps.ratio == pytest.approx(17.4 / 18.2) and steps.held
    assert script.ratio == pytest.approx(6.4 / 7.8) and script.held is False


def test_a_row_without_figures_has_dashes_and_the_picture_has_a_circle_for_each_figure() -> None:
    assert summary("x", [Pair("a", "first", "OPS001", 29.0)]) == "| x | 1 | – | – | – | – | – |"
    drawn = ET.fromstring(picture(first_sight(BLIND), at_hand(HAND)))
    circles = drawn.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 2 + 2 + 2 + 1  # the points, the families' in the key (EAG, GRF), and "at hand"


def test_the_documents_tables_are_read() -> None:
    found = first_sight()
    assert len(found) >= 59 and all(pair.measured >= 1 and not math.isnan(pair.measured) for pair in found)
    assert len(at_hand()) >= 20
