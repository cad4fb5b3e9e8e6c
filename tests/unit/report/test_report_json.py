"""The JSON report: the promised names, and valid whatever a script or a probe puts into it."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_report_records import INPUT_FINDING, NAIVE_GAN, NO_STEPS

from tfperfkit.errors import TfperfError
from tfperfkit.gain import Range
from tfperfkit.model import Measurement, ProbeOutcome, Report, Table
from tfperfkit.report.json import decode, encode


def strict(document: bytes) -> Any:
    """Parses as the strictest reader would: UTF-8, no NaN, no control characters."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(document.decode("utf-8", "strict"), parse_constant=refuse)


def with_data(data: Any) -> Report:
    return msgspec.structs.replace(NAIVE_GAN, probes=(ProbeOutcome(name="x", status="ok", data=data),))


def test_the_names_others_rely_on_in_their_order() -> None:
    report = strict(encode(NAIVE_GAN))
    assert list(report) == [
        "schema",
        "run",
        "probes",
        "steps",
        "findings",
        "overhead",
        "windows",
        "headline",
        "conclusion",
        "notes",
        "work",
        "run_account",
        "calls",
        "thread_calls",
        "headroom",
        "source",
        "history",
        "children",
        "silenced",
    ]
    assert report["schema"] == 1
    assert {"argv", "exit_code", "status", "versions", "machine", "wall_s"} <= set(report["run"])
    assert {"name", "status", "reason", "data", "tables"} <= set(report["probes"][0])
    assert {
        "count",
        "source",
        "warmup",
        "median_ms",
        "mean_ms",
        "p90_ms",
        "examples_per_s",
        "breakdown_ms",
    } <= set(report["steps"])
    assert {
        "code",
        "family",
        "title",
        "severity",
        "share_of_step",
        "predicted_speedup",
        "where",
        "evidence",
        "advice",
    } <= set(report["findings"][0])
    assert {"file", "line", "function"} <= set(report["findings"][0]["where"][0])
    assert {"name", "value", "unit"} <= set(report["findings"][0]["evidence"][0])
    assert {"baseline_ratio", "per_probe"} <= set(report["overhead"])


def test_findings_stay_as_ranked() -> None:
    turned = msgspec.structs.replace(NAIVE_GAN, findings=NAIVE_GAN.findings[::-1])
    assert [f["code"] for f in strict(encode(turned))["findings"]] == ["EAG001", "RET002", "INP001"]


@pytest.mark.parametrize("report", [NAIVE_GAN, NO_STEPS])
def test_round_trip(report: Report) -> None:
    document = encode(report)
    again = decode(document)
    assert again == report
    assert decode(encode(again)) == report


def test_numbers_that_json_does_not_know_are_null() -> None:
    finding = msgspec.structs.replace(
        INPUT_FINDING,
        gain=Range(1.0, math.inf, math.inf),
        share_of_step=math.nan,
        evidence=(Measurement("x", math.nan, "ms"),),
    )
    document = encode(msgspec.structs.replace(NAIVE_GAN, findings=(finding,)))
    raw = strict(document)["findings"][0]
    assert raw["predicted_speedup"] is None and raw["share_of_step"] is None and raw["evidence"][0]["value"] is None
    again = decode(document).findings[0]
    assert math.isnan(again.share_of_step) and math.isnan(again.evidence[0].value) and again.gain.bounds is None


def test_hostile_text_is_escaped() -> None:
    text = "\x1b[31m \x00 \x7f \x9b \u202e \u2028 \ufeff ünï 模 \ud800"
    document = encode(with_data({"text": text}))
    assert not any(byte < 0x20 and byte != 0x0A for byte in document)
    shown = document.decode("utf-8")
    assert not set("\x7f\x9b\u202e\u2028\ufeff") & set(shown)
    assert strict(document)["probes"][0]["data"]["text"] == text.replace("\ud800", "\\ud800")


class Scalar:
    def item(self) -> float:
        return 1.5


class Array:
    def tolist(self) -> list[int]:
        return [1, 2]


def test_data_of_probes_may_hold_arrays_and_odd_keys() -> None:
    data = {1: Array(), "scalar": Scalar(), "big": 2**80, "set": {3}, "object": object}
    written = strict(encode(with_data(data)))["probes"][0]["data"]
    assert written["1"] == [1, 2] and written["scalar"] == 1.5 and written["big"] == 2.0**80 and written["set"] == [3]
    assert strict(encode(with_data([1])))["probes"][0]["data"] == {"value": [1]}


def test_data_that_cannot_be_written_costs_the_data_only() -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    probe = strict(encode(with_data(endless)))["probes"][0]
    assert probe["data"] == {} and probe["status"] == "cut"
    assert probe["reason"].startswith("its data cannot be written as JSON: ")


@pytest.mark.parametrize(
    "document", [b"", b"[]", b"{}", b'{"schema": 2}', b'{"schema": 1}', b"\xff", b'{"schema": 1, "findings": [3]}']
)
def test_other_documents_are_refused(document: bytes) -> None:
    with pytest.raises(TfperfError):
        decode(document)


TEXT = st.text(st.characters(codec=None), max_size=8)
JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(TEXT, JSONISH, max_size=3), TEXT, st.floats() | st.integers() | TEXT | st.none())
def test_always_valid(data: dict[str, Any], text: str, value: Any) -> None:
    table = Table(title=text, columns=(), rows=((value, text),))
    probe = ProbeOutcome(name=text, status="ok", data=data, tables=(table,), notes=(text,))
    report = msgspec.structs.replace(NAIVE_GAN, probes=(probe,), headline=text)
    document = encode(report)
    assert strict(document)["probes"][0]["status"] == "ok"
    msgspec.json.decode(document)
    assert strict(encode(decode(document))) == strict(document)
