"""Small programs with loops, made at random: what the analysis of source is tried on.

A program uses no libraries but ``random`` and ``collections``. It ends in ``results = [...]``: what is compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choose(Protocol):
    """The source of the random decisions."""

    def number(self, low: int, high: int) -> int:
        """Return a number from low to high, both included."""

    def pick(self, options: Sequence[T]) -> T:
        """Return one of several."""


HEAD = """\
import random
import numpy as np
from collections import defaultdict, deque
xs = [3, 8, 5, 11]
ys = [7, 2, 9, 4]
zs = {alias}
nested = [[1, 4], [6, 2], [9]]
table = {{3: 5, 8: 1, 5: 20, 11: 2}}
counts = defaultdict(int)
groups = defaultdict(list)
rows = []
seen = set()
out = [0, 0, 0, 0, 0, 0]
total = 0
best = 1
state = 2
text = "a"
rng = random.Random(5)
array = np.arange(12).reshape(3, 4)
row_of = array[1]
column = array.T[0]
flat = array.reshape(-1)
other_array = {other_array}
pairs = [(1, [2]), (3, [4])]
halves = [[1, 5], [2]]
stored = {{"a": [1], "b": [2, 7], "n": 3}}
postponed = []
stream = iter([5, 1, 6, 2, 8, 3, 9, 4, 7, 12, 15, 11, 14, 13, 16, 18])
class Box:
    kept = []
    size = 3
    def __init__(self, n, held=None):
        self.n = n
        self.held = held if held is not None else [n, 1]
        self.parts = {{}}
    def read(self, k):
        return self.n * k + len(self.held)
    def grow(self, k):
        self.n += k
        return self.n
    def put(self, v):
        self.held.append(v)
    def note(self, v):
        Box.kept.append(v)
    def sum(self):
        return sum(self.held)
    def other(self):
        return Box(self.n, self.held)
    @property
    def twice(self):
        return self.n * 2
    @staticmethod
    def plain(a):
        return a * 3
    def __call__(self, a):
        return self.n + a{operators}
box = Box(4)
boxes = [Box(1), Box(2), box]
shared = {shared}
def pure(a, b=2):
    return a * b + 1
def count(a):
    global total
    total += 1
    return a
def put(a, into):
    into.append(a)
    return into
def remember(a, known=[]):
    known.append(a)
    return len(known)
def first(a):
    return a[0] if a else 0
def same(a):
    return a
def pair(a, b):
    return a, b
def spread(*args, **kw):
    return sum(args) + sum(kw.values())
def lookup(k):
    return table.get(k, 0)
def noisy(a):
    return a + random.randint(0, 9)
def drawn(a):
    return a + rng.randint(0, 9)
def generate(a):
    for k in a:
        yield k + state
def make(k):
    kept = [k]
    def inner(v):
        kept.append(v)
        return sum(kept)
    return inner
def deep(a, n=2):
    return a if n == 0 else deep(a + 1, n - 1)
def swap(a):
    a[0], a[-1] = a[-1], a[0]
def set_state(v):
    global state
    state = v
    return v
def choose(c, a, b):
    return a if c else b
def wrap(f):
    def g(*args):
        return f(*args)
    return g
@wrap
def wrapped(a):
    return count(a)
adder = make(3)
"""

OPERATORS = [
    "",
    "\n    def __add__(self, other):\n        self.n += 1\n        return self.n\n    __radd__ = __add__",
    "\n    def __getitem__(self, k):\n        self.n += 1\n        return self.held[k % len(self.held)]",
    "\n    def __len__(self):\n        self.n += 1\n        return self.n % 3",
    "\n    def __eq__(self, other):\n        Box.size += 1\n        return True\n    __hash__ = None",
    "\n    def __getattr__(self, name):\n        Box.size += 1\n        return Box.size",
]


class Chance:
    """Random decisions of a generator of Python's."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def number(self, low: int, high: int) -> int:
        """Return a number from low to high, both included."""
        return self._random.randint(low, high)

    def pick(self, options: Sequence[T]) -> T:
        """Return one of several."""
        return options[self._random.randint(0, len(options) - 1)]


class Writer:
    """Writes one program."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.numbers = ["total", "best", "state"]
        self.lists = ["xs", "ys", "zs", "rows", "out", "shared"]
        self.names = 0
        #: Whether most of the program is harmless, so that more of what can be claimed of it is true.
        self.tame = choose.number(0, 1) > 0
        self.given: list[str] = []

    def number(self, depth: int = 2) -> str:
        """Write an expression whose value is a number."""
        pick, choose = self.choose.pick, self.choose
        if depth <= 0 or choose.number(0, 3) == 0:
            own = self.given or self.numbers
            return pick([pick(own), pick(own), pick(own), pick(self.numbers), str(choose.number(0, 9)), "box.n"])
        if self.tame and choose.number(0, 12):
            return self.harmless(depth)
        a, b = self.number(depth - 1), self.number(depth - 1)
        many = self.list(depth - 1)
        return pick(
            [
                f"{a} + {b}",
                f"{a} * {b}",
                f"{a} - {b}",
                f"pure({a})",
                f"pure({a}, b={b})",
                f"count({a})",
                f"first({many})",
                f"same({a})",
                f"lookup({a})",
                f"noisy({a})",
                f"drawn({a})",
                f"deep({a})",
                f"remember({a})",
                f"spread({a}, {b}, k={a})",
                f"spread(*{many})",
                f"pair({a}, {b})[{choose.number(0, 1)}]",
                f"set_state({a})",
                f"choose({a} > {b}, {a}, {b})",
                f"wrapped({a})",
                f"adder({a})",
                f"box.read({a})",
                f"box.grow({a})",
                "box.sum()",
                "box.twice",
                f"box({a})",
                f"Box.plain({a})",
                f"Box({a}).read({b})",
                f"{pick(['boxes[0]', 'boxes[-1]', 'box.other()'])}.n",
                f"len({many})",
                f"sum({many})",
                f"max({many}, default={a})",
                f"max({a}, {b})",
                f"min({many} or [0], key=lambda v: v % {choose.number(2, 4)})",
                f"{many}[0]" if choose.number(0, 1) else f"xs[{a} % 4]",
                f"({a} if {b} > {choose.number(0, 9)} else {b})",
                f"table.get({a}, {b})",
                f"counts[{a}]",
                f"len(groups[{a}])",
                "len(table)",
                "len(stored)",
                "stored['n']",
                f"sum(stored[{pick(PARTS)}])",
                f"sum(halves[{choose.number(0, 1)}])",
                f"next(stream, {a})",
                f"abs({a})",
                "len(text)",
                "random.random()",
                "rng.randint(0, 5)",
                f"(lambda v: v + {a})({b})",
                f"({self.fresh_number()} := {a})",
                f"sum(v * {a} for v in {many})",
                f"sum(map(pure, {many}))",
                "getattr(box, 'n')",
                "nested[0][0]",
                "len(box.held)",
                "len(Box.kept)",
                f"int({a} in {pick([many, 'seen', 'table'])})",
                f"hash({a})",
                f"list(generate({many}))[-1:] == [{a}]",
                f"random.Random({a}).randint(0, 99)",
                f"int({pick(ARRAYS)}.sum()) + {a}",
                f"int(array[{a} % 3, {b} % 4])",
                f"int(array[{a} % 3][{b} % 4])",
                f"int(np.maximum(array, {a}).max())",
                f"int(np.asarray({many})[0])" if many != "[]" else a,
                f"int((array[:2] + {a}).sum())",
                "pairs[0][1][0]",
                "sum(b[0] for _, b in pairs)",
                f"len(dict(zip({many}, ys)))",
                f"sum({{w: w + {a} for w in {many}}}.values())",
            ]
        )

    def harmless(self, depth: int) -> str:
        """Write a number that changes nothing, and follows from the values of the iteration."""
        pick, choose = self.choose.pick, self.choose
        names = [*self.given, *self.given, "box.n", "best", str(choose.number(1, 9))]
        if depth <= 0:
            return pick(names)
        a, b = self.harmless(depth - 1), pick(names)
        many = pick(["xs", "ys", "nested[0]", "box.held", f"[{a}, {b}]"])
        return pick(
            [
                f"{a} + {b}",
                f"pure({a}, b={b})",
                f"same({a})",
                f"choose({a} > 4, {a}, {b})",
                f"box.read({a})",
                "box.twice",
                f"Box({a}).read({b})",
                f"sum({many})",
                f"len({many})",
                f"max({a}, {b})",
                f"sum(v * {a} for v in {many})",
                f"sorted({many})[0]",
                f"lookup({a})",
                f"table.get({a}, {b})",
                f"spread({a}, {b}, k={a})",
                f"pair({a}, {b})[0]",
                f"sum(map(pure, {many}))",
                f"min({many}, key=lambda v: v % {choose.number(2, 4)})",
            ]
        )

    def list(self, depth: int = 1) -> str:
        """Write an expression whose value is a list of numbers."""
        pick, choose = self.choose.pick, self.choose
        if depth <= 0 or choose.number(0, 2) == 0:
            return pick(
                [
                    *self.lists,
                    f"[{pick(self.given or self.numbers)}, 4]",
                    "box.held",
                    "nested[0]",
                    "list(table)",
                    "sorted(seen)",
                ]
            )
        a, many = self.number(depth - 1), self.list(depth - 1)
        name = self.fresh()
        return pick(
            [
                f"[{a}, {self.number(depth - 1)}]",
                f"[{name} + {a} for {name} in {many}]",
                f"[{name} for {name} in {many} if {name} > {a}]",
                f"list({many})",
                f"sorted({many})",
                f"{many} + [{a}]",
                f"{many}[1:]",
                f"same({many})",
                f"list(map(pure, {many}))",
                f"[*{many}, {a}]",
                f"list(generate({many}))",
                f"list(reversed({many}))",
                f"choose({a} > 3, {many}, xs)",
                f"put({a}, list({many}))",
                f"groups[{a}]",
                f"[{name}[0] * {a} for {name} in zip({many}, ys)]",
                "list(table.values())",
                f"random.sample({many}, 1)",
            ]
        )

    def fresh(self) -> str:
        """Return a new name."""
        self.names += 1
        return f"v{self.names}"

    def fresh_number(self) -> str:
        name = self.fresh()
        self.later.append(name)
        return name

    later: list[str]

    def header(self) -> tuple[str, str, list[str], list[str]]:
        """(target, iterable, names of numbers, names of lists) of a ``for``."""
        a, b, choose = self.fresh(), self.fresh(), self.choose
        many = "xs" if self.tame else self.list(1)
        return choose.pick(
            [
                (a, many, [a], []),
                (a, "xs", [a], []),
                (a, "range(4)", [a], []),
                (a, f"range(1, {choose.number(3, 5)})", [a], []),
                (f"{a}, {b}", "enumerate(xs)", [a, b], []),
                (f"{a}, {b}", f"enumerate({many})", [a, b], []),
                (f"{a}, {b}", "zip(xs, ys)", [a, b], []),
                (f"{a}, {b}", f"zip({many}, {self.list(1)})", [a, b], []),
                (f"{a}, {b}", "table.items()", [a, b], []),
                (a, "table", [a], []),
                (a, "nested", [], [a]),
                (f"{a}, *{b}", "nested", [a], [b]),
                (a, f"generate({many})", [a], []),
                (a, f"map(pure, {many})", [a], []),
                (a, f"(w + 1 for w in {many})", [a], []),
                (a, f"sorted({many})", [a], []),
                (a, "set(xs)", [a], []),
                (a, "[box.n, state, 2]", [a], []),
                (a, "stream", [a], []),
            ]
        )

    def block(self, depth: int, indent: str, in_loop: bool, size: int | None = None) -> list[str]:
        """Some statements."""
        lines: list[str] = []
        for _ in range(size or self.choose.number(1, 3)):
            lines += self.statement(depth, indent, in_loop)
        return lines

    def statement(self, depth: int, indent: str, in_loop: bool) -> list[str]:
        choose, pick = self.choose, self.choose.pick
        self.later = []
        simple = self.simple()
        kept = list(self.later)
        if depth <= 0 or choose.number(0, 2):
            self.numbers += kept
            lines = [indent + line for line in simple]
            if in_loop and choose.number(0, 11) == 0:
                lines.append(
                    f"{indent}if {self.number(1)} > {choose.number(0, 40)}: {pick(['break', 'continue', 'continue'])}"
                )
                self.later = []
            return lines
        numbers, lists, given = list(self.numbers), list(self.lists), list(self.given)
        lines = self.compound(depth, indent, in_loop)
        self.numbers, self.lists, self.given = numbers, lists, given
        return lines

    def simple(self) -> list[str]:
        """Write a simple statement."""
        choose, pick = self.choose, self.choose.pick
        a, b, many = self.number(), self.number(1), self.list()
        name = self.fresh()
        if self.tame and choose.number(0, 9):
            return self.harmless_statement(name, a, b)
        target = pick(["state", "best", name, name])
        options = [
            [f"{target} = {a}"],
            [f"{target} = {a}"],
            [f"{name} = {many}"],
            [f"rows.append({a})"],
            [f"rows.append({a})"],
            [f"total += {a}"],
            [f"total {pick(['-=', '*=', '//=', '|='])} {b} + 1"],
            [f"total = total + {b}"],
            [f"out[{pick(self.numbers)} % 6] = {a}"],
            [f"out[{pick(self.numbers)}] = {a}"],
            [f"counts[{b}] += {a}"],
            [f"table[{b}] = {a}"],
            [f"groups[{b} % 3].append({a})"],
            [f"seen.add({a})"],
            [f"box.n = {a}"],
            [f"box.n += {a}"],
            [f"box.put({a})"],
            [f"box.note({a})"],
            [f"box.parts[{b}] = {a}"],
            [f"{pick(self.lists)}.append({a})"],
            [f"{many}.append({a})"],
            [f"put({a}, {pick(self.lists)})"],
            [f"swap({pick(self.lists)} or [0])"],
            [f"best = max(best, {a})"],
            [f"text += str({a})"],
            [f"boxes[{choose.number(0, 2)}].grow({a})"],
            [f"nested[{choose.number(0, 2)}].append({a})"],
            [f"{name}, {self.fresh()} = {a}, {b}"],
            [f"{name} = Box({a})", f"{name}.put({b})", f"rows.append({name}.sum())"],
            [f"{name} = Box({a}, {many})", f"{name}.put({b})"],
            [f"{name} = []", f"{name}.append({a})", f"rows.append({name}[0])"],
            [f"{name} = []", f"shared.append({name})", f"{name}.append({a})"],
            [f"{name} = []", f"{name}.append({a})", f"rows.extend({name})"],
            [f"{name} = {{}}", f"{name}[{a}] = {b}", f"rows.append(len({name}))"],
            [f"{name} = make({a})", f"rows.append({name}({b}))"],
            [f"rows += [{a}]"],
            [f"del {pick(['rows[:1]', 'out[0]', 'xs[:0]'])}"],
            [f"setattr(box, 'n', {a})"],
            [f"random.seed({a})"],
            [f"box.held = {many}"],
            [f"xs = {many}"],
            [f"zs = {pick(['xs', 'rows', 'list(xs)'])}"],
            [f"def {name}(v): return v + {a}", f"rows.append({name}({b}))"],
            [f"{name} = lambda v: v * {a}", f"rows.append({name}({b}))"],
            [f"assert {a} is not None"],
            [f"{pick(ARRAYS)}[0] = {a} % 100"],
            [f"array[{pick(self.numbers)} % 3] = {a} % 100"],
            [f"array[{pick(self.numbers)} % 3, 1] += {b} % 100"],
            [f"{pick(ARRAYS)} += {b} % 9"],
            [f"np.add(array, {b} % 9, out=array)"],
            [f"{pick(ARRAYS)}.fill({b} % 9)"],
            [f"{name} = np.zeros(4, int)", f"{name}[1] = {a} % 100", f"rows.append(int({name}.sum()))"],
            [f"{name} = {pick(ARRAYS)}.copy()", f"{name}[0] = {a} % 9", f"rows.append(int({name}.sum()))"],
            [f"{name} = np.asarray({pick(ARRAYS)})", f"{name}[0] = {a} % 9"],
            [f"pairs[{choose.number(0, 1)}][1].append({a})"],
            [f"pairs.append(({a}, {many}))"],
            [f"{name}, {self.fresh()} = {pick(['pairs[0]', 'pair(xs, rows)'])}", "pairs[0][1].append(1)"],
            [f"{name} = {{'k': rows, 'n': {a}}}", f"{name}['k'].append({b})"],
            [f"{name} = (rows, {a})", f"{name}[0].append({b})"],
            [f"table.update({{{a}: {b}}})"],
            [f"table.pop({a}, None)"],
            ["rows.sort()"],
            self.change_part(name, a, many),
            self.change_part(name, a, many),
            self.change_part(name, a, many),
            ["global_rows = rows", "global_rows.append(1)"],
            [f"{a}"],
        ]
        found = pick(options)
        first = found[0]
        if first.startswith(f"{name} = ") and len(found) == 1:
            if first == f"{name} = {many}":
                self.pending_lists.append(name)
            else:
                self.later.append(name)
        elif first.startswith(f"{name}, "):
            self.later.append(name)
        self.lists += self.pending_lists
        self.pending_lists = []
        return found

    def change_part(self, name: str, a: str, many: str) -> list[str]:
        """Write a statement about a container whose elements have literal places or keys."""
        pick = self.choose.pick
        one, other = pick(PARTS), pick(["halves[0]", "halves[1]"])
        return pick(
            [
                [f"stored[{one}].append({a})"],
                [f"stored[{one}] = {many}"],
                [f"stored['n'] {pick(['=', '+=', '*='])} {a} % 9"],
                [f"stored[str({a})] = {many}"],
                [f"stored |= {{{one}: {many}}}"],
                [f"stored.update({pick(['a', 'b'])}={many})"],
                [f"{name} = {pick(['stored', 'dict(stored)', '{**stored}', 'stored.copy()'])}"]
                + [f"{name}[{one}].append({a})"],
                [f"for {name} in list(stored.values())[:2]: {name}.append({a})"],
                [f"def {name}(a, b, **rest): {pick(['a', 'b'])}[0:1] = [{a}]", f"{name}(**stored)"],
                [f"{other}.append({a})"],
                [f"halves[{self.choose.number(0, 1)}] = {many}"],
                [f"{name} = {pick(['halves', 'list(halves)', 'halves[:]', 'halves + []'])}", f"{name}[0].append({a})"],
                [f"{name}, {self.fresh()} = {pick(['halves', 'halves[::-1]'])}", f"{name}.append({a})"],
                [f"setattr(box, 'parts', {{{a}: 1}})"],
                [pick(["halves.reverse()", "swap(halves)", "halves.sort()", "halves *= 1", "halves.insert(1, [])"])],
                [f"postponed.append(w + {a} for w in xs)"],
                [f"postponed.append(map(lambda w: w + {a}, xs))"],
                [f"{name} = sorted(xs, key=lambda w: w % ({a} or 1))", f"rows.append({name}[0])"],
            ]
        )

    def harmless_statement(self, name: str, a: str, b: str) -> list[str]:
        """Write a statement whose effect does not depend on the other iterations."""
        choose = self.choose
        found = choose.pick(
            [
                [f"{name} = {a}"],
                [f"{name} = {a}"],
                [f"rows.append({a})"],
                [f"total += {a}"],
                [f"counts[{b}] += {a}"],
                [f"groups[{b} % 3].append({a})"],
                [f"seen.add({a})"],
                [f"{name} = Box({a})", f"{name}.put({b})", f"rows.append({name}.sum())"],
                [f"{name} = []", f"{name}.append({a})", f"rows.append({name}[0])"],
                [f"{name} = {{}}", f"{name}[{a}] = {b}", f"rows.append(len({name}))"],
                [f"{name} = make({a})", f"rows.append({name}({b}))"],
                [f"out[{choose.pick([*self.given, '0'])}] = {a}"],
                [f"box.put({a})"],
                [f"stored['a'].append({a})", "rows.append(len(stored['b']))"],
                [f"halves[1].append({a})", "total += sum(halves[0])"],
                [f"rows.append(sorted(xs, key=lambda w: (w + {a}) % 4)[0])"],
            ]
        )
        if len(found) == 1 and found[0].startswith(name):
            self.later.append(name)
            self.given.append(name)
        return found

    pending_lists: list[str]

    def compound(self, depth: int, indent: str, in_loop: bool) -> list[str]:
        choose, pick = self.choose, self.choose.pick
        inner = indent + "    "
        test = f"{self.number(1)} {pick(['>', '<', '==', '%'])} {choose.number(1, 9)}"
        kind = pick(["if", "if", "if else", "for", "for", "while", "try", "with", "match", "comprehension", "nested"])
        self.later = []
        if kind == "if":
            return [f"{indent}if {test}:", *self.block(depth - 1, inner, in_loop)]
        if kind == "if else":
            first = self.block(depth - 1, inner, in_loop)
            return [f"{indent}if {test}:", *first, f"{indent}else:", *self.block(depth - 1, inner, in_loop)]
        if kind == "for":
            target, over, numbers, lists = self.header()
            self.numbers += numbers
            self.given += numbers
            self.lists += lists
            lines = [f"{indent}for {target} in {over}:", *self.block(depth - 1, inner, True)]
            if choose.number(0, 5) == 0:
                lines += [f"{indent}else:", *self.block(depth - 1, inner, in_loop, 1)]
            return lines
        if kind == "while":
            name = self.fresh()
            body = self.block(depth - 1, inner, False)
            return [
                f"{indent}{name} = {self.number(1)} % 4",
                f"{indent}while {name} > 0:",
                f"{inner}{name} -= 1",
                *body,
            ]
        if kind == "try":
            body = self.block(depth - 1, inner, in_loop)
            risky = pick(
                [
                    f"{inner}table[{self.number(1)}]",
                    f"{inner}[1, 2][{self.number(1)} % 5]",
                    f"{inner}1 // ({self.number(1)} % 3)",
                ]
            )
            self.later = []
            return [
                f"{indent}try:",
                *body,
                risky,
                f"{indent}except Exception:",
                *self.block(depth - 1, inner, in_loop, 1),
            ]
        if kind == "match":
            name = self.fresh()
            subject = pick([self.number(1), f"({self.number(1)}, {self.number(1)})", self.list(1)])
            self.later = []
            lines = [
                f"{indent}match {subject}:",
                f"{inner}case {choose.number(0, 5)}:",
                *self.block(depth - 1, inner + "    ", in_loop, 1),
            ]
            lines += [f"{inner}case [{name}, *_]:", f"{inner}    rows.append({name})"]
            return [*lines, f"{inner}case _:", *self.block(depth - 1, inner + "    ", in_loop, 1)]
        if kind == "nested":
            name, argument = self.fresh(), self.fresh()
            numbers = list(self.numbers)
            body = pick(
                [
                    [f"{inner}return {argument} + {self.number(1)}"],
                    [f"{inner}rows.append({argument})", f"{inner}return {self.number(1)}"],
                    [
                        f"{inner}if {argument} > {choose.number(1, 9)}: return {self.number(1)}",
                        f"{inner}return {argument}",
                    ],
                ]
            )
            self.numbers = numbers
            self.later = []
            return [f"{indent}def {name}({argument}):", *body, f"{indent}rows.append({name}({self.number(1)}))"]
        if kind == "with":
            return self.block(depth - 1, indent, in_loop)
        target, over, numbers, lists = self.header()
        before = list(self.numbers), list(self.lists), list(self.given)
        self.numbers += numbers
        self.given += numbers
        self.lists += lists
        value = self.number()
        test = pick(["", f" if {self.number(1)} > {choose.number(0, 5)}"])
        self.numbers, self.lists, self.given = before
        self.later = []
        return [f"{indent}rows.extend([{value} for {target} in {over}{test}])"]

    def program(self) -> str:
        """Write a whole program."""
        choose, pick = self.choose, self.choose.pick
        self.pending_lists = []
        self.later = []
        head = HEAD.format(
            alias=pick(["xs", "list(xs)", "[1, 2, 3]"]),
            other_array=pick(["array", "array[:2]", "array.copy()", "np.asarray(array)", "np.ravel(array)"]),
            shared=pick(["[]", "rows", "box.held", "nested", "xs"]),
            operators=pick(OPERATORS) if choose.number(0, 4) == 0 else "",
        )
        inside = choose.number(0, 2) == 0
        indent = "    " if inside else ""
        target, over, numbers, lists = self.header()
        self.numbers += numbers
        self.given += numbers
        self.lists += lists
        size = choose.number(1, 4)
        loop = [f"{indent}for {target} in {over}:", *self.block(2, indent + "    ", True, size)]
        wanted = choose.pick([["rows", "total", "out", "array"], ALL, ALL])
        lines = []
        if inside:
            lines.append("def main(values=None):")
            lines.append("    global total, best, state, text, xs, zs")
            if choose.number(0, 1):
                lines.append("    rows = []")
            end = ["    return {results}", "results = main()"]
        else:
            end = ["results = {results}"]
        lines += loop
        head, names = _needed(head, "\n".join(lines))
        results = [each for each in wanted if _HEAD_NAMES.intersection(_WORD.findall(each)) <= names]
        if choose.number(0, 5) == 0:
            at = lines.index(loop[0])
            lines[at : at + 1] = self.write_while(target, over, indent)
        body = "\n".join([*lines, *end]).replace("{results}", f"[{', '.join(results)}]")
        return f"{head}\n{MAIN}\n{body}\n"

    def write_while(self, target: str, over: str, indent: str) -> list[str]:
        """Write the header of a ``for`` as one of a ``while``, whose body goes on as before."""
        left, number = self.fresh(), self.fresh()
        if self.choose.number(0, 1):
            return [f"{indent}{left} = list({over})", f"{indent}while {left}:", f"{indent}    {target} = {left}.pop(0)"]
        return [
            f"{indent}{left}, {number} = list({over}), 0",
            f"{indent}while {number} < len({left}):",
            f"{indent}    {target} = {left}[{number}]",
            f"{indent}    {number} += 1",
        ]


PARTS = ["'a'", "'b'"]
ARRAYS = ["array", "row_of", "column", "flat", "other_array"]
#: The line between what a program begins with and its loop.
MAIN = "# the program"
_BLOCK = re.compile(r"^(?=[^\s@)])|^(?=@)", re.M)
_WORD = re.compile(r"\w+")


def _needed(head: str, body: str) -> tuple[str, set[str]]:
    """Return the parts of the head that a program uses, by the names in them, and the names that they define."""
    parts = _split(head)
    wanted, kept = set(_WORD.findall(body)), set[int]()
    while True:
        new = [
            index
            for index, part in enumerate(parts)
            if index not in kept and (part.startswith(("import", "from")) or _names_of(part) & wanted)
        ]
        if not new:
            return "".join(parts[index] for index in sorted(kept)), set().union(*(_names_of(parts[at]) for at in kept))
        kept.update(new)
        for index in new:
            wanted.update(_WORD.findall(parts[index]))


def _split(head: str) -> list[str]:
    """Return the statements of a head; a decorator and its function are one."""
    parts: list[str] = []
    for part in _BLOCK.split(head):
        if parts and parts[-1].startswith("@") and parts[-1].count("\n") == 1:
            parts[-1] += part
        elif part:
            parts.append(part)
    return parts


def _names_of(part: str) -> set[str]:
    """Return the names that a part of the head defines."""
    words = part.lstrip("@").split()
    if part.startswith("@"):
        words = words[1:]
    return {words[1].partition("(")[0].rstrip(":") if words[0] in ("def", "class") else words[0]}


_HEAD_NAMES = set().union(*(_names_of(part) for part in _split(HEAD)))
ALL = [
    "rows",
    "total",
    "best",
    "state",
    "out",
    "counts",
    "table",
    "groups",
    "seen",
    "box.n",
    "box.held",
    "box.parts",
    "Box.kept",
]
ALL += [
    "array",
    "other_array",
    "pairs",
    "text",
    "xs",
    "nested",
    "shared",
    "[b.n for b in boxes]",
    "adder(0)",
    "remember(0)",
    "stored",
    "halves",
    "[list(each) for each in postponed]",
    "next(stream, 0)",
    "rng.random()",
]


def make_program(choose: Choose) -> str:
    """Write a program."""
    return Writer(choose).program()
