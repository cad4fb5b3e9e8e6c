"""Effects of known APIs: the objects that an API reads and changes. One table, ``effects.txt``, by the name that an API
resolves to.

The name of a function of a library is dotted, ``numpy.random.normal``; that of a method begins with the type of its
object, ``list.append``. Each row says:

* ``pure``: the result follows from the arguments alone, and nothing changes. ``attribute``: the row is an attribute.
* ``changes``, ``changes:N``: the object itself, or the Nth argument, and what it holds. ``out:N``: an argument ``out``,
  or the Nth, if it is given.
* ``collects:GROUP``: adds to the object. Additions of one group may come in any order, up to the order of the elements.
* ``consumes``: goes through its arguments, which uses an iterator up. ``takes``: takes the next element of the first.
* ``calls``: calls the functions that it is given.
* ``draws``: advances the state of a global random generator; ``draws:self`` that of the object. ``seeds`` sets a
  global one.
* ``reads``: files, the clock or another state outside of Python. ``output``: writes where nothing is read back.
  ``writes``: a file.

The result is of a type whose methods the table has, or ``element`` (a part of an argument), ``view`` (may share memory
with the first argument), ``self`` (of the object's type), ``total`` (a sum of elements), ``pairs``, ``any`` (unknown).
``list:atom`` is a new list of new objects of a type.

An API that the table does not have is unknown: it may change anything that it can reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

#: Types whose objects keep the functions that they are given, and call them later.
ACTIVE_TYPES = frozenset({"layer", "optimizer", "metric", "loss", "dataset", "shuffled", "iterator", "symbolic", "any"})


@dataclass(frozen=True)
class Effect:
    """One row of the table. ``kinds``: what the API does; ``result``: what it returns."""

    kinds: frozenset[str]
    result: str

    @cached_property
    def changes_arguments(self) -> list[int]:
        """Return the positions of arguments that it changes."""
        return sorted(int(kind[8:]) for kind in self.kinds if kind.startswith("changes:"))

    @cached_property
    def out(self) -> int | None:
        """Return the position at which an array to write to may be given; None if there is no such argument."""
        return next((int(kind[4:]) for kind in self.kinds if kind.startswith("out:")), None)

    @cached_property
    def collects(self) -> str:
        """Return the group of additions that this one belongs to; "" if it adds nothing."""
        return next((kind[9:] for kind in self.kinds if kind.startswith("collects:")), "")


@lru_cache(maxsize=1)
def _table() -> tuple[dict[str, Effect], dict[str, Effect]]:
    """Return the rows by name, and those for all names with a prefix."""
    rows: dict[str, Effect] = {}
    prefixes: dict[str, Effect] = {}
    text = files("tfperfkit.syntax").joinpath("effects.txt").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.split("\n") if not line.startswith("#"))
    for line in lines.replace("\n  ", " ").split("\n"):
        kinds, result, prefix, *names = line.split() or ("", "", "")
        effect = Effect(frozenset(kinds.split(",")), result)
        for name in names:
            if name == "*":
                prefixes[prefix] = effect
            else:
                rows[prefix + name] = effect
    return rows, prefixes


@lru_cache(maxsize=4096)
def find_effect(name: str) -> Effect | None:
    """Return what an API does; None if it is unknown. A row for a prefix covers all classes of a module."""
    rows, prefixes = _table()
    found = rows.get(name)
    if found is None:
        module, _, last = name.rpartition(".")
        found = prefixes.get(f"{module}.") if last[:1].isupper() else None
    return found


def list_returning(prefix: str, *results: str) -> frozenset[str]:
    """List the functions of the table below a prefix that return one of these types, by their last names."""
    rows = _table()[0].items()
    return frozenset(
        name.rpartition(".")[2] for name, effect in rows if name.startswith(prefix) and effect.result in results
    )


@lru_cache(maxsize=1)
def list_drawing() -> frozenset[str]:
    """List the methods that draw from the random generator that they are called on, by their last names."""
    rows = _table()[0].items()
    return frozenset(name.rpartition(".")[2] for name, effect in rows if "draws:self" in effect.kinds)


@lru_cache(maxsize=16)
def list_changing(*types: str) -> frozenset[str]:
    """List the methods that change the object that they are called on, or add to it, by their last names: of all types
    of the table, or of these (``list``, ``variable``)."""
    found = set()
    for name, effect in _table()[0].items():
        owner, _, last = name.rpartition(".")
        changes = "changes" in effect.kinds or effect.collects
        if changes and (owner in types or not types):
            found.add(last)
    return frozenset(found)


#: Parts of the names of functions that make operations with an effect.
_IN_EACH_RUN = ("assign", "minimize", "apply_grad", "group", "scatter", "initializer", "enqueue", "dequeue", "py_func",
                "numpy_function", "print", "count_up", "get_next", "summary", "write", "save", "restore")  # fmt: skip


def acts_in_each_run(name: str) -> bool:
    """Return whether a function of TensorFlow, by its full name, makes operations that have an effect in each run of a
    session, so that no run may be left out."""
    return any(word in name.lower() for word in _IN_EACH_RUN)


def known_names() -> frozenset[str]:
    """Return the names of the table, without prefixes."""
    return frozenset(_table()[0])
