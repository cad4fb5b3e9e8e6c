"""The recorded graphs of a run by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfperfkit.graph.model import Damaged, Graph
from tfperfkit.records.convert import each
from tfperfkit.records.graph_contents import GraphContents


class Library:
    """``rows``: what was recorded; a damaged row costs itself only. The first graph of a name counts."""

    def __init__(self, rows: Iterable[Any]) -> None:
        self.contents: dict[str, GraphContents] = {}
        for record in each(iter(rows), GraphContents):
            self.contents.setdefault(record.name, record)
        self._graphs: dict[str, Graph | None] = {}
        # A loop or a condition that is differentiated calls its bodies by other names than before.
        self._renamed = {record.function: name for name, record in self.contents.items() if record.function}

    @property
    def operations(self) -> int:
        """Return the operations of all graphs."""
        return sum(record.operations for record in self.contents.values())

    def graph(self, name: str) -> Graph | None:
        """Return a graph with its bodies; None if it was not recorded or is damaged."""
        name = name if name in self.contents else self._renamed.get(name, name)
        if name not in self._graphs:
            contents = self.contents.get(name)
            graph = Graph(contents, self.graph) if contents is not None else None
            if graph is not None:
                try:
                    graph.nodes  # noqa: B018  (read now, so that damage shows here)
                except Damaged:
                    graph = None
            self._graphs[name] = graph
        return self._graphs[name]
