"""Calls back when the script itself has imported a module; imports nothing on its own.

A finder at the head of ``sys.meta_path`` for as long as a watched module has not been imported, then gone.
(wrapt's post-import hooks do the same, but importing wrapt costs each start 8 ms and shows in ``sys.modules``.)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Callback = Callable[[], None]


class _Loader:
    """Runs the module by its own loader, then calls back. Everything else is the own loader's."""

    def __init__(self, loader: Any, before: Callback | None, after: Callback) -> None:
        self._loader = loader
        self._before = before
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        # The module must see the loader that it would have had.
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        _quietly(self._before)
        self._loader.exec_module(module)
        _quietly(self._after)


class _Finder:
    def __init__(self) -> None:
        self._watched: dict[str, tuple[Callback | None, Callback]] = {}

    def watch(self, name: str, before: Callback | None, after: Callback) -> None:
        self._watched[name] = (before, after)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)  # type: ignore[arg-type]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        callbacks = self._watched.pop(name, None)
        if callbacks is None:
            return None
        if not self._watched and self in sys.meta_path:
            sys.meta_path.remove(self)  # type: ignore[arg-type]
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, *callbacks)  # type: ignore[assignment]
                return spec
        self.watch(name, *callbacks)  # not found now; the script may try again with another path
        return None


_finder = _Finder()


def when_imported(name: str, before: Callback | None, after: Callback) -> None:
    """Call ``before`` as the import of ``name`` begins and ``after`` when it has succeeded; at most once."""
    if name in sys.modules:
        _quietly(after)
    else:
        _finder.watch(name, before, after)


def _quietly(callback: Callback | None) -> None:
    if callback is not None:
        try:
            callback()
        except Exception:  # a failure of ours is not the script's
            pass
