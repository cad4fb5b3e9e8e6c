"""Time that is spent on purpose, on made-up evidence: sleeping, waiting, collecting garbage by hand."""

from __future__ import annotations

from typing import Any

import pytest
from eager_builder import leaf, seen, site, sites
from evidence_builder import FILE, MS, make_evidence, make_steps
from tfperfkit_rules.step import collected_by_hand, on_purpose, python_time, side_work, uncollected
from tfperfkit_rules.step.uncollected import COLD_CALLS_MAX, COLD_CALLS_MIN, without_collections

from tfperfkit.model import Finding, SourceSpan, Work
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.spans import Spans


def looped(line: str, *called: str, share: int = 40, activity: str = "python", rare: bool = False) -> Any:
    """Return a training loop of which a line takes some per cent."""
    table = make_steps(60)
    frame = (Frame(FILE, 1, "<module>", 2, None, called),)
    spied = seen(table, [(share, activity, frame), (100 - share, "graph", leaf(3))])
    given = make_evidence(
        parts_ms={"python": share / 10, "graph": 10 - share / 10},
        steps=table,
        source=f"for i in r:\n    {line}\n    step(x)\n",
        **spied._asdict(),
        records=sites(site(1, "call", 3, loops=(1,))),
    )
    if rare:  # all of it in one step
        last = table.clean[-1]
        stacks = {1: Stack(frame, "", activity), 2: Stack(leaf(3), "tensorflow", "graph")}
        width = last.begin_ns // 100
        taken = [(n * width, 2) for n in range(40, 100)] + [(last.begin_ns + n, 1) for n in range(40)]
        given.log = SampleLog(stacks, taken)
    return given


@pytest.mark.parametrize(
    ("line", "called", "words", "advice"),
    [
        ("time.sleep(0.1)", (), "sleeping (time.sleep)", "pause"),
        ("q.get()", ("queue:get",), "waiting for other threads", "more workers"),
        ("pool.map(f, x)", ("multiprocessing.pool:__exit__",), "starting and ending processes", "once"),
        ("pool.map(f, x)", ("multiprocessing.pool:map", "multiprocessing.pool:get"), "waiting for", "more workers"),
        ("subprocess.run(['ls'])", ("subprocess:run",), "running other programs (subprocess.run)", "keep it running"),
        ("asyncio.run(later())", ("asyncio.runners:run",), "waiting for other threads", "more workers"),
    ],
)
def test_what_waits_is_reported_at_its_line(line: str, called: tuple[str, ...], words: str, advice: str) -> None:
    given = looped(line, *called)
    (finding,) = on_purpose.waits(given)
    assert (finding.code, finding.where[0]) == ("STP004", SourceSpan(FILE, 2))
    assert finding.title.endswith(", 40 % of a step") and words in finding.title
    assert advice in finding.advice
    assert not list(python_time.hot_python(given)) and not list(side_work.hot_path(given))


def test_a_pause_can_go_whole_and_another_threads_work_perhaps_not() -> None:
    (pause,), (queue,) = on_purpose.waits(looped("time.sleep(1)")), on_purpose.waits(looped("q.get()", "queue:get"))
    assert pause.gain.bounds and 1.3 < pause.gain.bounds[0] < 1.67 < pause.gain.bounds[1] < 2.1
    assert queue.gain.bounds is None and queue.gain.likely is None
    assert queue.gain.high and 1.67 < queue.gain.high < 2.1 and queue.severity != "info"


def awaiting(name: str, line: int, *called: str, count: int = 60, activity: str = "python") -> Any:
    """Return a queue that is waited for, with samples of the thread that fills it, at a line of its own."""
    source = "for i in r:\n    q.get()\n    step(x)\ndef fill():\n    time.sleep(1)\n    q.put(make(k))\n"
    given = looped("q.get()", "queue:get")
    end = given.steps.clean[-1].end_ns
    rows = [["stack", 1, [[FILE, 4, name, line, None, *called]], "", activity, ""]]
    rows += [["awaited", end * (n + 1) // (count + 1), 1, 7] for n in range(count)]
    streams = {**sites(site(1, "call", 3, loops=(1,))), "samples": rows}
    return make_evidence(
        parts_ms={"python": 4.0, "graph": 6.0},
        steps=given.steps,
        source=source,
        samples=given.samples,
        log=given.log,
        records=streams,
    )


def test_what_the_awaited_thread_does_is_the_cause() -> None:
    (made,) = on_purpose.waits(awaiting("fill", 6))
    assert made.title == "Script waits on purpose: waiting for another thread, 100 % of which is Python, 40 % of a step"
    assert made.where[:2] == (SourceSpan(FILE, 6, "fill"), SourceSpan(FILE, 2))
    assert made.gain.bounds and 1.3 < made.gain.bounds[0] < 1.67 < made.gain.bounds[1] < 2.1
    assert "processes" in made.detail
    (paused,) = on_purpose.waits(awaiting("fill", 5))
    assert paused.title.endswith("which is sleeping (time.sleep), 40 % of a step") and "pause" in paused.advice
    assert paused.where[0] == SourceSpan(FILE, 5, "fill")


@pytest.mark.parametrize("given", [awaiting("fill", 6, count=3), awaiting("fill", 6, activity="graph")])
def test_of_a_thread_that_was_hardly_seen_or_that_computes_nothing_more_is_told(given: Any) -> None:
    (found,) = on_purpose.waits(given)
    assert found.gain.bounds is None and found.where[0] == SourceSpan(FILE, 2)


def served(server: str) -> Any:
    """Return a loop that reads from a socket, while a thread of the script makes JSON; ``server`` makes a server, or
    not."""
    source = (
        f"import http.server, json, socket, socketserver\nfor i in r:\n    reader.readline()\n    step(x)\n{server}\n"
        "def answer(rows):\n    return json.dumps(rows)\n"
    )
    given = looped("reader.readline()", "socket:readinto")
    end = given.steps.clean[-1].end_ns
    rows = [["stack", 1, [[FILE, 6, "answer", 7, None, "json:dumps"]], "", "python", ""]]
    rows += [["awaited", end * (n + 1) // 61, 1, 7] for n in range(60)]
    table = given.steps
    frame = (Frame(FILE, 1, "<module>", 3, None, ("socket:readinto",)),)
    spied = seen(table, [(40, "python", frame), (60, "graph", leaf(4))])
    return make_evidence(
        parts_ms={"python": 4.0, "graph": 6.0},
        steps=table,
        source=source,
        **spied._asdict(),
        records={**sites(site(2, "call", 4, loops=(2,))), "samples": rows},
    )


@pytest.mark.parametrize(
    "server",
    [
        "s = http.server.ThreadingHTTPServer(('localhost', 0), H)",
        "class S(socketserver.TCPServer): pass\ns = S(('', 1), H)",
        "s = socket.create_server(('127.0.0.1', 0))",
    ],
)
def test_a_server_in_the_script_is_named_by_what_it_does(server: str) -> None:
    given = served(server)
    (found,) = on_purpose.waits(given)
    assert "another thread, 100 % of which is parsing and serialising (json.dumps)" in found.title
    assert found.where[0].line == 7 and "tobytes" in found.advice
    assert not list(python_time.hot_python(given))


def test_what_waits_for_a_server_elsewhere_is_the_network() -> None:
    given = served("s = http.client.HTTPConnection('feed.example')")
    assert not list(on_purpose.waits(given))
    (found,) = python_time.hot_python(given)
    assert "Waiting for the network" in found.title and "machine" not in found.advice


SERVER = """\
for i in r:
    q.get()
    step(x)
def serve():
    while True:
        collect()
def collect():
    while True:
        batch.append(inbox.get(timeout=left))
"""


def stood(source: str = SERVER, *, moments: int = 60, limited: int = 50) -> Any:
    """Return a queue that is waited for while nobody works: two others wait too, of which one waits in line 9."""
    given = looped("q.get()", "queue:get")
    end = given.steps.clean[-1].end_ns
    waits = [FILE, 7, "collect", 9, [9, 9, 21, 44], "queue:get"]
    rows: list[Any] = [
        ["stack", 1, [[FILE, 4, "serve", 6, None], waits], "", "python", ""],
        ["stack", 2, [[FILE, 20, "client", 21, None, "threading:wait"]], "", "python", ""],
    ]
    for n in range(moments):
        when = end * (n + 1) // (moments + 1)
        rows += [["standing", when, number, 6 + number] for number in ((1, 2) if n < limited else (2,))]
    return make_evidence(
        parts_ms={"python": 4.0, "graph": 6.0},
        steps=given.steps,
        source=source,
        samples=given.samples,
        log=given.log,
        records={**sites(site(1, "call", 3, loops=(1,))), "samples": rows},
    )


@pytest.mark.parametrize("call", ["inbox.get(timeout=left)", "inbox.get(True,   left)"])
def test_where_nobody_works_the_wait_with_a_time_limit_is_named(call: str) -> None:
    (found,) = on_purpose.waits(stood(SERVER.replace("inbox.get(timeout=left)", call)))
    assert "while collect waits with a time limit" in found.title and "get_nowait()" in found.advice
    assert found.where[:3] == (SourceSpan(FILE, 9, "collect"), SourceSpan(FILE, 6, "serve"), SourceSpan(FILE, 2))
    assert found.gain.bounds is None and found.gain.high and "No thread of the script works" in found.detail


@pytest.mark.parametrize(
    "given",
    [stood(SERVER.replace("timeout=left", "timeout=None")), stood(limited=20), stood(moments=10, limited=10)],
    ids=["no limit", "seldom", "few"],
)
def test_else_the_line_that_waits_comes_first(given: Any) -> None:
    (found,) = on_purpose.waits(given)
    assert found.where[0] == SourceSpan(FILE, 2) and "time limit" not in found.title + found.detail


def test_a_rare_or_short_wait_is_left_in_peace() -> None:
    assert not list(on_purpose.waits(looped("time.sleep(1)", share=3)))
    assert not list(on_purpose.waits(looped("time.sleep(1)", rare=True)))
    assert not list(on_purpose.waits(looped("sleep(1)")))  # the user's own function


def collecting(each_ms: float = 4.0, line: str = "gc.collect()") -> Any:
    """60 steps of 10 ms; in each a collection, behind which one sample of line 2 is taken."""
    table = make_steps(60)
    stacks = {
        1: Stack((Frame(FILE, 1, "<module>", 2, None, ()),), "", "python"),
        2: Stack(leaf(3), "tensorflow", "graph"),
    }
    taken, spans = [], []
    for step in table.steps:
        end = step.begin_ns + round(each_ms * MS)
        spans.append((step.begin_ns, end))
        taken += [(end + 1000, 1), *((end + n * MS, 2) for n in range(1, 5))]
    log = SampleLog(stacks, taken)
    given = make_evidence(
        parts_ms={"gc": each_ms, "python": 1.0, "graph": 9 - each_ms},
        steps=table,
        source=f"for i in r:\n    {line}\n    step(x)\n",
        log=log,
        samples=log.samples([(0, table.steps[-1].end_ns)]),
        records=sites(site(1, "call", 3, loops=(1,))),
        collections=Spans(spans),
    )
    return given


def test_collections_by_hand_are_told_with_their_own_time() -> None:
    given = collecting()
    (finding,) = collected_by_hand.collects(given)
    assert (finding.code, finding.where[0]) == ("STP005", SourceSpan(FILE, 2))
    assert finding.share_of_step == pytest.approx(0.4, abs=0.01) and "gc" in finding.parts
    assert finding.gain.bounds and 1.6 < finding.gain.bounds[0] < 1.71 <= finding.gain.bounds[1] < 1.8
    assert not list(python_time.hot_python(given))


def test_a_full_collection_behind_which_no_sample_fell_is_the_lines_too() -> None:
    given = collecting()
    stacks = dict(enumerate(given.samples.stacks))
    numbers = {id(stack): n for n, stack in stacks.items()}
    at_line = [(when, stack) for when, stack in given.log.inside(given.log.whole)]
    sixth = {when for n, (when, _) in enumerate(item for item in at_line if item[1].activity == "python") if n % 6 == 0}
    given.log = SampleLog(stacks, [(when, numbers[id(stack)]) for when, stack in at_line if when not in sixth])
    (finding,) = collected_by_hand.collects(given)
    assert finding.share_of_step == pytest.approx(0.4, abs=0.01)
    assert next(item.value for item in finding.evidence if item.name == "garbage collections") <= 50


@pytest.mark.parametrize("graph", [0.0, 0.3, 1.0])
def test_without_collections_the_rest_of_the_step_is_left(graph: float) -> None:
    shares = [n / 100 for n in range(5, 100)]
    ranges = [without_collections((share, share), graph).bounds for share in shares]
    assert ranges == sorted(ranges)  # the more was collected the more is gained
    for share, (low, high) in zip(shares, ranges, strict=True):
        assert low <= 1 / (1 - share) / (1 - COLD_CALLS_MIN.value) and high >= min(1 / (1 - share), 99.9)
        # Caches and threads are the calls' alone, and never all of them.
        assert high <= min(1 / (1 - share) / (1 - (graph and COLD_CALLS_MAX.value)), 100) + 1e-6
        assert high / low < 3.5  # widest if almost nothing is left of the step


def test_timed_collections_are_as_sure_as_the_rest_of_the_step() -> None:
    low, high = uncollected.shares(0.95, 0)
    assert low == 0.95 < high < 0.952
    wide = uncollected.shares(0.95, 40)
    assert wide[0] < low and wide[1] > high


def test_the_breakdowns_figure_is_reported_and_the_range_has_both_accounts() -> None:
    told, bounds = uncollected.as_broken_down(0.858, (0.858, 0.861), 0.838)
    assert told == 0.838 and bounds == (0.838, 0.861)
    # Collections that are not the line's make it larger: then the two are not of the same thing.
    assert uncollected.as_broken_down(0.4, (0.4, 0.41), 0.6) == (0.4, (0.4, 0.41))


def test_pythons_own_collections_are_not_by_hand() -> None:
    assert not list(collected_by_hand.collects(collecting(line="collect()")))
    assert not list(collected_by_hand.collects(collecting(each_ms=0.1)))


def of_work(given: Any, *, kind: Any = "loop", iterations: int | None = None) -> Any:
    given.work = Work(kind=kind, where=SourceSpan(FILE, 1), seconds=3.0, share_of_run=0.5, iterations=iterations)
    return given


def test_the_same_is_reported_of_work_that_trains_nothing() -> None:
    (finding,) = on_purpose.waits(of_work(looped("time.sleep(0.1)"), iterations=60))
    assert finding.title.startswith("Script waits on purpose: sleeping")
    (finding,) = on_purpose.waits(of_work(looped("time.sleep(0.1)", rare=True)))  # its iterations can't be told apart
    assert "% of the loop at train.py:1" in finding.title
    (finding,) = on_purpose.waits(of_work(looped("time.sleep(0.1)"), kind="call"))
    assert "% of the call at train.py:1" in finding.title


def test_a_model_that_is_loaded_in_the_loop_is_not_saved() -> None:
    def told(name: str, *, work: bool = True) -> Finding:
        line, called = f"m = keras.models.{name}(p)", f"keras.src.saving.saving_api:{name}"
        given = looped(line, called, activity="saving")
        (finding,) = side_work.hot_path(of_work(given) if work else given)
        return finding

    assert told("load_model").title == "Loading a model takes 40 % of the loop at train.py:1"
    assert "before the loop" in told("load_model").advice
    assert told("save_model", work=False).title == "Saving takes 40 % of the training loop"
