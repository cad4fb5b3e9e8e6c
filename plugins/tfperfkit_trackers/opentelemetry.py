"""Gauges as OTLP in JSON: to a collector over HTTP, or as a line of a file in the form of the file exporter.

https://opentelemetry.io/docs/specs/otlp/ (OTLP/HTTP, JSON encoding) and .../protocol/file-exporter/. No SDK is needed:
one message is sent once.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from tfperfkit.tracker import Gauge, Record
from tfperfkit.version import __version__

_TIMEOUT_S = 10.0
_ENDPOINT, _METRICS = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
_HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_METRICS_HEADERS")


class OpenTelemetry:
    """``opentelemetry=http://127.0.0.1:4318``, ``opentelemetry=FILE.jsonl``; alone: where OpenTelemetry's own variables
    of the environment say, else the collector of this machine."""

    api: ClassVar[int] = 1
    name: ClassVar[str] = "opentelemetry"
    needs: ClassVar[tuple[str, ...]] = ()
    extra: ClassVar[str] = ""

    def problem(self, target: str, /) -> str:
        if "://" in target:
            scheme = urlsplit(target).scheme
            return "" if scheme in ("http", "https") else f"{scheme}:// is not spoken: an http address, or a file"
        if target and (Path(target).is_dir() or not Path(target).absolute().parent.is_dir()):
            return f"can't write {target}: name a file in a folder that is there"
        return ""

    def send(self, record: Record, target: str, /) -> str:
        content = json.dumps(message(record)).encode()
        if target and "://" not in target:
            with open(target, "ab") as file:
                file.write(content + b"\n")
            return target
        address = endpoint(target)
        headers = {"Content-Type": "application/json", **_headers()}
        request = urllib.request.Request(address, content, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
                answer.read(65536)
        except urllib.error.URLError as error:
            raise ConnectionError(f"{address}: {error.reason}") from error
        return address


def endpoint(target: str) -> str:
    """The address that metrics are posted to: a base address gets the path that the protocol gives it."""
    if not target and os.environ.get(_METRICS):
        return os.environ[_METRICS]
    base = target or os.environ.get(_ENDPOINT) or "http://127.0.0.1:4318"
    return base if base.rstrip("/").endswith("/v1/metrics") else base.rstrip("/") + "/v1/metrics"


def _headers() -> dict[str, str]:
    """Keys that a collector asks for: ``name=value`` with commas, the values percent-encoded."""
    found: dict[str, str] = {}
    for variable in _HEADERS:
        for item in os.environ.get(variable, "").split(","):
            name, has, value = item.partition("=")
            if has:
                found[name.strip()] = unquote(value.strip())
    return found


def message(record: Record) -> dict[str, Any]:
    """``ExportMetricsServiceRequest``. 64-bit integers are texts in protobuf's JSON."""
    by_name: dict[str, list[Gauge]] = {}
    for gauge in record.gauges:
        by_name.setdefault(gauge.name, []).append(gauge)
    at = str(int(record.seconds * 1e9))
    metrics = [
        {
            "name": f"tfperf.{name}",
            "description": gauges[0].help,
            "unit": gauges[0].unit,
            "gauge": {
                "dataPoints": [
                    {"timeUnixNano": at, "asDouble": item.value, "attributes": _attributes(item.attributes)}
                    for item in gauges
                ]
            },
        }
        for name, gauges in by_name.items()
    ]
    resource = {"service.name": record.script, "tfperf.run": record.name}
    scope = {"name": "tfperfkit", "version": __version__}
    return {
        "resourceMetrics": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeMetrics": [{"scope": scope, "metrics": metrics}],
            }
        ]
    }


def _attributes(words: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in words.items()]
