"""Sees to it that the children of a process are recorded too (``--children``): forks, and Pythons that it starts.

Loaded as a file by the bootstrap, in the script's process and in each child. A fork is announced by Python's hook. A
Python that is started by ``subprocess`` or ``multiprocessing`` (spawn, forkserver) gets the bootstrap in the list of
variables that the system call is given; the script's ``os.environ``, its own ``env=`` and other programs never have it.
"""

import os
import sys
from _thread import get_ident

TYPE_CHECKING = False  # the name that mypy looks for, without importing typing into the script
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType
    from typing import Any

#: The variable that asks for it, in the script's process and its children: "METHOD" and the roots of user code.
VARIABLE = "TFPERF_CHILDREN"
_BOOTSTRAP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bootstrap")
_ENVIRONMENT = 5  # where fork_exec has its list of variables; None: as they are
#: Helpers of multiprocessing: the tracker does nothing that anybody would want to know.
_TRACKER = "multiprocessing.resource_tracker"
_SERVER = "multiprocessing.forkserver"


class Offspring:
    """``child`` and ``stacks`` are the modules ``child`` and ``child_stacks``; ``adopt`` is called with the recorder of
    a child. ``recorder`` is this process's own, if any."""

    def __init__(
        self, root: str, roots: "Sequence[str]", child: "Any", stacks: "Any", adopt: "Callable[[Any], object]"
    ) -> None:
        self._root, self._roots, self._child, self._stacks, self._adopt = root, roots, child, stacks, adopt
        self._executing: set[int] = set()  # threads that are in fork_exec: what they fork is another program at once
        self.recorder: Any = None
        self.server = False  # this process only forks for others

    def watch(self, when_imported: "Callable[..., None]") -> None:
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)
        when_imported("_posixsubprocess", None, self._replace)
        when_imported("subprocess", None, self._without_posix_spawn)

    def record(self, method: str, before: "FrameType | None" = None) -> None:
        """Record this process; ``before`` is the frame that forked it. Never raises."""
        try:
            stacks = self._stacks.Stacks(self._roots, before)
            recorder = self._child.Recorder(self._root, self._roots, method, stacks)
            self.recorder = recorder
            self._adopt(recorder)
            recorder.start()
        except Exception:  # a full disk, a folder that has gone: the child runs as it would
            pass

    def _forked(self) -> None:
        if get_ident() in self._executing:
            return
        if self.recorder is not None:
            self.recorder.forget()
        server, self.server = self.server, False
        self.record("forkserver" if server else "fork", sys._getframe(1))

    # --- other Pythons ------------------------------------------------------------------------------------------

    def _replace(self) -> None:
        module: Any = sys.modules["_posixsubprocess"]
        original = module.fork_exec

        def fork_exec(*words: "Any") -> "Any":
            thread = get_ident()
            self._executing.add(thread)
            try:
                return original(*self._with_bootstrap(words))
            finally:
                self._executing.discard(thread)

        module.fork_exec = fork_exec
        loaded: Any = sys.modules.get("subprocess")
        if getattr(loaded, "_fork_exec", None) is original:
            loaded._fork_exec = fork_exec

    def _without_posix_spawn(self) -> None:
        """The other way to start a program, with the same outcome, which goes past us; this is how Python's manual says
        that it is kept from being used."""
        module: Any = sys.modules["subprocess"]
        if getattr(module, "_USE_POSIX_SPAWN", False):
            module._USE_POSIX_SPAWN = False

    def _with_bootstrap(self, words: "tuple[Any, ...]") -> "tuple[Any, ...]":
        try:
            given = words[_ENVIRONMENT]
            method = _method([os.fsdecode(word) for word in words[0]], [os.fsdecode(word) for word in words[1]])
            if method is None:
                return words
            if given is None:
                variables = {os.fsencode(key): os.fsencode(value) for key, value in os.environ.items()}
            else:
                pairs = (os.fsencode(word).partition(b"=") for word in given)
                variables = {name: value for name, _, value in pairs}
            before = variables.get(b"PYTHONPATH")
            bootstrap = os.fsencode(_BOOTSTRAP)
            variables[b"PYTHONPATH"] = bootstrap if before is None else bootstrap + os.fsencode(os.pathsep) + before
            if before is not None:
                variables[b"TFPERF_PYTHONPATH"] = before
            variables[b"TFPERF_RUN_DIRECTORY"] = os.fsencode(self._root)
            variables[os.fsencode(VARIABLE)] = os.fsencode(os.pathsep.join([method, *self._roots]))
            changed = [name + b"=" + value for name, value in variables.items()]
            return (*words[:_ENVIRONMENT], changed, *words[_ENVIRONMENT + 1 :])
        except Exception:  # another Python's arguments: as it would be without us
            return words


def _method(arguments: "Sequence[str]", programs: "Sequence[str]") -> "str | None":
    """Return how this program is started, if it is this Python and should be recorded."""
    program = next((word for word in programs if os.access(word, os.X_OK)), "")
    if not program or not sys.executable or os.path.realpath(program) != os.path.realpath(sys.executable):
        return None  # another Python might not understand our files
    code = next((after for word, after in zip(arguments, arguments[1:]) if word == "-c"), "")  # noqa: B905
    if _TRACKER in code:
        return None
    if _SERVER in code:
        return "server"
    return "spawn" if "--multiprocessing-fork" in arguments else "subprocess"
