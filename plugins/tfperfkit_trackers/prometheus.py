"""Gauges in Prometheus' text format 0.0.4, as a file that node_exporter's textfile collector reads.

https://prometheus.io/docs/instrumenting/exposition_formats/ and the naming rules next to it: base units in the name.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import ClassVar

from tfperfkit.tracker import Gauge, Record

_UNITS = {"s": "seconds", "1/s": "per_second"}
_WRONG = re.compile(r"[^a-zA-Z0-9_]")


class Prometheus:
    """``prometheus=DIR`` or ``prometheus=FILE.prom``."""

    api: ClassVar[int] = 1
    name: ClassVar[str] = "prometheus"
    needs: ClassVar[tuple[str, ...]] = ()
    extra: ClassVar[str] = ""

    def problem(self, target: str, /) -> str:
        if not target:
            return "name the collector's folder, or a file: prometheus=/var/lib/node_exporter/textfile"
        path = Path(target)
        if not path.is_dir() and path.suffix != ".prom":
            return f"{target} is no folder, and the collector reads files that end in .prom"
        return "" if path.absolute().parent.is_dir() else f"{path.parent} is no folder"

    def send(self, record: Record, target: str, /) -> str:
        path = Path(target)
        if path.is_dir():
            path /= f"tfperf_{_WRONG.sub('_', Path(record.script).stem)}.prom"
        # Renamed, so that the collector never reads half a file; readable, since it runs as another user.
        with tempfile.NamedTemporaryFile("wb", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            try:
                file.write(text(record).encode("utf-8", "backslashreplace"))
                file.flush()
                os.fchmod(file.fileno(), 0o644)
                os.replace(file.name, path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
        return str(path)


def text(record: Record) -> str:
    """The whole file. A metric's samples stand together below its HELP and TYPE, as the format asks."""
    lines: list[str] = []
    described: set[str] = set()
    ended = Gauge("run.ended", record.seconds, "s", "When the run ended, since 1970.")
    for gauge in sorted((*record.gauges, ended), key=lambda item: item.name):
        name = f"tfperf_{_WRONG.sub('_', gauge.name)}" + (f"_{_UNITS[gauge.unit]}" if gauge.unit in _UNITS else "")
        if name not in described:
            described.add(name)
            lines += [f"# HELP {name} {_escaped(gauge.help)}", f"# TYPE {name} gauge"]
        labels = {"script": record.script, **gauge.attributes}
        inside = ",".join(f'{_WRONG.sub("_", key)}="{_label(value)}"' for key, value in labels.items())
        lines.append(f"{name}{{{inside}}} {gauge.value!r}")
    return "\n".join(lines) + "\n"


def _escaped(words: str) -> str:
    return words.replace("\\", "\\\\").replace("\n", "\\n")


def _label(words: str) -> str:
    return _escaped(words).replace('"', '\\"')
