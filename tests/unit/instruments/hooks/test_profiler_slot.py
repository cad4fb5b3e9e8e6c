"""Leaving Python's place for profilers. A module made here stands for sys.monitoring, which Python has from 3.12 on."""

import sys
import threading
import time
from types import ModuleType

import pytest

from tfperfkit.instruments.hooks.profiler_slot import PROFILER, TRACER, leaving_it


class Taken(ValueError):
    pass


@pytest.fixture
def monitoring() -> ModuleType:
    module = ModuleType("monitoring")
    module.tools = {2: "line_profiler"}

    def use_tool_id(number, name):
        if module.tools.get(number):
            raise Taken(name)
        module.tools[number] = name

    module.use_tool_id = use_tool_id
    return module


def test_leaves_before_another_takes_the_place(monitoring):
    with leaving_it(lambda why: monitoring.tools.pop(2), monitoring):
        assert monitoring.tools == {2: "line_profiler"}
        monitoring.use_tool_id(2, "cProfile")
        assert type(monitoring) is ModuleType
        with pytest.raises(Taken):  # asked once: the second is refused as it would be without us
            monitoring.use_tool_id(2, "another")
    assert monitoring.tools == {2: "cProfile"}


def test_the_module_is_as_before_after_the_window(monitoring):
    before = dict(vars(monitoring))
    left: list[str] = []
    with leaving_it(left.append, monitoring):
        assert type(monitoring).__name__ == "module" and isinstance(monitoring, ModuleType)
        assert vars(monitoring) == before
    assert type(monitoring) is ModuleType and vars(monitoring) == before
    monitoring.tools.clear()
    monitoring.use_tool_id(2, "cProfile")
    assert left == []


def test_no_frame_of_ours_is_in_the_traceback_of_a_refusal(monitoring):
    with leaving_it(lambda why: None, monitoring), pytest.raises(Taken) as refused:
        monitoring.use_tool_id(2, "cProfile")
    assert [entry.name for entry in refused.traceback] == [
        "test_no_frame_of_ours_is_in_the_traceback_of_a_refusal",
        "use_tool_id",
    ]


def test_an_error_of_ours_stays_with_us(monitoring):
    monitoring.tools.clear()
    with leaving_it(lambda why: 1 / 0, monitoring):
        monitoring.use_tool_id(2, "cProfile")
    assert monitoring.tools == {2: "cProfile"}


@pytest.mark.parametrize("module", [object(), ModuleType("without"), type("Own", (ModuleType,), {})("own")])
def test_an_unknown_monitoring_is_left_alone(module):
    kind = type(module)
    with leaving_it(pytest.fail, module):
        assert type(module) is kind


def test_a_class_that_the_script_gave_it_meanwhile_stays(monitoring):
    own = type("Own", (ModuleType,), {})
    with leaving_it(lambda why: None, monitoring):
        monitoring.__class__ = own
    assert type(monitoring) is own


def test_the_setting_of_a_trace_function_is_heard_of_once(monitoring):
    before, left = sys.gettrace(), []
    with leaving_it(left.append, monitoring):
        sys.settrace(before)
        assert left == [TRACER] and type(monitoring) is ModuleType
        sys.settrace(before)
        monitoring.tools.clear()
        monitoring.use_tool_id(2, "cProfile")
    sys.settrace(before)
    assert left == [TRACER]


def test_an_asking_ends_the_hearing_too(monitoring):
    before, left = sys.gettrace(), []
    monitoring.tools.clear()
    with leaving_it(left.append, monitoring):
        monitoring.use_tool_id(2, "cProfile")
        sys.settrace(before)
    assert left == [PROFILER]


def test_an_error_of_ours_does_not_stop_a_debugger(monitoring):
    with leaving_it(lambda why: 1 / 0, monitoring):
        sys.settrace(sys.gettrace())


def test_the_name_can_be_replaced_and_deleted(monitoring):
    left: list[str] = []
    with leaving_it(left.append, monitoring):
        monitoring.use_tool_id = 5
    assert vars(monitoring)["use_tool_id"] == 5 and type(monitoring) is ModuleType
    monitoring.use_tool_id = print
    with leaving_it(left.append, monitoring):
        del monitoring.use_tool_id
    assert not hasattr(monitoring, "use_tool_id") and left == []


def test_a_trace_function_of_another_thread_is_no_reason(monitoring):
    left: list[str] = []
    with leaving_it(left.append, monitoring):
        thread = threading.Thread(target=lambda: sys.settrace(None))
        thread.start()
        thread.join()
        assert left == [] and type(monitoring) is not ModuleType


def test_a_ctrl_c_while_leaving_reaches_the_script(monitoring):
    interrupts = [KeyboardInterrupt("the script's")]

    def leave(why):
        if interrupts:
            raise interrupts.pop()
        monitoring.tools.clear()

    with pytest.raises(KeyboardInterrupt, match="the script's"), leaving_it(leave, monitoring):
        monitoring.use_tool_id(2, "cProfile")
        assert monitoring.tools == {2: "cProfile"}
        for _ in range(500):
            time.sleep(0.01)


if sys.version_info >= (3, 12):

    def test_cprofile_asks_where_it_is_heard():
        """The real module. make test-versions runs it."""
        import cProfile

        left: list[str] = []
        with leaving_it(left.append):
            profile = cProfile.Profile()
            profile.enable()
            profile.disable()
        assert left == [PROFILER]
