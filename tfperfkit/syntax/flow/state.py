"""The names of a running analysis: what each may stand for, which an iteration assigns, and what it reads and changes.

There are two kinds of analysis. That of the *file* goes through all of its code, in no order, and notes which
objects may be one (``iterating`` is False). That of an *iteration* follows the statements of a loop's body in their
order, and the functions that they call.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable as Function
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tfperfkit.syntax.bindings import COMPREHENSIONS, Frame, Frames
from tfperfkit.syntax.flow.values import EVERY, NOTHING, Heap, Key, Region, Value, replace

Name = tuple[Frame, str]
Environment = dict[Name, Value]
#: Nodes that one analysis evaluates, and rounds until nothing new is learned: beyond, everything is unknown.
MAX_VISITS = 150_000
MAX_ROUNDS = 24
#: Number of calls by which the objects that an expression makes are distinguished.
MAX_CONTEXT = 3


class Undecided(Exception):
    """The analysis gives up: the answer is unknown."""


class Access(NamedTuple):
    """Access of an iteration to objects that other iterations may see.

    ``how``: ``read``, ``assign``, ``draw`` or ``collect:GROUP``; ``key``: the part that it does it to, if that part is
    another one in each iteration.
    """

    region: Region
    slot: str
    how: str
    key: Key | None


class Binding(NamedTuple):
    """An assignment of a name that outlives the iteration. ``carried``: an earlier iteration may have assigned it."""

    name: Name
    how: str
    carried: bool


@dataclass(eq=False)
class Jumps:
    """A loop or a function that statements in it may leave. ``varying``: whether that depends on what varies."""

    control: bool
    is_loop: bool
    breaks: list[Environment | None] = field(default_factory=list)
    continues: list[Environment | None] = field(default_factory=list)
    returns: list[Environment | None] = field(default_factory=list)
    result: Value = NOTHING
    yielded: Value = NOTHING
    varying: bool = False


class State:
    """Facts at a point of the analysis. ``env`` is None if no statement is reached."""

    def __init__(self, frames: Frames) -> None:
        self.frames = frames
        self.frame = frames.module
        self.heap = Heap()
        #: Values of each name of the file, at any time.
        self.names: Environment = {}
        self.env: Environment | None = {}
        self.iterating = False
        #: Whether what runs now runs in some iterations only.
        self.control = False
        #: Names that an iteration before may have assigned, with what they may stand for.
        self.carried: Environment = {}
        self.used_carried: set[Name] = set()
        #: Names of calls that have ended, which functions that were defined in them may still read.
        self.captured: Environment = {}
        self.jumps: list[Jumps] = []
        self.recorders: list[Environment] = []
        #: Scopes that this iteration made by calling.
        self.inner: list[Frame] = []
        self.accesses: list[Access] = []
        self.deep_reads: list[tuple[Region, bool]] = []
        self.bindings: list[Binding] = []
        self.reads_carried: set[Name] = set()
        self.doubts: set[str] = set()
        self.acts = 0
        self.visits = 0
        self.outside = self.heap.make(whole=True)
        self.outside.code = True
        self.random = self.heap.make()
        self.world = self.heap.make()
        #: The calls that are being followed, outermost first.
        self.path: list[ast.AST] = []
        self.sites: dict[tuple[object, ...], Region] = {}
        self.libraries: dict[str, Region] = {}

    def spend(self) -> None:
        """Count one step of the analysis. Raises ``Undecided`` beyond the bound."""
        self.visits += 1
        if self.visits > MAX_VISITS:
            raise Undecided("too much code")

    def unknown_value(self) -> Value:
        """Return a value of which nothing is known."""
        return Value(region=self.outside, varies=self.iterating)

    def allocate(self, *site: object, type: str = "", whole: bool = False) -> Value:
        """Return the value for an object that an expression makes."""
        key = (self.iterating, *self.path[-MAX_CONTEXT:], *site)
        region = self.sites.get(key)
        if region is None:
            region = self.sites[key] = self.heap.make(whole=whole)
        return Value(region=self.heap.find(region), own=self.iterating, type=type)

    def library(self, package: str) -> Region:
        """Return the region of all objects that a library may keep."""
        region = self.libraries.get(package)
        if region is None:
            region = self.libraries[package] = self.heap.make(whole=True)
            region.old = self.iterating
        return region

    # Names

    def look_up(self, name: str) -> Value:
        """Return what a name stands for here."""
        frame = self.frame.owner(name)
        if frame is None:
            known = hasattr(builtins, name) and not self.frames.has_star_import
            return Value(api=f"builtins.{name}") if known else self.unknown_value()
        value = self.value_of((frame, name))
        if value.carried:
            self.reads_carried.add((frame, name))
            self.use_carried((frame, name))
        if self.heap.havoc and (frame, name) in self.frames.rebound:
            return value.with_variation(True)
        return value

    def use_carried(self, name: Name) -> None:
        """Note that an iteration may use what an earlier one left under a name."""
        if name not in self.used_carried:
            self.used_carried.add(name)
            self.heap.version += 1

    def value_of(self, name: Name) -> Value:
        """Return what a name stands for, without noting that it was read."""
        env = self.env if self.env is not None else {}
        value = env.get(name)
        if value is None:
            return self.entry(name)
        here = self.frame
        while isinstance(here.node, COMPREHENSIONS) and here.parent is not None:
            here = here.parent
        if name in self.captured and here is not name[0]:
            return self.heap.join(value, self.captured[name])
        return value

    def entry(self, name: Name) -> Value:
        """Return what a name stands for where nothing in this iteration has assigned it."""
        if name in self.carried:
            return self.carried[name]
        value = self.names.get(name, NOTHING)
        if name in self.captured:
            value = self.heap.join(value, self.captured[name])
        return self.unknown_value() if value is NOTHING and self.iterating else value

    def assign(self, name: str, value: Value, how: str = "assign") -> None:
        """Bind a name in the scope that owns it."""
        frame = self.frame.owner(name) or self.frame
        self.bind((frame, name), value, how)

    def bind(self, name: Name, value: Value, how: str = "assign") -> None:
        """Bind a name. ``how``: ``assign`` or ``collect:GROUP``."""
        if not self.iterating and name[0] not in self.inner:
            before = self.names.get(name, NOTHING)
            after = self.heap.join(before, replace(value, key=None))
            if not self.is_same(before, after):
                self.heap.version += 1
            self.names[name] = after
            return
        if self.env is None:
            return
        inner = name[0] in self.inner or isinstance(name[0].node, COMPREHENSIONS)
        if not self.iterating:
            self.env[name] = value
            return
        value = value.with_variation(self.control)
        if not inner:
            before = self.value_of(name)
            self.bindings.append(Binding(name, how, before.carried))
            if how != "assign":
                value = replace(value, carried=before.carried, key=None)
            if name in self.used_carried and (value.region is not None or value.code is not None):
                self._keep(name, value)
        self.env[name] = value
        for recorder in self.recorders:
            recorder[name] = self.heap.join(recorder.get(name, NOTHING), value)

    def _keep(self, name: Name, value: Value) -> None:
        """Note that a later iteration may find this value under the name."""
        kept = self.ends.get(name, NOTHING)
        joined = self.heap.join(kept, replace(value, own=False, key=None))
        if not self.is_same(kept, joined):
            self.heap.version += 1
        self.ends[name] = joined

    ends: Environment

    def is_same(self, first: Value, second: Value) -> bool:
        """Return whether two values say the same."""
        if first is second:
            return True
        regions = [self.heap.find(each.region) if each.region is not None else None for each in (first, second)]
        return (
            regions[0] is regions[1]
            and all(
                getattr(first, name) == getattr(second, name)
                for name in ("varies", "own", "carried", "type", "api", "instance", "made", "key", "lazy", "width")
            )
            and (first.code.node if first.code else None) is (second.code.node if second.code else None)
        )

    # Environments

    def copy_env(self) -> Environment | None:
        """Return the environment as it is now."""
        return None if self.env is None else dict(self.env)

    def join_envs(self, envs: Iterable[Environment | None]) -> Environment | None:
        """Return the environment after one of several ways was gone."""
        reached = [each for each in envs if each is not None]
        if not reached:
            return None
        result = dict(reached[0])
        for other in reached[1:]:
            for name in {**result, **other}:
                pair = [env[name] if name in env else self._missing(name) for env in (result, other)]
                result[name] = self.heap.join(*pair)
        return result

    def _missing(self, name: Name) -> Value:
        inner = name[0] in self.inner or isinstance(name[0].node, COMPREHENSIONS)
        return NOTHING if inner else self.entry(name)

    def same_env(self, first: Environment | None, second: Environment | None) -> bool:
        """Return whether two environments say the same."""
        if first is None or second is None:
            return first is second
        return first.keys() == second.keys() and all(self.is_same(first[name], second[name]) for name in first)

    def repeat(self, body: Function[[], None]) -> Jumps:
        """Run the body of an inner loop, or a function that is called again and again, until nothing new is learned.
        The environment afterwards is that after any number of times, or after a ``break``."""
        jumps = Jumps(self.control, True)
        before, control = self.copy_env(), self.control
        start = before
        for _ in range(MAX_ROUNDS):
            jumps.breaks, jumps.continues = [], []
            self.env = None if start is None else dict(start)
            self.jumps.append(jumps)
            body()
            self.jumps.pop()
            after = self.join_envs([before, self.env, *jumps.continues])
            if jumps.varying and not self.control:
                self.control = True
            elif self.same_env(start, after):
                break
            start = after
        else:
            raise Undecided("a loop does not settle")
        self.env = self.join_envs([start, *jumps.breaks])
        self.control = control
        return jumps

    # Accesses of an iteration

    def note(self, region: Region, slot: str, how: str, key: Key | None = None) -> None:
        """Note an access to objects that other iterations may see."""
        if self.iterating:
            self.accesses.append(Access(self.heap.find(region), slot, how, key))
            self.acts += how != "read"

    def doubt(self, reason: str) -> None:
        """Note why iterations may depend on each other."""
        if self.iterating:
            self.doubts.add(reason)
            self.acts += 1

    def is_own(self, value: Value) -> bool:
        """Return whether the objects that a value refers to are of this iteration alone."""
        return value.region is None or value.own or not self.heap.find(value.region).old

    def read_deeply(self, value: Value) -> None:
        """Note that everything which can be reached from a value is read."""
        if self.iterating and value.region is not None:
            self.deep_reads.append((value.region, value.own))

    def change_deeply(self, value: Value, varies: bool) -> None:
        """Note that all that can be reached from a value may be changed; ``varies``: to something that differs."""
        if not self.iterating or value.region is None:
            return
        top = self.heap.find(value.region)
        for region in list(self.heap.reach(value.region)):
            own = not region.old or (region is top and value.own)
            if varies or not own or self.control or value.varies:
                self.heap.vary(region, EVERY)
            if not own:
                self.note(region, EVERY, "assign")
