"""Why a line sleeps: it looks at a state again and again, keeps a pace, or tries once more.

A line sleeps by ``time.sleep``, by ``select`` without files, or by waiting with a time limit for something else than
it looks at (``pause.wait(0.02)``). Python's library has a call that blocks until most states are reached, so that
nobody needs to look: ``Queue.get`` for ``Queue.empty``, ``Event.wait`` for ``Event.is_set``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal, NamedTuple

from tfperfkit.syntax.expression import Call, Code, Expression
from tfperfkit.syntax.module import Syntax, get_file
from tfperfkit.syntax.names import UNKNOWN
from tfperfkit.syntax.nodes import FUNCTIONS

#: Functions that block until a state is reached, by the method or attribute that shows the state.
_BLOCKS = {
    "empty": "get()", "qsize": "get()", "get_nowait": "get()", "full": "put(item)", "put_nowait": "put(item)",
    "is_set": "wait()", "is_alive": "join()", "done": "result()", "running": "result()", "ready": "wait()",
    "poll": "wait()", "exitcode": "join()", "returncode": "wait()", "locked": "acquire()",
}  # fmt: skip
#: These look at another process, whatever object they belong to.
_OF_PROCESSES = ("poll", "exitcode", "returncode")
#: The beginnings of APIs that start other processes or wait for them.
PROCESSES = ("multiprocessing.", "subprocess.", "concurrent.futures.ProcessPoolExecutor", "os.wait")
_SLEEP = "time.sleep"
#: Functions that look at a file, which another process may write.
_OF_FILES = (
    "os.path.exists", "os.path.isfile", "os.path.getmtime", "os.path.getsize", "os.stat", "os.listdir", "os.scandir",
    "glob.glob", "pathlib.Path().exists", "pathlib.Path().is_file", "pathlib.Path().stat", "pathlib.Path().glob",
)  # fmt: skip
_CLOCKS = ("time.time", "time.monotonic", "time.perf_counter", "time.process_time", "datetime.datetime.now")
#: Lists of files that ``select`` takes.
_FILES = 3
_EXITS = (ast.Break, ast.Return, ast.Continue, ast.Pass, ast.Raise)


class Pause(NamedTuple):
    """Why a line sleeps. ``reason``: it waits for a "state" of this process or for another "process", keeps a pace by
    the "clock", or will "retry". ``asks``: what it looks at again and again, as it is written; ``owner``: the object
    that it asks; ``blocks``: the call that would wait for it, "" if there is none."""

    reason: Literal["state", "process", "clock", "retry"]
    asks: str = ""
    owner: str = ""
    blocks: str = ""


def find_pauses(syntax: Syntax) -> dict[int, Pause]:
    """Find the lines of a file that sleep for a known reason, and those that ask without a pause."""
    found = {call.line: _find_reason(call) for call in syntax.calls if call.name == _SLEEP}
    for call in syntax.calls:
        if _waits_for_time(call) and call.line not in found:
            pause = _find_reason(call)
            # A state of the object that it waits for ends the wait at once.
            other = pause is not None and pause.asks and call.receiver is not None and pause.owner == call.receiver.text
            found[call.line] = None if other else pause
    for call in _find_spinning_calls(syntax):
        found.setdefault(call.line, next(_find_asked(call, given=True), None))
    return {line: pause for line, pause in found.items() if pause is not None}


def _waits_for_time(call: Call) -> bool:
    """Return whether a call waits with a time limit: ``Event.wait(0.1)``, ``Condition.wait(timeout=0.1)``, or
    ``select.select([], [], [], 0.1)``."""
    if call.name == "select.select":
        return len(call.arguments) > _FILES and all(item.is_list and not item.items for item in call.arguments[:_FILES])
    is_wait = call.name.startswith("threading.") and call.name.rpartition(".")[2] == "wait"
    return is_wait and bool(call.given)


def _find_spinning_calls(syntax: Syntax) -> Iterator[Call]:
    """Find the calls that a ``while`` loop makes again and again without a pause: its test if it does nothing else, or
    what it tries, if the failure only leads to another try."""
    for loop in syntax.find_nodes(ast.While):
        if all(_only_waits(syntax, item) for item in loop.body):
            yield from syntax.wrap(loop.test).calls
        for item in loop.body:
            if isinstance(item, ast.Try) and all(_only_waits(syntax, each) for each in _list_handled(item)):
                yield from (call for each in item.body for call in Code(each, syntax).calls)


def _list_handled(node: ast.Try) -> list[ast.stmt]:
    return [item for handler in node.handlers for item in handler.body]


def _find_reason(call: Call) -> Pause | None:
    tests, tries = _list_conditions(call)
    asked = next((pause for item in (*tests, *tries) for pause in _find_asked(item, given=True)), None)
    if asked is not None:
        return asked
    if any(map(_reads_clock, (*tests, *call.arguments))):
        return Pause("clock")
    flag = next((test.text for test in tests if _is_flag(test)), None)
    if flag is not None:
        return Pause("state", flag, flag)
    return Pause("retry") if tries else None


def _list_conditions(call: Call) -> tuple[list[Expression], list[Expression]]:
    """Return the tests that decide whether a pause is made, up to the ``while`` around it, and what the ``try``
    evaluates whose handler makes it. The test of a ``while`` counts if the loop does nothing else but wait."""
    file = get_file(call)
    tests: list[ast.expr] = []
    tries: list[Expression] = []
    node: ast.AST = call.node
    while (around := file.parents.get(node)) is not None and not isinstance(around, (*FUNCTIONS, ast.Lambda)):
        if isinstance(around, ast.If) and node is not around.test:
            tests.append(around.test)
        elif isinstance(around, ast.Try) and isinstance(node, ast.ExceptHandler):
            lines = range(around.body[0].lineno, around.handlers[0].lineno)
            tries += [item for item in file.calls if item.line in lines]
        elif isinstance(around, ast.While):
            if node is around.test or all(_only_waits(file, item) for item in around.body):
                tests += [around.test, *(item.test for item in around.body if isinstance(item, ast.If))]
            break
        elif isinstance(around, (ast.For, ast.AsyncFor)):
            break
        node = around
    return [file.wrap(test) for test in tests], tries


def _only_waits(file: Syntax, node: ast.stmt) -> bool:
    """Return whether a statement does no more than to sleep, to look, or to leave."""
    if isinstance(node, ast.If):
        return all(_only_waits(file, item) for item in (*node.body, *node.orelse))
    if isinstance(node, ast.Expr):
        value = file.wrap(node.value)
        return value.is_constant() or (isinstance(value, Call) and (value.name == _SLEEP or _waits_for_time(value)))
    return isinstance(node, _EXITS)


def _find_asked(test: Expression, *, given: bool) -> Iterator[Pause]:
    """Yield the states that an expression looks at. ``given``: also in what calls give for a parameter that it
    calls."""
    for part in test.parts:
        if part.kind == "attribute" and part.last_name in _BLOCKS:
            yield from _make_pause(part)
        elif isinstance(part, Call) and (methods := _list_kept_methods(part.function)):
            yield from _make_pause(methods[0])
        elif isinstance(part, Call) and part.name in _OF_FILES:
            yield Pause("process", part.text)
        elif given and isinstance(part, Call) and part.function.kind == "name":
            for value in _list_given(part.function):
                yield from _find_asked(value, given=False)


def _list_kept_methods(function: Expression) -> list[Expression]:
    """List the methods that a name was assigned, if all of them look at a state: ``is_empty = work.empty``."""
    methods = function.assigned if function.kind == "name" else []
    return methods if all(item.last_name in _BLOCKS for item in methods) else []


def _make_pause(asked: Expression) -> Iterator[Pause]:
    method, file = asked.last_name, get_file(asked)
    own = any(item.owner and item.name == method for item in file.functions)
    if asked.owner is None or (own and asked.api.startswith(UNKNOWN)):
        return  # a method of the user's own: what it looks at isn't known
    of_process = method in _OF_PROCESSES or asked.api.startswith(PROCESSES)
    text = asked.text if method in ("exitcode", "returncode") else f"{asked.text}()"
    yield Pause("process" if of_process else "state", text, asked.owner.text, f"{asked.owner.text}.{_BLOCKS[method]}")


def _list_given(name: Expression) -> Iterator[Expression]:
    """List the arguments that calls pass for a parameter of the function around a name."""
    file = get_file(name)
    function = file.find_function(name.line)
    if function is None or name.text not in function.parameters:
        return
    for call in file.find_calls(function.name):
        value = call.get_argument(name.text, function.parameters.index(name.text))
        if value is not None:
            yield value


def _reads_clock(item: Expression) -> bool:
    """Return whether an expression depends on the time, in the file's own assignments too."""
    values = [value for part in item.parts if part.kind == "name" for value in part.assigned]
    return any(call.name.removesuffix("_ns") in _CLOCKS for value in (item, *values) for call in value.calls)


def _is_flag(test: Expression) -> bool:
    """Return whether a test looks at a variable, an attribute or the length of a container, which another thread
    changes."""
    plain = all(call.function.text == "len" for call in test.calls)
    shared_memory = any(part.kind == "attribute" and part.last_name == "value" for part in test.parts)
    return plain and not shared_memory and bool(test.read_names - {"len"})
