"""Comments that silence findings, in every kind of source file."""

from __future__ import annotations

import pytest

from tfperfkit.syntax.comments import Ignore, decode_source, find_ignores


def lines_with(text: str) -> dict[int, list[str]]:
    found = find_ignores(text.splitlines(keepends=True))
    return {line: [code for each in comments for code in each.codes] for line, comments in found.items()}


def test_a_comment_holds_for_its_line() -> None:
    assert lines_with("a = 1\nb = 2  # tfperf: ignore[EAG008]\nc = 3\n") == {2: ["EAG008"]}


def test_several_codes_and_other_words() -> None:
    text = "b = 2  # slow, but once  # noqa # tfperf:ignore[ EAG008, RET001 ]  see #12\n"
    assert lines_with(text) == {1: ["EAG008", "RET001"]}


def test_a_comment_holds_for_all_lines_of_its_statement() -> None:
    text = "x = f(\n    1,\n    g(  # tfperf: ignore[EAG001]\n        2))\ny = 1\n"
    assert lines_with(text) == dict.fromkeys((1, 2, 3, 4), ["EAG001"])


def test_a_comment_on_a_line_of_its_own_holds_for_the_next_statement() -> None:
    text = "for x in y:\n    # tfperf: ignore[EAG001]\n\n    step(x)\n    other(x)\n"
    assert lines_with(text) == dict.fromkeys((2, 3, 4), ["EAG001"])


def test_a_header_is_not_its_block_and_a_decorator_belongs_to_its_function() -> None:
    assert lines_with("for x in y:  # tfperf: ignore[EAG001]\n    step(x)\n") == {1: ["EAG001"]}
    text = "@tf.function\n@other(1)\ndef step(x):  # tfperf: ignore[RET001]\n    return x\n"
    assert lines_with(text) == dict.fromkeys((1, 2, 3), ["RET001"])


def test_text_that_is_no_comment_silences_nothing() -> None:
    assert lines_with('a = "# tfperf: ignore[EAG008]"\n"""\n# tfperf: ignore[EAG008]\n"""\n') == {}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252"])
def test_line_ends_tabs_and_encodings(newline: str, encoding: str) -> None:
    head = f"# -*- coding: {encoding} -*-\n" if "utf" not in encoding else "#\n"
    text = head + "def f():\n\tfür = 1\n\tif für:\t# tfperf: ignore[LIN001]\n\t\treturn\t2\n"
    lines = decode_source(text.replace("\n", newline).encode(encoding))
    assert {number: found[0].codes for number, found in find_ignores(lines).items()} == {4: ("LIN001",)}


def test_a_file_that_cannot_be_decoded_has_no_lines() -> None:
    assert decode_source("é".encode("latin-1")) == [] == decode_source(b"# coding: nonsense\n")


def test_a_cell_that_is_no_python_is_read_line_by_line() -> None:
    found = find_ignores(["!ls 'a\n", "step(x)  # tfperf: ignore[EAG001]\n"])
    assert found == {2: (Ignore(2, ("EAG001",)),)}


def test_a_comment_without_a_code() -> None:
    assert find_ignores(["a = 1  # tfperf: ignore[]\n"]) == {1: (Ignore(1, ()),)}
