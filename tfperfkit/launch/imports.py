"""Calls back when the script itself has imported a module; imports nothing on its own, nor for itself.

A finder at the head of ``sys.meta_path`` for as long as a watched module has not been imported, then gone. It returns
the spec and the loader that Python would have used; only the spec watches its own ``_initializing``, which the import
machinery sets as it begins and ends a module. So no frame of ours stands on the stack while the module runs: what it
raises, a Ctrl-C above all, has the traceback that it always had.

(wrapt's post-import hooks wrap the loader, and importing wrapt costs each start 8 ms and shows in ``sys.modules``.)
"""

import sys

TYPE_CHECKING = False  # the name that mypy looks for, without importing typing into the script
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    Callback = Callable[[], None]
else:
    ModuleSpec = type(sys.__spec__)


class _WatchedSpec(ModuleSpec):
    """A spec that says when its module's import begins and ends; after that it is an ordinary spec again."""

    _watch: "tuple[Callback | None, Callback]"

    @property
    def _initializing(self) -> bool:
        return bool(self.__dict__.get("_initializing", False))

    @_initializing.setter
    def _initializing(self, value: bool) -> None:
        self.__dict__["_initializing"] = value
        watch = self.__dict__.get("_watch")
        if watch is None:
            return  # the spec is being made
        before, after = watch
        if value:
            _quietly(before)
            return
        del self.__dict__["_watch"]
        self.__class__ = ModuleSpec  # type: ignore[assignment]
        if getattr(sys.modules.get(self.name), "__spec__", None) is self:
            _finder.forget(self.name)
            _quietly(after)


# Whoever prints the spec before the module is imported sees the name that he always saw.
_WatchedSpec.__name__ = _WatchedSpec.__qualname__ = "ModuleSpec"


class _Finder:
    def __init__(self) -> None:
        self._watched: dict[str, tuple[Callback | None, Callback]] = {}
        self._asking: set[str] = set()

    def watch(self, name: str, before: "Callback | None", after: "Callback") -> None:
        self._watched[name] = (before, after)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def forget(self, name: str) -> None:
        self._watched.pop(name, None)
        if not self._watched and self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        # The watch stays: a script may ask importlib.util.find_spec whether there is a TensorFlow and import it later.
        watch = self._watched.get(name)
        if watch is None or name in self._asking:
            return None
        self._asking.add(name)  # another finder may ask all others too, as we do: it must not come back to us
        try:
            return self._ask_others(name, path, target, watch)
        finally:
            self._asking.discard(name)

    def _ask_others(
        self,
        name: str,
        path: "Sequence[str] | None",
        target: "ModuleType | None",
        watch: "tuple[Callback | None, Callback]",
    ) -> "ModuleSpec | None":
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if type(spec) is ModuleSpec and spec.loader is not None:
                    spec.__class__ = _WatchedSpec
                    spec.__dict__["_watch"] = watch
                return spec
        return None


_finder = _Finder()


def when_imported(name: str, before: "Callback | None", after: "Callback") -> None:
    """Call ``before`` as the import of ``name`` begins and ``after`` when it has succeeded; ``after`` at most once."""
    if name in sys.modules:
        _quietly(after)
    else:
        _finder.watch(name, before, after)


def _quietly(callback: "Callback | None") -> None:
    if callback is not None:
        try:
            callback()
        except Exception:  # a failure of ours is not the script's
            pass
        except BaseException as error:  # a Ctrl-C, or what the script's own handler of a signal raises, is the script's
            from tfperfkit.instruments.hooks.interrupts import raise_later

            raise_later(error)
