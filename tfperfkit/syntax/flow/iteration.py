"""The analysis of one iteration of a loop, within a file that has been gone through."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property

from tfperfkit.syntax.bindings import CALLABLES, COMPREHENSIONS, Callable, Comprehension, Frame, parameters
from tfperfkit.syntax.flow.liveness import is_read_after
from tfperfkit.syntax.flow.objects import CONTAINERS, canonical_api
from tfperfkit.syntax.flow.program import Program
from tfperfkit.syntax.flow.state import MAX_ROUNDS, Access, Binding, Name, Undecided
from tfperfkit.syntax.flow.values import ATOM, ELEMENTS, EVERY, NOTHING, Region, Value, replace
from tfperfkit.syntax.nodes import find_nodes

LoopNode = ast.For | ast.AsyncFor | ast.While | Comprehension | Callable


#: Functions that take the next element of what they are given when theirs is asked for.
_STEP_BY_STEP = frozenset(f"builtins.{name}" for name in ("zip", "enumerate", "reversed", "map", "filter", "iter"))


class Iteration(Program):
    """Follows one iteration. ``loop``: a ``for`` or ``while``, a comprehension (its first ``for``), or a function that
    is called again and again with other arguments.

    Raises ``Undecided`` where the code is too large, or hides what it does.
    """

    def __init__(
        self, tree: ast.Module, loop: LoopNode, known: Mapping[ast.Call, str], wanted: frozenset[ast.AST] | None = None
    ) -> None:
        super().__init__(tree, known, loop)
        self.loop = loop
        self.wanted = wanted
        self.iterating = True
        self.visits = 0
        self.heap.age_all()
        for region in (self.outside, self.random, self.world, *self.libraries.values()):
            region.old = True
        home = self.frames.of[loop] if isinstance(loop, CALLABLES) else self.frames.home.get(loop)
        if home is None:
            raise Undecided("the loop is not in the file")
        self.home = home
        for _ in range(MAX_ROUNDS):
            before = self.heap.version
            self._follow()
            if self.heap.version == before:
                return
        raise Undecided("the loop does not settle")

    def _follow(self) -> None:
        self.seen, self.accesses, self.deep_reads = {}, [], []
        self.bindings, self.reads_carried, self.doubts = [], set(), set()
        self.frame, self.env, self.control = self.home, {}, False
        self.jumps, self.continued, self.stack, self.path = [], [], [], []
        loop = self.loop
        if isinstance(loop, CALLABLES):
            self._follow_function(loop)
        elif isinstance(loop, COMPREHENSIONS):
            self._follow_comprehension(loop)
        elif isinstance(loop, ast.While):
            self._follow_while(loop)
        else:
            self._follow_for(loop)
        for name in {binding.name for binding in self.bindings}:
            value = self.names.get(name, NOTHING)
            if name in self.used_carried:
                value = self.heap.join(value, self.ends.get(name, NOTHING))
            carried = replace(value, varies=True, carried=True, own=False, key=None, width=False)
            if name in self.used_carried:
                self.heap.age(carried.region)
            if name not in self.carried or not self.is_same(self.carried[name], carried):
                self.carried[name] = carried
                self.heap.version += 1

    def _follow_for(self, loop: ast.For | ast.AsyncFor) -> None:
        over = self.evaluate(loop.iter)
        if isinstance(loop, ast.AsyncFor):
            over = self.call_unknown(loop, over)
        self._begin()
        self._bind_target(loop.target, over, loop.iter)
        self.execute(loop.body)

    def _follow_while(self, loop: ast.While) -> None:
        value = self.evaluate(loop.test)
        if self.may_run_code(value):
            self.call_unknown(loop, value)
        self.read_deeply(value)
        self.execute(loop.body)

    def _begin(self) -> None:
        """Forget what evaluating the header did: it is done once."""
        self.accesses, self.bindings, self.reads_carried, self.deep_reads = [], [], set(), []
        self.doubts, self.seen = set(), {}
        self.acts = 0

    def _bind_target(self, target: ast.expr, over: Value, node: ast.expr) -> None:
        """Bind what the loop has for each iteration; some is surely another value in each."""
        if over.lazy:
            seen, self.seen = self.seen, {}
            over = replace(self.evaluate(node), lazy=False)
            for each in self.seen:  # of another element in each iteration
                seen.setdefault(each, []).append((Value(varies=True), False))
            self.seen = seen
            if self.element(over, node).region is not None:
                self.doubt("a generator keeps what it gives")
        self._bind_part(target, over, node)
        for value in (over, *self._find_gone_through(node)):
            if value.region is not None and value.type not in ("dataset", "shuffled"):
                # Going through it reads it again and again.
                self.deep_reads.append((value.region, False))

    def _find_gone_through(self, node: ast.expr) -> Iterator[Value]:
        """Yield what a header goes through step by step below ``zip``, ``enumerate`` and their like."""
        name = self._get_api(node)
        if not isinstance(node, ast.Call) or not (name in _STEP_BY_STEP or name.startswith("itertools.")):
            return
        for item in node.args:
            if item in self.given:
                yield self.given[item]
            yield from self._find_gone_through(item)

    def _bind_part(self, target: ast.expr, over: Value, node: ast.expr) -> None:
        name = self._get_api(node)
        if isinstance(node, ast.Call) and isinstance(target, (ast.Tuple, ast.List)) and not node.keywords:
            plain = not any(isinstance(item, ast.Starred) for item in (*node.args, *target.elts))
            if name == "builtins.enumerate" and plain and len(target.elts) == 2 and len(node.args) == 1:
                self.assign_target(target.elts[0], Value(type="atom", varies=True, key=("count", "index")))
                self._bind_part(target.elts[1], self.given.get(node.args[0], over), node.args[0])
                return
            if name == "builtins.zip" and plain and len(target.elts) == len(node.args):
                for part, item in zip(target.elts, node.args, strict=True):
                    self._bind_part(part, self.given.get(item, over), item)
                return
        key: tuple[object, ...] | None = None
        if name == "builtins.range" and isinstance(node, ast.Call) and _counts_up(node):
            key = ("count", "index")
        elif over.type in ("dict", "defaultdict", "pairs", "set") or name.endswith("dict.keys"):
            key = ("key", ast.dump(node))
        element = replace(self._element_of(over, node), varies=True, own=False, carried=False)
        if name == "builtins.enumerate" or name == "builtins.zip":
            key = None
        self.assign_target(target, replace(element, key=key), node)

    def _element_of(self, over: Value, node: ast.expr) -> Value:
        if over.type == "dataset":
            return Value(type="tensor")
        if over.type in CONTAINERS or over.type in ("pairs", "ndarray", "tensor", "range", "atom"):
            count = len(self.accesses)
            value = self.element(over, node)
            del self.accesses[count:]
            return value
        if over.type == "shuffled":
            self.note(self.random, EVERY, "draw")
            return Value(type="tensor")
        return self.element(over, node)

    def _get_api(self, node: ast.expr) -> str:
        """Return the name of the API that a header calls."""
        if not isinstance(node, ast.Call):
            return ""
        callee = self.evaluate(node.func) if isinstance(node.func, ast.Name) else NOTHING
        if isinstance(node.func, ast.Attribute):
            callee = self.evaluate(node.func)
        return callee.api if callee.type == "method" else canonical_api(callee.api) if callee.api else ""

    def _follow_comprehension(self, loop: Comprehension) -> None:
        over = self.evaluate(loop.generators[0].iter)
        self._begin()
        self.frame = self.frames.of[loop]
        generator = loop.generators[0]
        made = self.allocate(loop, "collected", type="list")

        def add() -> Value:
            if isinstance(loop, ast.DictComp):
                self.hold(made, self.evaluate(loop.key))
                value = self.evaluate(loop.value)
            else:
                value = self.evaluate(loop.elt)
            if value.code is not None or value.lazy:
                self.doubt("a function is kept")
            return self.hold(made, value)

        self.assign_comprehension(loop, generator, over, add)

    def assign_comprehension(self, loop: Comprehension, generator: ast.comprehension, over: Value, add: object) -> None:
        """Follow one iteration of a comprehension's first ``for``."""
        assert callable(add)
        if generator.is_async:
            self.call_unknown(loop, over)
        self._bind_target(generator.target, over, generator.iter)
        for test in generator.ifs:
            value = self.evaluate(test)
            self.read_deeply(value)
            if self.may_run_code(value):
                self.call_unknown(loop, value)
            self.control = self.control or self.heap.varies_deeply(value)
        if len(loop.generators) > 1:
            self._generate(loop, 1, self.evaluate(loop.generators[1].iter), add)
        else:
            add()

    def _follow_function(self, loop: Callable) -> None:
        frame = self.frames.of[loop]
        self.inner.append(frame)
        for item in parameters(loop.args):
            value = self.names.get((frame, item.arg), ATOM)
            self.bind((frame, item.arg), replace(value, varies=True, own=False))
        self.doubt("called from elsewhere")
        if isinstance(loop, ast.Lambda):
            self.evaluate(loop.body)
        else:
            self.execute(loop.body)
        self.inner.pop()

    # Answers

    def _frames_around(self) -> list[Frame]:
        frames = [self.home]
        while frames[-1].parent is not None:
            frames.append(frames[-1].parent)
        return frames

    @cached_property
    def _inside(self) -> set[ast.AST]:
        return set(find_nodes(self.loop, ast.AST))

    @cached_property
    def _hidden(self) -> set[ast.AST]:
        """List the functions that unknown code may run: the functions that it may call, and those that they call."""
        around = {frame.node for frame in self._frames_around()}
        pending = [code for code in self.heap.escaped if code not in around]
        found: set[ast.AST] = set()
        while pending:
            code = pending.pop()
            found.update(find_nodes(code, ast.AST))
            if isinstance(code, ast.ClassDef):
                pending += [base.made for base in self.bases.get(code, ()) if base.made and base.made not in found]
            pending += [code for code, places in self.called_at.items() if code not in found and places & found]
        return found

    def varies(self, node: ast.AST) -> bool | None:
        """Return whether an expression may differ between iterations, or does something when it is evaluated; None if
        the iteration never evaluates it."""
        found = self.seen.get(node)
        if not found:
            return None
        if node in self._hidden and node not in self._inside:
            return True
        return any(acts or self.heap.varies_deeply(value) for value, acts in found)

    def dependence(self, *, draws: bool) -> str:
        """Return why iterations may depend on each other; "" if they don't. ``draws``: whether iterations that draw at
        random from one generator depend on each other."""
        if self.doubts or self.heap.havoc:
            return min(self.doubts, default="it is not known what a call changes")
        return self._names_carried() or self._objects_shared(draws)

    def _names_carried(self) -> str:
        names: dict[Name, list[Binding]] = {}
        for binding in self.bindings:
            names.setdefault(binding.name, []).append(binding)
        for name, bindings in names.items():
            collected = {binding.how for binding in bindings if binding.carried and binding.how != "assign"}
            plain = any(binding.how == "assign" for binding in bindings)
            if name in self.reads_carried:
                return f"{name[1]} is read before it is assigned"
            if len(collected) > 1 or (collected and plain):
                return f"{name[1]} is changed in several ways"
            if not collected and (
                name[0] is not self.home or is_read_after(self.frames, self.home, self.loop, name[1])
            ):
                return f"{name[1]} is read after the loop"
        return ""

    def _objects_shared(self, draws: bool) -> str:
        written: dict[int, list[Access]] = {}
        read: dict[int, list[Access]] = {}
        for access in self.accesses:
            region = self.heap.find(access.region)
            (read if access.how == "read" else written).setdefault(id(region), []).append(access)
        for identity, writes in written.items():
            region = self.heap.find(writes[0].region)
            reason = self._is_shared(region, writes, read.get(identity, []), draws)
            if reason:
                return reason
        changed = {
            identity for identity, writes in written.items() if any(each.how != "draw" or draws for each in writes)
        }
        for region, own in self.deep_reads:
            top = self.heap.find(region)
            for each in self.heap.reach(region):
                if id(each) in changed and not (each is top and own):
                    return "what one iteration changes another reads"
        return ""

    def _is_shared(self, region: Region, writes: list[Access], reads: list[Access], draws: bool) -> str:
        if all(each.how == "draw" for each in writes):
            return "numbers are drawn at random" if draws else "drawn and read" if reads else ""
        if region is self.heap.find(self.world):
            output = all(each.how == "collect:output" for each in writes)
            return "" if output else "files are written"
        slots = {each.slot for each in writes}
        for slot in slots:
            here = [each for each in writes if each.slot in (slot, EVERY) or slot == EVERY]
            others = [each for each in reads if each.slot in (slot, EVERY) or slot == EVERY]
            ways = {each.how for each in here}
            if len(ways) == 1 and next(iter(ways)).startswith("collect:") and not others:
                continue
            keys = {each.key for each in (*here, *others)}
            if ways == {"assign"} and len(keys) == 1 and None not in keys and slot == ELEMENTS:
                continue
            return "what one iteration changes another reads or changes"
        return ""


def _counts_up(node: ast.Call) -> bool:
    """Return whether ``range`` gives numbers from zero on, or from a number that is written and not negative."""
    given = [item.value if isinstance(item, ast.Constant) else None for item in node.args]
    if node.keywords or any(isinstance(item, ast.Starred) for item in node.args):
        return False
    if len(node.args) == 1:
        return True
    start, step = given[0], given[2] if len(given) == 3 else 1
    return isinstance(start, int) and start >= 0 and isinstance(step, int) and step > 0
