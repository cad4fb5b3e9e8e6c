"""Expressions and assignments of a parsed file, as values that answer questions about themselves.

An expression knows its file, so it knows which API it stands for and what its names are assigned. A question that makes
no sense for an expression has an empty answer: a name has no ``items``, a number has no ``owner``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

from tfperfkit.syntax import nodes
from tfperfkit.syntax.kinds import KINDS, OPERATORS
from tfperfkit.syntax.loops import Span, get_span
from tfperfkit.syntax.names import Names


class File(Names):
    """A parsed file, as far as its expressions need it; ``module.get_file`` returns all known facts."""

    def __init__(self, tree: ast.Module) -> None:
        super().__init__(tree)
        self._expressions: dict[ast.AST, Expression] = {}

    @overload
    def wrap(self, node: ast.Call) -> Call: ...
    @overload
    def wrap(self, node: ast.expr) -> Expression: ...
    def wrap(self, node: ast.expr) -> Expression:
        """Return the one object that stands for an expression of this file."""
        found = self._expressions.get(node)
        if found is None:
            found = Call(node, self) if isinstance(node, ast.Call) else Expression(node, self)
            self._expressions[node] = found
        return found

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Return the node around each node."""
        return {below: node for node in nodes.find_nodes(self.tree, ast.AST) for below in ast.iter_child_nodes(node)}


@dataclass(frozen=True, eq=False)
class Code:
    """A piece of a parsed file."""

    node: ast.AST = field(repr=False)
    file: File = field(repr=False)

    @cached_property
    def parts(self) -> list[Expression]:
        """Return all expressions in it, itself included; outer ones come before inner ones."""
        return [self.file.wrap(node) for node in nodes.find_nodes(self.node, ast.expr)]

    @property
    def calls(self) -> list[Call]:
        """Return the calls in it, outer ones before inner ones."""
        return [part for part in self.parts if isinstance(part, Call)]

    @property
    def assignments(self) -> list[Assignment]:
        """Return the assignments in it, outer ones before inner ones; without those of ``for``, ``with`` and
        imports."""
        found = (make_assignment(self.file, node) for node in nodes.find_nodes(self.node, ast.stmt, ast.NamedExpr))
        return [item for item in found if item is not None]

    @property
    def entered(self) -> list[tuple[Expression, Expression]]:
        """List the expressions that ``with`` statements here enter and bind: ``tf.GradientTape()`` and ``tape``."""
        found = [(item.context_expr, item.optional_vars) for item in nodes.find_nodes(self.node, ast.withitem)]
        return [(self.file.wrap(made), self.file.wrap(name)) for made, name in found if name is not None]

    @property
    def loop_targets(self) -> list[tuple[Expression, Expression]]:
        """List the targets of the loops in the node, with the iterated expressions; comprehensions are included."""
        found: list[ast.For | ast.AsyncFor] = nodes.find_nodes(self.node, ast.For, ast.AsyncFor)
        rows = [(self.file.wrap(node.target), self.file.wrap(node.iter)) for node in found]
        return [*rows, *(pair for part in self.parts for pair in part.generators)]

    @property
    def names(self) -> set[str]:
        """List the names in the expression, read or bound."""
        return nodes.list_names(self.node)

    @property
    def read_names(self) -> set[str]:
        """Return the names that it reads."""
        return {part.node.id for part in self.parts if isinstance(part.node, ast.Name) and part.is_read}

    @property
    def bound_names(self) -> set[str]:
        """Return the names that it assigns to or deletes; parameters are not among them."""
        return {part.node.id for part in self.parts if isinstance(part.node, ast.Name) and not part.is_read}


@dataclass(frozen=True, eq=False)
class Expression(Code):
    """An expression. There is one object for each expression of a file."""

    node: ast.expr = field(repr=False)

    @property
    def kind(self) -> str:
        """Return the kind of the expression: ``name``, ``attribute``, ``subscript``, ``slice``, ``call``, ``constant``,
        ``list``, ``tuple``, ``set``, ``dict``, ``operation``, ``comparison``, ``if``, ``lambda``, ``starred``,
        ``yield``, ``comprehension``; "" for anything else.
        """
        return KINDS.get(type(self.node), "")

    @property
    def text(self) -> str:
        """Return the expression as it is written, up to spaces and quotes."""
        return ast.unparse(self.node)

    @property
    def line(self) -> int:
        """Return the line at which it begins, from 1."""
        return self.node.lineno

    @property
    def lines(self) -> range:
        """Return the lines that it has a part of."""
        return nodes.get_lines(self.node)

    @property
    def span(self) -> Span:
        """Return the position of the expression: (line, last line, column, end column)."""
        return get_span(self.node)

    @property
    def api(self) -> str:
        """Return the API that it stands for, as ``names`` resolves it; "" for the user's own and for what is
        unknown."""
        return self.file.name(self.node)

    @property
    def last_name(self) -> str:
        """Return the last word of a name or an attribute: ``fit`` of ``model.fit``; "" for anything else."""
        return nodes.get_last_name(self.node)

    @property
    def dotted(self) -> str:
        """A name with its attributes, ``model.layer.rate``; "" for anything else."""
        owner = self.owner.dotted if self.kind == "attribute" and self.owner is not None else ""
        return self.text if self.kind == "name" else f"{owner}.{self.last_name}" if owner else ""

    @property
    def is_plain(self) -> bool:
        """Return whether it is a name or an attribute."""
        return self.kind in ("name", "attribute")

    @property
    def is_list(self) -> bool:
        """Return whether it makes a list or a tuple, element by element: written out or by a comprehension."""
        return isinstance(self.node, (ast.List, ast.Tuple, ast.ListComp))

    @property
    def is_read(self) -> bool:
        """Return whether its value is read, not assigned or deleted."""
        return isinstance(getattr(self.node, "ctx", ast.Load()), ast.Load)

    @property
    def is_self(self) -> bool:
        """Return whether it is the first argument of a method, whatever its name is."""
        return self.file.is_self(self.node)

    def is_constant(self, *values: object) -> bool:
        """Return whether it is one of these constants, any if none is given; 1 is neither True nor 1.0."""
        if not isinstance(self.node, ast.Constant):
            return False
        found = self.node.value
        return not values or any(type(found) is type(value) and found == value for value in values)

    @property
    def value(self) -> object:
        """Return the value of a constant or of a negative number; None for anything else."""
        if isinstance(self.node, ast.UnaryOp) and isinstance(self.node.op, ast.USub):
            number = self.operands[0].value
            return -number if isinstance(number, (int, float)) else None
        return self.node.value if isinstance(self.node, ast.Constant) else None

    @property
    def assigned(self) -> list[Expression]:
        """List the expressions that a name, or an attribute of ``self``, is assigned in the file; for any other
        expression itself.
        """
        return [self.file.wrap(node) for node in self.file.bound_to(self.node)]

    @property
    def only_value(self) -> Expression | None:
        """Return the only expression that a name is bound to; None if other code may bind or extend it."""
        node = self.file.only_bound_to(self.node)
        return self.file.wrap(node) if node is not None else None

    def name_element(self, position: int | None = None) -> str:
        """Name what a loop over it goes through: ``keras.layers.Dense()``, ``?.trainable_variables[]``.

        ``position``: in the target of a loop that takes elements apart; None for the whole element.
        """
        return self.file.element(self.node, position)

    @property
    def children(self) -> list[Expression]:
        """Return the expressions directly in it, without arguments with keywords and what comprehensions go over."""
        found = ast.iter_child_nodes(self.node)
        return [self.file.wrap(node) for node in found if isinstance(node, ast.expr)]

    @property
    def items(self) -> list[Expression]:
        """Return the elements of a list, tuple or set that is written out."""
        return [self.file.wrap(node) for node in getattr(self.node, "elts", ())]

    @property
    def keys(self) -> list[Expression | None]:
        """Return the keys of a dictionary that is written out; None for another dictionary that it includes."""
        found = self.node.keys if isinstance(self.node, ast.Dict) else []
        return [self.file.wrap(key) if key is not None else None for key in found]

    @property
    def pairs(self) -> list[tuple[Expression, Expression]]:
        """Return the keys and values of a dictionary that is written out, without other dictionaries that it
        includes."""
        values = self.node.values if isinstance(self.node, ast.Dict) else []
        pairs = zip(self.keys, map(self.file.wrap, values), strict=True)
        return [(key, value) for key, value in pairs if key is not None]

    @property
    def element(self) -> Expression | None:
        """Return the expression that a comprehension collects."""
        node = getattr(self.node, "elt", None)
        return self.file.wrap(node) if node is not None else None

    @property
    def root(self) -> Expression:
        """Return the leftmost expression: ``a`` for ``a.b[0].c()``."""
        node = self.file.root(self.node)
        return self.file.wrap(node) if isinstance(node, ast.expr) else self

    @property
    def generators(self) -> list[tuple[Expression, Expression]]:
        """List the target of each ``for`` of a comprehension, with the iterated expression."""
        found = self.node.generators if isinstance(self.node, nodes.COMPREHENSIONS) else []
        return [(self.file.wrap(each.target), self.file.wrap(each.iter)) for each in found]

    @property
    def owner(self) -> Expression | None:
        """Return the expression whose attribute or element this is: ``a.b`` for ``a.b.c`` and for ``a.b[0]``; ``a`` for
        ``*a``.
        """
        node = self.node.value if isinstance(self.node, (ast.Attribute, ast.Subscript, ast.Starred)) else None
        return self.file.wrap(node) if node is not None else None

    @property
    def index(self) -> Expression | None:
        """Return the index of an element: ``i`` for ``x[i]``."""
        return self.file.wrap(self.node.slice) if isinstance(self.node, ast.Subscript) else None

    @property
    def indices(self) -> list[Expression]:
        """List the indices of an element, axis by axis: ``i`` and ``j`` for ``x[i, j]``."""
        index = self.index
        return [] if index is None else index.items if index.kind == "tuple" else [index]

    @property
    def bounds(self) -> tuple[Expression | None, Expression | None]:
        """Return the lower and the upper end of a slice, None if it is open."""
        ends = (self.node.lower, self.node.upper) if isinstance(self.node, ast.Slice) else (None, None)
        lower, upper = (self.file.wrap(end) if end is not None else None for end in ends)
        return lower, upper

    @property
    def operator(self) -> str:
        """Return the sign of an operation, or of a comparison's first part: one of ``+ - * @ | in``, ``not in``; else
        ""."""
        sign: object = self.node.ops[0] if isinstance(self.node, ast.Compare) else getattr(self.node, "op", None)
        return OPERATORS.get(type(sign), "")

    @property
    def operands(self) -> list[Expression]:
        """List the operands of an operation with one or two operands, or of a comparison."""
        if isinstance(self.node, ast.BinOp):
            return [self.file.wrap(self.node.left), self.file.wrap(self.node.right)]
        if isinstance(self.node, ast.Compare):
            return [self.file.wrap(node) for node in (self.node.left, *self.node.comparators)]
        return [self.file.wrap(self.node.operand)] if isinstance(self.node, ast.UnaryOp) else []

    @property
    def is_statement(self) -> bool:
        """Return whether it is a statement by itself, whose value nobody uses."""
        return isinstance(self.file.parents.get(self.node), ast.Expr)

    @property
    def target(self) -> Expression | None:
        """Return the target to which an assignment with one target assigns this expression as a whole."""
        around = self.file.parents.get(self.node)
        is_value = isinstance(around, ast.Assign) and around.value is self.node and len(around.targets) == 1
        return self.file.wrap(around.targets[0]) if is_value and isinstance(around, ast.Assign) else None

    @property
    def is_in_loop(self) -> bool:
        """Return whether a ``for`` or ``while`` statement of the same function is around it."""
        around = self.file.parents.get(self.node)
        while around is not None and not isinstance(around, nodes.FUNCTIONS):
            if isinstance(around, nodes.LOOPS):
                return True
            around = self.file.parents.get(around)
        return False

    @property
    def parent(self) -> Expression | None:
        """Return the expression around it; None if that is a statement."""
        around = self.file.parents.get(self.node)
        while around is not None and not isinstance(around, (ast.expr, ast.stmt)):
            around = self.file.parents.get(around)
        return self.file.wrap(around) if isinstance(around, ast.expr) else None


@dataclass(frozen=True, eq=False)
class Call(Expression):
    """A call. ``name`` is the API that it calls, ``api`` what it returns: ``numpy.load`` and ``numpy.load()``."""

    node: ast.Call = field(repr=False)

    @property
    def function(self) -> Expression:
        """Return the called expression."""
        return self.file.wrap(self.node.func)

    @property
    def name(self) -> str:
        """Return the API that is called: ``keras.Model().fit``; ``?.fit`` if the object is unknown, "" for the user's
        own."""
        return self.file.name(self.node.func)

    @property
    def method(self) -> str:
        """Return the method that is called: ``fit`` of ``model.fit(x)``; "" if it is no method."""
        return self.node.func.attr if isinstance(self.node.func, ast.Attribute) else ""

    @property
    def receiver(self) -> Expression | None:
        """Return the object whose method is called: ``model`` of ``model.fit(x)``."""
        return self.function.owner if self.function.kind == "attribute" else None

    @property
    def arguments(self) -> list[Expression]:
        """Return the arguments without a keyword."""
        return [self.file.wrap(node) for node in self.node.args]

    @property
    def keywords(self) -> dict[str, Expression]:
        """Return the arguments with a keyword; without ``**``."""
        return {word.arg: self.file.wrap(word.value) for word in self.node.keywords if word.arg is not None}

    @property
    def given(self) -> list[Expression]:
        """Return all arguments, those with keywords last."""
        return [*self.arguments, *(self.file.wrap(word.value) for word in self.node.keywords)]

    @property
    def arguments_text(self) -> str:
        """Return all arguments as they are written."""
        words = [(f"{word.arg}=" if word.arg else "**") + ast.unparse(word.value) for word in self.node.keywords]
        return ", ".join([*map(ast.unparse, self.node.args), *words])

    @property
    def hides_arguments(self) -> bool:
        """Return whether ``*`` or ``**`` hide which arguments it has."""
        starred = any(isinstance(item, ast.Starred) for item in self.node.args)
        return starred or any(word.arg is None for word in self.node.keywords)

    def get_argument(self, name: str, position: int | None = None) -> Expression | None:
        """Return the argument for a parameter, by its keyword or else at a position; None if the call does not show the
        argument.
        """
        before = [] if position is None else self.arguments[: position + 1]
        if name in self.keywords or position is None or len(before) <= position:
            return self.keywords.get(name)
        return before[position] if all(item.kind != "starred" for item in before) else None


@dataclass(frozen=True)
class Assignment:
    """``targets``: several in ``a = b = 1``; ``operator``: ``+`` of ``a += 1``, "" for a plain assignment."""

    line: int
    targets: list[Expression]
    value: Expression
    operator: str = ""


def make_assignment(file: File, node: ast.AST) -> Assignment | None:
    """Describe the assignment that a node is; None for any other node, or if nothing is assigned (``x: int``)."""
    if isinstance(node, ast.Assign):
        return Assignment(node.lineno, [file.wrap(item) for item in node.targets], file.wrap(node.value))
    if isinstance(node, ast.AugAssign):
        sign = OPERATORS.get(type(node.op), "other")
        return Assignment(node.lineno, [file.wrap(node.target)], file.wrap(node.value), sign)
    if isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        return Assignment(node.lineno, [file.wrap(node.target)], file.wrap(node.value))
    return None
