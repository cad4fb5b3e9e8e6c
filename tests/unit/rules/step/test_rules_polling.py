"""The reason why a line sleeps, by the source; and STP004's words about the line, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from eager_builder import leaf, seen, site, sites
from evidence_builder import FILE, make_evidence, make_steps
from tfperfkit_rules.measures.polling import find_pause, may_wait_outside
from tfperfkit_rules.step import on_purpose, python_time

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame


def sleeping(source: str, line: int) -> Any:
    """Return a loop that sleeps 40 % of its time at a line."""
    table = make_steps(60)
    frame = (Frame(FILE, 1, "<module>", line, None, ()),)
    spied = seen(table, [(40, "python", frame), (60, "graph", leaf(1))])
    return make_evidence(
        parts_ms={"python": 4.0, "graph": 6.0},
        steps=table,
        source=source,
        **spied._asdict(),
        records=sites(site(1, "call", 1, loops=(1,))),
    )


HEAD = "import queue, threading, time, subprocess\nfrom multiprocessing import Process\n"
QUEUE = "work = queue.Queue()\n"


@pytest.mark.parametrize(
    ("code", "asks", "blocks"),
    [
        (QUEUE + "while work.empty():\n    time.sleep(1)\n", "work.empty()", "work.get()"),
        (QUEUE + "while work.qsize() == 0:\n    time.sleep(1)\n", "work.qsize()", "work.get()"),
        (QUEUE + "while True:\n    if not work.full():\n        break\n    time.sleep(1)\n",
         "work.full()", "work.put(item)"),
        (QUEUE + "while go():\n    if work.empty():\n        time.sleep(1)\n        continue\n    use(work.get())\n",
         "work.empty()", "work.get()"),
        (QUEUE + "while go():\n    try: use(work.get_nowait())\n    except queue.Empty:\n        time.sleep(1)\n",
         "work.get_nowait()", "work.get()"),
        ("def until(met, pause=1):\n    while not met():\n        time.sleep(pause)\nuntil(event.is_set)\n",
         "event.is_set()", "event.wait()"),
        ("def until(met):\n    while not met():\n        time.sleep(1)\nuntil(met=lambda: job.done())\n",
         "job.done()", "job.result()"),
        ("while not exchange.there:\n    time.sleep(1)\n", "not exchange.there", ""),
        ("while len(buffer) >= 8:\n    time.sleep(1)\n", "len(buffer) >= 8", ""),
    ],
)  # fmt: skip
def test_a_polling_loop_is_known_however_it_is_written(code: str, asks: str, blocks: str) -> None:
    lines = (HEAD + code).splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "time.sleep" in text)
    pause = find_pause(sleeping(HEAD + code, line), (FILE, line))
    assert pause is not None and (pause.reason, pause.asks, pause.blocks) == ("state", asks, blocks)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("p = subprocess.Popen(a)\nwhile p.poll() is None:\n    time.sleep(1)\n", "process"),
        ("p = Process(target=f)\nwhile p.is_alive():\n    time.sleep(1)\n", "process"),
        ("while p.exitcode is None:\n    time.sleep(1)\n", "process"),
        ("import os\nwhile not os.path.exists(path):\n    time.sleep(1)\n", "process"),
        ("import pathlib\nwhile not pathlib.Path(name).exists():\n    time.sleep(1)\n", "process"),
        ("while time.monotonic() < due:\n    time.sleep(0.01)\n", "clock"),
        ("for a in b:\n    left = due - time.time()\n    if left > 0:\n        time.sleep(left)\n", "clock"),
        ("while True:\n    try:\n        send()\n    except OSError:\n        time.sleep(1)\n", "retry"),
    ],
)
def test_another_process_a_pace_and_another_try_are_told_apart(code: str, reason: str) -> None:
    lines = (HEAD + code).splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "time.sleep" in text)
    pause = find_pause(sleeping(HEAD + code, line), (FILE, line))
    assert pause is not None and pause.reason == reason


@pytest.mark.parametrize(
    "code",
    [
        "for a in b:\n    time.sleep(1)\n",
        "while not stop.is_set():\n    report()\n    time.sleep(1)\n",  # it works now and then
        "class Box:\n    def empty(self): pass\nwhile box.empty():\n    time.sleep(1)\n",
        "while counter.value < 3:\n    time.sleep(1)\n",  # may be another process's
    ],
)
def test_of_other_pauses_nothing_is_said(code: str) -> None:
    lines = (HEAD + code).splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "time.sleep" in text)
    assert find_pause(sleeping(HEAD + code, line), (FILE, line)) is None


EVENT = "stop, pause = threading.Event(), threading.Event()\n"


@pytest.mark.parametrize(
    ("code", "asks", "blocks"),
    [
        (EVENT + QUEUE + "while work.empty():\n    pause.wait(0.02)  # here\n", "work.empty()", "work.get()"),
        (EVENT + QUEUE + "while not stop.wait(0.02):  # here\n    if work.empty():\n        continue\n"
         "    use(work.get())\n", "work.empty()", "work.get()"),
        ("import select\n" + QUEUE + "while work.empty():\n    select.select([], [], [], 0.1)  # here\n",
         "work.empty()", "work.get()"),
        (QUEUE + "while True:\n    try:\n        use(work.get_nowait())  # here\n"
         "    except queue.Empty:\n        continue\n", "work.get_nowait()", "work.get()"),
        (EVENT + "while not stop.is_set():  # here\n    pass\n", "stop.is_set()", "stop.wait()"),
    ],
)  # fmt: skip
def test_polling_without_a_sleep(code: str, asks: str, blocks: str) -> None:
    lines = (HEAD + code).splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "# here" in text)
    pause = find_pause(sleeping(HEAD + code, line), (FILE, line))
    assert pause is not None and (pause.reason, pause.asks, pause.blocks) == ("state", asks, blocks)


@pytest.mark.parametrize(
    "code",
    [
        EVENT + "while not stop.is_set():\n    stop.wait(0.5)  # here\n",  # returns as soon as it is set
        EVENT + "while not stop.wait(0.5):  # here\n    report()\n",
        QUEUE + "while True:\n    try: use(work.get(timeout=1))  # here\n    except queue.Empty: continue\n",
        QUEUE + "while True:\n    use(work.get())  # here\n",
        "import select\nwhile True:\n    select.select([sock], [], [], 1)  # here\n    use(sock)\n",
    ],
)
def test_waits_that_end_with_what_they_wait_for_are_no_polling(code: str) -> None:
    lines = (HEAD + code).splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "# here" in text)
    assert find_pause(sleeping(HEAD + code, line), (FILE, line)) is None


def test_a_timed_wait_between_checks_is_a_pause() -> None:
    waiting = POLLED.replace("        time.sleep(0.02)\n    step", "        pause.wait(0.02)\n    step")
    waiting = waiting.replace("threading, time\n", "threading, time; pause = threading.Event()\n")
    (found,) = on_purpose.waits(sleeping(waiting, 9))
    assert found.title == "Script waits on purpose: sleeping between checks of work.empty(), 40 % of a step"
    assert found.gain.bounds and found.gain.bounds[0] > 1.3 and "work.get() waits" in found.advice


POLLED = """\
import queue, threading, time
work = queue.Queue(maxsize=1)
def fill():
    while work.full():
        time.sleep(0.02)
    work.put(1)
while True:
    while work.empty():
        time.sleep(0.02)
    step(work.get())
"""


def test_a_queue_that_is_polled_is_to_block() -> None:
    given = sleeping(POLLED, 9)
    (found,) = on_purpose.waits(given)
    assert found.title == "Script waits on purpose: sleeping between checks of work.empty(), 40 % of a step"
    assert "work.get() waits" in found.advice and "maxsize=8" in found.advice
    assert {SourceSpan(FILE, 9), SourceSpan(FILE, 5, "fill")} <= set(found.where)
    assert found.severity != "info" and found.gain.bounds and found.gain.bounds[0] > 1.3
    assert not list(python_time.hot_python(given))


def test_where_a_machine_or_a_program_may_set_the_time_no_gain_is_predicted() -> None:
    given = sleeping(
        POLLED.replace("work.put(1)", "work.put(requests.get(url))").replace("import queue", "import requests, queue"),
        9,
    )
    assert may_wait_outside(given) and not may_wait_outside(sleeping(POLLED, 9))
    (found,) = on_purpose.waits(given)
    assert found.severity == "info" and found.gain.bounds is None
    program = POLLED.replace("work.empty()", "program.poll() is None")
    (found,) = on_purpose.waits(sleeping(program, 9))
    assert found.gain.bounds is None and "program.wait()" in found.advice


def test_a_pause_on_purpose_is_a_remark() -> None:
    (pace,) = on_purpose.waits(sleeping(POLLED.replace("work.empty()", "time.monotonic() < due"), 9))
    assert (pace.severity, pace.gain.bounds) == ("info", None) and "keep a pace" in pace.title
