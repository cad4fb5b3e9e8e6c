"""The operations of a session's graph are counted at its runs, the more of them the rarer."""

from __future__ import annotations

from typing import Any

from tfperfkit.instruments.steps.call_state import CallState
from tfperfkit.instruments.steps.work_calls import WorkCalls


class Graph:
    def __init__(self, operations: int) -> None:
        self.operations = operations

    def num_operations(self) -> int:
        return self.operations


class Session:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Heard:
    def __init__(self) -> None:
        self.sizes: list[tuple[int, int]] = []

    def new_site(self, site: Any) -> None:
        self.site = site

    def entering(self, site: int) -> None:
        raise AssertionError("a session's run is no step")

    def marked(self, marker: Any) -> None:
        raise AssertionError("nothing was called")

    def graph_size(self, site: int, calls: int, operations: int) -> None:
        assert site == self.site.id
        self.sizes.append((calls, operations))


def runs(before: Any, session: Session, times: int) -> None:
    for _ in range(times):
        session.graph.operations += 3
        look_up(before, session)


def look_up(before: Any, session: Session) -> None:
    """Stands where the seam's descriptor does, below the line that runs the session."""
    before(session)


def test_sizes_at_each_doubling_of_the_calls_anew_for_another_graph() -> None:
    heard = Heard()
    before = WorkCalls(CallState(heard, lambda file: file == __file__)).of_method("session", lambda frame: None)
    runs(before, Session(Graph(0)), 20)
    assert heard.sizes == [(1, 3), (2, 6), (4, 12), (8, 24), (16, 48)]
    runs(before, Session(Graph(100)), 3)
    assert heard.sizes[5:] == [(1, 103), (2, 106)]
