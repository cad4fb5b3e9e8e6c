"""A function in the user's source: where it stands, its parameters, what it returns."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tfperfkit.syntax.bindings import parameters
from tfperfkit.syntax.call import bind_arguments
from tfperfkit.syntax.expression import Call, Code, Expression, File
from tfperfkit.syntax.nodes import FUNCTIONS, find_nodes, find_own_nodes, list_returned

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Function(Code):
    """A function or a lambda (``<lambda>``).

    ``line``: of its ``def``; ``first``: of its first decorator; ``owner``: the class whose method it is, "" for none.
    Functions are equal if they have the same lines and name.
    """

    node: Definition = field(compare=False, repr=False)
    file: File = field(compare=False, repr=False)
    name: str
    line: int
    first: int
    last: int
    owner: str = field(default="", compare=False)

    @property
    def lines(self) -> range:
        """Return the lines from the ``def`` to the end; decorators are excluded."""
        return range(self.line, self.last + 1)

    @property
    def parameters(self) -> list[str]:
        """Return the names of the parameters that an argument without a keyword can be bound to, in their order."""
        return [item.arg for item in (*self.node.args.posonlyargs, *self.node.args.args)]

    @property
    def all_parameters(self) -> list[str]:
        """Return the names of all parameters, those that take the rest included."""
        return [item.arg for item in parameters(self.node.args)]

    @property
    def defaults(self) -> list[Expression]:
        """Return the defaults of its parameters."""
        found = (*self.node.args.defaults, *self.node.args.kw_defaults)
        return [self.file.wrap(node) for node in found if node is not None]

    @property
    def body_parts(self) -> list[Expression]:
        """Return the expressions in its body, outer ones before inner ones."""
        body: list[ast.AST] = [self.node.body] if isinstance(self.node, ast.Lambda) else [*self.node.body]
        return [part for node in body for part in Code(node, self.file).parts]

    @property
    def takes_any_number(self) -> bool:
        """Return whether it has a parameter ``*rest``."""
        return self.node.args.vararg is not None

    @property
    def has_functions(self) -> bool:
        """Return whether functions or lambdas are defined in it."""
        return len(find_nodes(self.node, *FUNCTIONS, ast.Lambda)) > 1

    @property
    def decorators(self) -> list[Expression]:
        """List the decorators; for ``@jit(static=1)`` the name ``jit``."""
        found = getattr(self.node, "decorator_list", ())
        return [self.file.wrap(item.func if isinstance(item, ast.Call) else item) for item in found]

    @property
    def bases(self) -> list[Expression]:
        """List the base classes of the method's class."""
        around = self.file.parents.get(self.node)
        return [self.file.wrap(base) for base in around.bases] if isinstance(around, ast.ClassDef) else []

    @property
    def is_generator(self) -> bool:
        """Return whether it yields, so that a call of it runs nothing yet."""
        return bool(find_own_nodes(self.node, ast.Yield, ast.YieldFrom))

    @property
    def is_at_top(self) -> bool:
        """Return whether it is defined at the module's top, not in a class, a function or a condition."""
        return self.node in self.file.tree.body

    @property
    def returned(self) -> list[Expression | None]:
        """List the expressions that the ``return`` statements return, in the order of the source; None for a bare
        ``return``.
        """
        return [self.file.wrap(node) if node is not None else None for node in list_returned(self.node)]

    def find_given(self, call: Call, parameter: str) -> Expression | None:
        """Find what a call of this function gives for a parameter; None if it gives nothing, or if ``*`` hides that."""
        is_static = any(item.last_name == "staticmethod" for item in self.decorators)
        skip = int(bool(call.method and self.owner and not is_static))
        given = (bind_arguments(self.node.args, call.node, skip=skip) or {}).get(parameter)
        return call.file.wrap(given.values[0]) if given is not None and given.sure and len(given.values) == 1 else None


def make_function(file: File, node: Definition, owner: str = "") -> Function:
    """Describe the function that a node defines."""
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
    name, last = getattr(node, "name", "<lambda>"), node.end_lineno or node.lineno
    return Function(node, file, name, node.lineno, first, last, owner)
