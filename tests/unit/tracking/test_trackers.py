"""The input and output of trackers, and a tracker that fails, hangs or is not there."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tfperfkit_trackers.opentelemetry import OpenTelemetry, endpoint
from tfperfkit_trackers.prometheus import Prometheus, text
from tfperfkit_trackers.tensorboard import TensorBoard, framed, masked

from tfperfkit import registry
from tfperfkit.errors import UsageError
from tfperfkit.model import Finding, Measurement, Overhead, Report, RunInfo, StepSummary
from tfperfkit.tracker import Gauge, Record, Tracker, tracker_problems
from tfperfkit.tracking.destinations import Destination, destinations
from tfperfkit.tracking.send import gauges, record, send


def report_of(*findings: Finding) -> Report:
    return Report(
        schema=1,
        overhead=Overhead(),
        run=RunInfo(argv=("train.py",), exit_code=0, status="finished", wall_s=12.5),
        probes=(),
        steps=StepSummary(count=40, source="keras", median_ms=20.0, breakdown_ms={"input": 5.0, "graph": 15.0}),
        findings=findings,
    )


def finding(code: str, share: float) -> Finding:
    return Finding(
        code=code,
        family="input",
        title="it waits",
        severity="high",
        share_of_step=share,
        where=(),
        evidence=(Measurement("share", share, "share"),),
        advice="Don't.",
    )


@pytest.fixture
def made(tmp_path: Path) -> Record:
    trace = tmp_path / "run" / "trace" / "plugins" / "profile" / "one" / "vm.xplane.pb"
    trace.parent.mkdir(parents=True)
    trace.write_bytes(b"trace")
    report = report_of(finding("INP001", 0.25), finding("INP001", 0.5), finding("RET001", float("nan")))
    return record(report, tmp_path / "run", lambda code: ())


def test_a_record_has_the_account_and_the_findings_in_base_units(made: Record) -> None:
    by_name = {(item.name, *item.attributes.values()): item.value for item in made.gauges}
    assert by_name["step.mean",] == 0.02 and by_name["run.duration",] == 12.5
    assert (by_name["step.share", "input"], by_name["step.share", "graph"]) == (0.25, 0.75)
    assert by_name["finding.share", "INP001", "high"] == 0.5  # of two the worst, and no number that is none
    assert not any(name[0] == "finding.share" and "RET001" in name for name in by_name)
    assert made.scalars["tfperf_step_ms"] == 20.0
    assert made.html.startswith(b"<!doctype html>") and json.loads(made.json)["schema"] == 1
    assert [path.name for path in made.traces] == ["vm.xplane.pb"]
    assert gauges(report_of())[0] == Gauge("steps", 40.0, "1", "Training steps that were seen.")


def test_prometheus_writes_what_its_collector_reads(made: Record, tmp_path: Path) -> None:
    assert Prometheus().problem("") and Prometheus().problem("metrics.txt") and Prometheus().problem("no/such/x.prom")
    told = Prometheus().send(made, str(tmp_path))
    (file,) = tmp_path.glob("*.prom")
    assert (told, file.name, file.stat().st_mode & 0o777) == (str(file), "tfperf_train.prom", 0o644)
    lines = file.read_text().splitlines()
    assert 'tfperf_step_share{script="train.py",part="input"} 0.25' in lines
    assert 'tfperf_step_mean_seconds{script="train.py"} 0.02' in lines
    # Each metric once, its samples together: the format asks for it.
    types = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    order = [line.split("{")[0] for line in lines if not line.startswith("#")]
    assert len(types) == len(set(types)) and list(dict.fromkeys(order)) == types
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_hostile_name_stays_one_label(made: Record) -> None:
    script = 'a"b\\c\nd{x="1"}'
    (line,) = [
        line
        for line in text(
            Record(**{name: getattr(made, name) for name in Record.__struct_fields__} | {"script": script})
        ).splitlines()
        if line.startswith("tfperf_steps{")
    ]
    assert line == 'tfperf_steps{script="a\\"b\\\\c\\nd{x=\\"1\\"}"} 40.0'


class Collector(BaseHTTPRequestHandler):
    got: ClassVar[list[tuple[str, str | None, Any]]] = []
    status: ClassVar[int] = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.got.append((self.path, self.headers.get("x-key"), body))
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[str]:
    Collector.got.clear()
    Collector.status = 200
    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_opentelemetry_posts_gauges_to_a_collector(
    made: Record, collector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b")
    assert OpenTelemetry().send(made, collector) == f"{collector}/v1/metrics"
    ((path, key, body),) = Collector.got
    assert (path, key) == ("/v1/metrics", "a b")
    (resource,) = body["resourceMetrics"]
    named = {item["name"]: item for item in resource["scopeMetrics"][0]["metrics"]}
    points = named["tfperf.step.share"]["gauge"]["dataPoints"]
    told = {point["attributes"][0]["value"]["stringValue"]: point["asDouble"] for point in points}
    assert told == {"input": 0.25, "graph": 0.75}
    assert isinstance(points[0]["timeUnixNano"], str) and named["tfperf.step.mean"]["unit"] == "s"
    assert {"key": "service.name", "value": {"stringValue": "train.py"}} in resource["resource"]["attributes"]


def test_opentelemetry_appends_a_line_to_a_file(made: Record, tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    for _ in range(2):
        assert OpenTelemetry().send(made, str(file)) == str(file)
    assert [list(json.loads(line)) for line in file.read_text().splitlines()] == [["resourceMetrics"]] * 2
    assert "not spoken" in OpenTelemetry().problem("ftp://x")
    assert "can't write" in OpenTelemetry().problem(str(tmp_path)) and not OpenTelemetry().problem("")


def test_opentelemetry_goes_by_its_own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    assert endpoint("") == "http://127.0.0.1:4318/v1/metrics"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/")
    assert endpoint("") == "http://collector:4318/v1/metrics"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://other/path")
    assert endpoint("") == "http://other/path"
    assert endpoint("http://mine/v1/metrics") == "http://mine/v1/metrics"


def test_tensorboard_gets_scalars_text_and_the_profile(made: Record, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.compat.proto.event_pb2 import Event

    logs = tmp_path / "logs"
    told = TensorBoard().send(made, str(logs))
    assert "with the profile" in told
    assert (logs / "run" / "plugins" / "profile" / "one" / "vm.xplane.pb").read_bytes() == b"trace"
    (file,) = (logs / "run").glob("events.out.tfevents.*")
    content, events = file.read_bytes(), []
    while content:
        (length,) = struct.unpack_from("<Q", content)
        record_bytes = content[12 : 12 + length]
        assert content[: 16 + length] == framed(record_bytes)
        events.append(Event.FromString(record_bytes))
        content = content[16 + length :]
    assert events[0].file_version == "brain.Event:2"
    values = {value.tag: value for value in events[1].summary.value}
    assert (values["tfperf/step_ms"].simple_value, events[1].step) == (20.0, 40)
    text = values["tfperf/report"].tensor.string_val[0]
    assert b"INP001" in text and b"<details>" not in text  # TensorBoard shows HTML as text
    assert values["tfperf/report"].metadata.plugin_data.plugin_name == "text"


def test_the_checksum_is_that_of_tfrecord() -> None:
    """CRC-32C of "123456789" is E3069283 (RFC 3720), masked as TFRecord does."""
    crc = 0xE3069283
    assert masked(b"123456789") == (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


class Fake:
    api, name, needs, extra = 1, "fake", (), ""

    def __init__(self, does: Any) -> None:
        self._does = does

    def problem(self, target: str, /) -> str:
        return ""

    def send(self, record: Record, target: str, /) -> str:
        return str(self._does())


def test_one_that_fails_is_a_line_and_the_next_is_sent_to(tmp_path: Path) -> None:
    def fails() -> str:
        raise ConnectionError("refused\nby the host")

    told: list[str] = []
    to = [Destination(Fake(fails)), Destination(Fake(lambda: "there"))]
    send(report_of(), tmp_path, to, lambda code: (), told.append)
    assert told[0].startswith("fake: not sent (ConnectionError: refused by the host); the report is in ")
    assert told[1] == "fake: there"


def test_of_a_wrapped_error_what_the_system_said_is_reported(tmp_path: Path) -> None:
    def fails() -> str:
        try:
            raise ConnectionRefusedError(111, "Connection refused")
        except OSError:
            raise ValueError("API request failed with exception HTTPConnectionPool(host='127.0.0.1', port=1)")  # noqa: B904

    told: list[str] = []
    to = [Destination(Fake(fails), "http://127.0.0.1:1"), Destination(Fake(fails))]
    send(report_of(), tmp_path, to, lambda code: (), told.append)
    assert told[0].startswith("fake: not sent (http://127.0.0.1:1: Connection refused); the report is in ")
    assert told[1].startswith("fake: not sent (ValueError: API request failed")  # of no address the library's words


def test_one_that_does_not_answer_is_left_alone(tmp_path: Path) -> None:
    ended = threading.Event()
    told: list[str] = []
    send(report_of(), tmp_path, [Destination(Fake(ended.wait))], lambda code: (), told.append, patience_s=0.01)
    assert told == [f"fake: not sent: no answer after 0 s; the report is in {tmp_path}"]
    ended.set()


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("promethius=x", "did you mean 'prometheus'"),
        ("prometheus", "name the collector's folder"),
        ("nothing", "installed are: mlflow"),
        (",", "no tracker was named"),
    ],
)
def test_a_mistake_is_reported_before_anything_runs(typed: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        destinations(typed)


def test_what_is_not_installed_is_reported_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfperfkit.tracking.destinations.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"tracker mlflow needs mlflow: pip install 'tfperfkit\[mlflow\]'"):
        destinations("mlflow=http://127.0.0.1:1")


@pytest.mark.parametrize("name", sorted(registry.trackers()))
def test_every_tracker_keeps_the_contract_without_its_library(name: str) -> None:
    made = registry.load_tracker(name)
    assert isinstance(made, Tracker) and tracker_problems(made, name) == []
    assert all(made.extra for _ in made.needs)


def test_what_breaks_the_contract_is_reported() -> None:
    assert len(tracker_problems(object(), "x")) == 6
