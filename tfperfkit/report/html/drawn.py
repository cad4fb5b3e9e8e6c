"""Data that the page's script draws, as one JSON document: numbers and harmless texts, files by number."""

from __future__ import annotations

from typing import Any

import msgspec

from tfperfkit.model import Report
from tfperfkit.records.pictures import Album, Flow, Ledger, Series, Tree
from tfperfkit.report.html.words import figure, harmless, name, place, text
from tfperfkit.report.paths import short_path

_MAX_LINES = 3_000


def drawn(report: Report) -> dict[str, Any]:
    """Return the album in short; empty lists without one."""
    album = report.album or Album()
    files = list(album.sources)
    index = {file: number for number, file in enumerate(files)}
    folder = report.run.folder
    made = {
        "files": [
            {"name": short_path(file, folder), "code": [line.rstrip() for line in album.sources[file][:_MAX_LINES]]}
            for file in files
        ],
        "heat": [
            [index[row.file], row.line, row.python_ms, row.forward_ms, row.backward_ms, row.update_ms]
            for row in album.heat
            if row.file in index
        ],
        "timeline": _timeline(report, album),
        "trees": [_tree(item, index, folder) for item in album.pictures if isinstance(item, Tree)],
        "series": [msgspec.to_builtins(item) for item in album.pictures if isinstance(item, Series)],
    }
    return dict(harmless(made))


def _timeline(report: Report, album: Album) -> dict[str, Any] | None:
    timeline = album.timeline
    if timeline is None:
        return None
    account = report.steps.account
    outliers = account.outliers if account is not None else ()
    longest = sorted(outliers, key=lambda item: -item.excess_ms)[:400]
    return {
        "bars": [list(msgspec.structs.astuple(bar)) for bar in timeline.bars],
        "events": [list(msgspec.structs.astuple(item)) for item in timeline.happenings],
        "windows": [[window.name, window.first_step, window.steps] for window in report.windows if window.steps > 0],
        "warmup": report.steps.warmup,
        "outliers": [[item.step, item.ms, item.cause or "not explained"] for item in longest],
        "median": report.steps.median_ms,
    }


def _tree(tree: Tree, index: dict[str, int], folder: str) -> dict[str, Any]:
    return {
        "key": tree.key,
        "unit": tree.unit,
        "kinds": tree.kinds,
        "nodes": [
            [
                node.parent,
                node.name,
                node.value,
                node.kind,
                index.get(node.file, -1),
                node.line,
                node.note,
                f"{short_path(node.file, folder)}:{node.line}" if node.file and node.line else "",
            ]
            for node in tree.nodes
        ],
    }


def flows(report: Report) -> list[dict[str, Any]]:
    """Return the pipelines, which are text: boxes in a row."""
    folder = report.run.folder
    return [
        {
            "key": name(item.key),
            "title": text(item.title, folder),
            "note": text(item.note, folder),
            "end": text(item.end, folder),
            "stages": [
                {
                    "name": name(stage.name),
                    "ms": figure(stage.ms, "ms") if stage.ms is not None else "",
                    "share": figure(stage.share, "share") if stage.share is not None else "",
                    "place": place(stage.where, folder) if stage.where is not None else "",
                    "marked": stage.marked,
                    "facts": [(name(label), text(value, folder)) for label, value in stage.facts],
                }
                for stage in item.stages
            ],
        }
        for item in (report.album.pictures if report.album is not None else ())
        if isinstance(item, Flow)
    ]


def ledgers(report: Report) -> list[dict[str, Any]]:
    """Return the ledgers, which are tables."""
    folder = report.run.folder
    return [
        {
            "key": name(item.key),
            "title": text(item.title, folder),
            "note": text(item.note, folder),
            "marked": sum(entry.marked for entry in item.entries),
            "rows": [
                {
                    "step": f"{entry.step:,}" if entry.step else "start",
                    "lane": name(entry.lane),
                    "kind": name(entry.kind),
                    "ms": figure(entry.ms, "ms"),
                    "text": text(entry.text, folder),
                    "place": place(entry.where, folder) if entry.where is not None else "",
                    "marked": entry.marked,
                }
                for entry in item.entries
            ],
        }
        for item in (report.album.pictures if report.album is not None else ())
        if isinstance(item, Ledger)
    ]
