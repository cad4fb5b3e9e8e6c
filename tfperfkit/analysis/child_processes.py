"""Whether a line of the person's waits for processes that it has started, by what it calls."""

from __future__ import annotations

from tfperfkit.records.samples import Frame
from tfperfkit.syntax.module import Syntax

#: Modules whose functions start processes and wait for them. ``concurrent.futures._base`` serves threads too.
_MODULES = ("subprocess", "multiprocessing", "concurrent.futures.process")
_FUTURES = "concurrent.futures._base"
#: Functions of C, which no frame shows.
_C_FUNCTIONS = ("os.wait", "os.system", "posix.wait")
#: What only looks like it: threads with the interface of processes.
_THREADS = ("multiprocessing.dummy", "multiprocessing.pool.ThreadPool", "ThreadPoolExecutor")
_POOLS = "ProcessPoolExecutor"


def waits_for_children(frame: Frame, names: list[str], syntax: Syntax | None) -> bool:
    """``names``: what the frame is calling, by ``Syntax.name``; ``syntax`` of its file."""
    modules = [call.partition(":")[0] for call in frame.calls or ()]
    if any(sign in name for name in (*names, *modules) for sign in _THREADS):
        return False
    if any(_inside(module, _MODULES) for module in modules):
        # A pool's methods may be those of a pool of threads that the line does not name.
        return "multiprocessing.pool" not in modules or not _has(syntax, *_THREADS[:2])
    if _FUTURES in modules:
        return any(_POOLS in name for name in names) or (_has(syntax, _POOLS) and not _has(syntax, _THREADS[2]))
    return not modules and any(name.startswith(_C_FUNCTIONS) for name in names)


def _inside(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def _has(syntax: Syntax | None, *signs: str) -> bool:
    """Whether a file calls such an API anywhere."""
    if syntax is None:
        return False
    called = (syntax.name(call.func) for call in syntax.calls)
    return any(sign in name for name in called for sign in signs)


def called_at(frame: Frame, syntax: Syntax | None) -> list[str]:
    """The APIs that a frame is calling, by the source: ``["?.predict"]``; those of its line where no more is known."""
    if syntax is None:
        return []
    return [syntax.name(call.func) for call in syntax.running_calls(frame.line, frame.span)]
