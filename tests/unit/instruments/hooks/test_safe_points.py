"""Places where a thread is about to enter TensorFlow, known from its stack; and the knock on the main thread."""

from __future__ import annotations

import subprocess
import sys
import threading
from _thread import get_ident
from collections.abc import Callable
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

from tfperfkit.instruments.hooks import safe_points
from tfperfkit.instruments.hooks.safe_points import Passing, SafePoints, enters, outside

PACKAGES = "/env/lib/python3.11/site-packages"
USER, KERAS = ("/my/train.py", "predict"), (f"{PACKAGES}/keras/src/utils/traceback_utils.py", "error_handler")


def tf(path: str, function: str) -> tuple[str, str]:
    return f"{PACKAGES}/tensorflow/python/{path}", function


HANDLER = tf("util/traceback_utils.py", "error_handler")
DISPATCH = tf("util/dispatch.py", "op_dispatch_handler")
OPERATOR = tf("ops/tensor_math_operator_overrides.py", "_matmul_factory")
NEXT_ELEMENT = tf("framework/tensor.py", "__next__")
FUNCTION = tf("eager/polymorphic_function/polymorphic_function.py", "__call__")
EXECUTE = tf("eager/execute.py", "quick_execute")
GRADIENT = tf("eager/backprop.py", "_gradient_function")
PY_FUNC = tf("ops/script_ops.py", "__call__")


def stack(*frames: tuple[str, str]) -> FrameType:
    """Return a frame that was called through these, innermost last, from outside of TensorFlow as this file's tests
    are."""
    made: list[FrameType] = []
    call: Callable[[], Any] = lambda: made.append(sys._getframe(1))  # noqa: E731
    for file, function in reversed(frames):
        names: dict[str, Any] = {"call": call}
        exec(compile(f"def {function}():\n    call()", file, "exec"), names)
        call = names[function]
    call()
    return made[0]


@pytest.mark.parametrize(
    ("frames", "entering", "away"),
    [
        ([USER], True, True),
        ([USER, HANDLER], True, False),
        ([USER, HANDLER, DISPATCH, HANDLER], True, False),
        ([USER, OPERATOR, HANDLER], True, False),
        ([USER, NEXT_ELEMENT, HANDLER, DISPATCH, HANDLER], True, False),
        ([USER, HANDLER, EXECUTE, NEXT_ELEMENT, HANDLER], False, False),  # TensorFlow iterates over a tensor
        ([USER, KERAS], True, True),
        ([USER, KERAS, HANDLER, FUNCTION], True, False),
        ([USER, FUNCTION, EXECUTE], False, False),
        ([USER, EXECUTE, HANDLER], False, False),
        ([USER, GRADIENT, HANDLER], False, False),  # the gradient of an operation calls an operation
        ([USER, HANDLER, FUNCTION, EXECUTE, PY_FUNC, USER, HANDLER], False, False),  # Python called by TensorFlow
        ([USER, PY_FUNC, USER], False, False),
        ([USER, tf("eager/polymorphic_function/polymorphic_function.py", "_initialize"), HANDLER], False, False),
        ([USER, (f"{PACKAGES}/tensorflow/lite/tools.py", "convert"), HANDLER], False, False),
        ([("/home/me/tensorflow/train.py", "main")], True, True),  # the user's own folder
    ],
)
def test_the_stack_tells(frames: list[tuple[str, str]], entering: bool, away: bool) -> None:
    frame = stack(*frames)
    assert (enters(frame), outside(frame)) == (entering, away)


class Seams:
    """One seam; ``passing`` while somebody waits."""

    def __init__(self) -> None:
        self.passing: Passing | None = None
        self.points = SafePoints((self._install,))
        self.ran: list[int] = []

    def _install(self, passing: Passing) -> Callable[[], None]:
        self.passing = passing

        def restore() -> None:
            self.passing = None

        return restore

    def ask(self, thread: int | None = None) -> None:
        self.points.at_next(lambda: self.ran.append(get_ident()), thread or get_ident())


def test_it_runs_once_at_the_first_point() -> None:
    seams = Seams()
    assert seams.passing is None
    seams.ask()
    passing = seams.passing
    assert passing is not None
    passing(stack(USER, EXECUTE, HANDLER))
    assert seams.ran == []
    passing(stack(USER, HANDLER))
    passing(stack(USER, HANDLER))
    assert seams.ran == [get_ident()] and seams.passing is None  # nobody waits: nothing is installed


def test_only_on_its_thread() -> None:
    seams = Seams()
    seams.ask()
    passing = seams.passing
    assert passing is not None
    other = threading.Thread(target=lambda: passing(stack(USER, HANDLER)))
    other.start()
    other.join()
    assert seams.ran == [] and seams.passing is not None


def test_what_is_withdrawn_does_not_run() -> None:
    seams = Seams()
    seams.ask()
    passing = seams.passing
    assert seams.points.withdraw() and not seams.points.withdraw() and seams.passing is None
    assert passing is not None
    passing(stack(USER, HANDLER))
    assert seams.ran == []


def test_what_an_action_raises_is_not_the_scripts() -> None:
    seams = Seams()
    seams.points.at_next(lambda: 1 / 0, get_ident())
    assert seams.passing is not None
    seams.passing(stack(USER, HANDLER))


def test_the_question_that_every_function_asks_is_answered_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(is_traceback_filtering_enabled=lambda: "as ever")
    before = module.is_traceback_filtering_enabled
    monkeypatch.setitem(sys.modules, "tensorflow.python.util.traceback_utils", module)  # type: ignore[arg-type]
    passed: list[FrameType] = []
    restore = safe_points.api_calls(passed.append)
    assert module.is_traceback_filtering_enabled() == "as ever" and passed[0] is sys._getframe()
    restore()
    assert module.is_traceback_filtering_enabled is before
    module.is_traceback_filtering_enabled = None  # an unknown TensorFlow
    safe_points.api_calls(passed.append)()
    assert module.is_traceback_filtering_enabled is None


KNOCK = """
import sys, threading, time
from tfperfkit.instruments.hooks.safe_points import SafePoints
points, ran = SafePoints(()), []
sys.setswitchinterval(1e-6)
def ask():
    for number in range(100):
        points.at_next(lambda: ran.append(threading.current_thread()), threading.main_thread().ident)
        while len(ran) <= number:
            points.knock()
asking = threading.Thread(target=ask)
asking.start()
{body}
while asking.is_alive():
    pass
print(len(ran), set(ran) == {{threading.main_thread()}})
"""


@pytest.mark.parametrize("body", ["", "sys.settrace(lambda *_: None)", "import gc; gc.set_threshold(1)"])
def test_a_knock_is_answered_by_the_main_thread(body: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", KNOCK.format(body=body)],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "100 True\n", "")


def test_a_knock_as_the_interpreter_ends() -> None:
    """Knocks are made until the very end, by a thread that nobody waits for."""
    body = """
import _thread, threading, time
from tfperfkit.instruments.hooks.safe_points import SafePoints
points = SafePoints(())
def knock():
    while True:
        points.at_next(lambda: None, threading.main_thread().ident)
        points.knock()
_thread.start_new_thread(knock, ())
time.sleep(0.05)
"""
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", body], capture_output=True, text=True, check=False, timeout=200
        )
        assert (done.returncode, done.stderr) == (0, "")
