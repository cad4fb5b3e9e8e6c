"""Which probes record when: claims are kept, wishes for windows are taken, defaults of options reach the probe."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tfperfkit import registry
from tfperfkit.errors import Busy
from tfperfkit.model import ProbeResult
from tfperfkit.option import Option
from tfperfkit.probe import Capture, Cost, Probe, Recording, WindowWish
from tfperfkit.recording.probe_runner import Probing


class Made:
    """A probe that says when it records."""

    api = 1

    def __init__(self, name: str, cost: Cost, claims: set[str], **optional: Any) -> None:
        self.name, self.cost, self.claims = name, cost, frozenset(claims)
        self.recording = False
        self.seen: dict[str, Any] = {}
        for key, value in optional.items():
            setattr(self, key, value)

    @contextlib.contextmanager
    def record(self, recording: Recording, /) -> Iterator[None]:
        self.recording, self.seen = True, dict(recording.options)
        yield
        self.recording = False

    def analyze(self, capture: Capture, /) -> ProbeResult:
        return ProbeResult()


class Session:
    """As much of a session as probes are run by."""

    step = 1

    def __init__(self, probes: list[Made], options: dict[str, Any], windows: dict[str, str]) -> None:
        self.manifest = SimpleNamespace(probes=[p.name for p in probes], options=options, windows=windows)
        self.run = SimpleNamespace(make_probe=lambda name: None)
        self.events: list[dict[str, Any]] = []

    def event(self, kind: str, **fields: Any) -> None:
        self.events.append({"kind": kind, **fields})

    def be_quiet(self, quiet: bool) -> None: ...

    def window_phase(self, probe: str, phase: str, whole: bool = False) -> None: ...

    def window_ended(self, closing: int) -> None: ...


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Any:
    def start(*probes: Made, options: dict[str, Any] | None = None, **windows: str) -> tuple[Probing, Session]:
        known = {probe.name: probe for probe in probes}

        def load(name: str, installed: object = None) -> Probe:
            return known[name]  # type: ignore[return-value]

        monkeypatch.setattr(registry, "available", dict)
        monkeypatch.setattr(registry, "load", load)
        session = Session(list(probes), options or {}, windows)
        probing = Probing(session)  # type: ignore[arg-type]
        probing.choose()
        probing.start()
        return probing, session

    return start


def test_of_two_that_need_the_same_throughout_the_second_is_left_out(started: Any) -> None:
    first, second = Made("one", Cost.FREE, {"gc.callbacks", "x"}), Made("two", Cost.FREE, {"x"})
    other = Made("other", Cost.FREE, {"y"})
    _, session = started(first, second, other)
    assert (first.recording, second.recording, other.recording) == (True, False, True)
    (told,) = [event for event in session.events if event["kind"] == "probe"]
    assert (told["probe"], told["status"]) == ("two", "skipped")
    assert told["reason"] == "the probe one is recording, and both need x for themselves"


def test_a_window_is_not_opened_over_one_that_has_its_claim(started: Any) -> None:
    whole, late = Made("whole", Cost.WINDOW, {"sys.settrace"}), Made("late", Cost.WINDOW, {"sys.settrace"})
    probing, session = started(whole, late, whole="all")
    probing.open_window("late", 5)
    assert whole.recording and not late.recording
    probing.close_window("late")  # there is none: nothing happens
    probing.finish()
    probing.open_window("late", 5)
    assert late.recording and not whole.recording
    assert [event["probe"] for event in session.events if event["kind"] == "opened"] == ["whole", "late"]


def test_what_the_script_uses_for_now_is_asked_for_again(started: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    late = Made("late", Cost.WINDOW, set())
    probing, session = started(late)

    @contextlib.contextmanager
    def refuse(recording: Recording) -> Iterator[None]:
        raise Busy("the script has it")
        yield

    with monkeypatch.context() as patched:
        patched.setattr(late, "record", refuse)
        assert probing.open_window("late", 5)
    assert not probing.open_window("late", 5) and late.recording
    assert [event["kind"] for event in session.events] == ["window", "probe", "window", "opened"]


def test_a_probe_may_wish_for_another_window_and_wrong_wishes_are_the_usual_one(started: Any) -> None:
    wish = WindowWish(seconds=0.1, max_steps=4)
    probing, _ = started(
        Made("short", Cost.WINDOW, set(), window=wish),
        Made("plain", Cost.WINDOW, set()),
        Made("method", Cost.WINDOW, set(), window=print),  # an attribute of its own that is called so
        Made("broken", Cost.WINDOW, set(), window=WindowWish(seconds="long")),  # type: ignore[arg-type]
        Made("endless", Cost.WINDOW, set(), window=WindowWish(seconds=float("nan"))),
        short="7:2",
    )
    assert [spec.wish for spec in probing.windows] == [wish, *[WindowWish()] * 4]
    assert (probing.windows[0].start, probing.windows[0].count) == (7, 2)


def test_options_are_those_that_were_given_and_the_defaults(started: Any) -> None:
    stated = (Option(name="a", type="int", default=3, help="?"), Option(name="b", type="int", default=4, help="?"))
    probe = Made("one", Cost.FREE, set(), options=stated)
    started(probe, options={"one": {"b": 5}})
    assert probe.seen == {"a": 3, "b": 5}
