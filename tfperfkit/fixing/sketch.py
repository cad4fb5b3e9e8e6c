"""Sketches: the user's own lines with a change made that nothing has proven. Drafts show them as "after"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfperfkit.remedy import BatchLoop, CallDirectly, Compile, Every, Hoist, KeepTrace, Remedy, Remove

_LOOPS = (ast.For, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_INDENT = "    "
#: Code that a trace would run once, or could not run.
_UNTRACEABLE = re.compile(
    r"\.(?:append|extend|numpy|item|tolist)\(|\b(?:print|float|int|open)\(|\b(?:np|numpy|random)\."
)


@dataclass(frozen=True)
class _Place:
    """``lines`` from ``begin`` to ``end`` are shown; ``line`` is the one to change; ``around``: the statements around
    it, innermost first."""

    lines: Sequence[str]
    begin: int
    end: int
    line: int
    around: tuple[ast.stmt, ...]

    @property
    def statement(self) -> ast.stmt:
        """Return the innermost statement."""
        return self.around[0]

    def find(self, *kinds: type[ast.stmt]) -> ast.stmt | None:
        """Return the innermost statement around that is of a kind, and shown as a whole."""
        return next((node for node in self.around[1:] if isinstance(node, kinds) and node.lineno >= self.begin), None)

    def text(self, first: int, last: int) -> list[str]:
        """Return lines as they are."""
        return list(self.lines[first - 1 : last])

    def replaced(self, node: ast.stmt, new: Sequence[str]) -> list[str]:
        """Return the shown lines with others instead of a statement."""
        return [
            *self.text(self.begin, node.lineno - 1),
            *new,
            *self.text((node.end_lineno or node.lineno) + 1, self.end),
        ]


def make_sketch(remedy: Remedy, lines: Sequence[str], line: int, ends: tuple[int, int]) -> tuple[str, ...]:
    """Return the shown lines (the first and last of them are ``ends``) after a change of this kind at ``line``; nothing
    if no such change is known."""
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return ()
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and _first_line(node) <= line <= (node.end_lineno or node.lineno)
    ]
    around.sort(key=lambda node: (int(node.end_lineno or node.lineno) - node.lineno, -node.col_offset))
    if not around:
        return ()
    place = _Place(lines, ends[0], ends[1], line, tuple(around))
    made = list(_sketch(remedy, place))
    return tuple(made) if made != place.text(*ends) else ()


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(item.lineno for item in decorators)])


def _sketch(remedy: Remedy, place: _Place) -> Sequence[str]:
    match remedy:
        case Hoist("iterator"):
            return _keep_iterator(place)
        case Hoist():
            return _move_out(place)
        case Every():
            return _do_rarely(place)
        case Remove("statement"):
            return place.replaced(place.statement, ()) if _is_simple(place.statement) else ()
        case BatchLoop():
            return _call_once(place)
        case Compile():
            return _compile(place)
        case CallDirectly("predict"):
            return _replace(place, r"\.predict\(([^()]*?)(?:, *verbose=\w+)?\)", r"(\1, training=False).numpy()")
        case CallDirectly("fit"):
            return _replace(place, r"\.fit\(", ".train_on_batch(")
        case KeepTrace("batch" | "length"):
            return _replace(place, r"@tf\.function(?:\(\))?$", "@tf.function(reduce_retracing=True)")
    return ()


def _is_simple(node: ast.stmt) -> bool:
    return not hasattr(node, "body")


def _indent(node: ast.stmt) -> str:
    return " " * node.col_offset


def _own_lines(place: _Place, node: ast.stmt, indent: str) -> list[str]:
    """Return the lines of a statement, indented as ``indent``."""
    lines = place.text(_first_line(node), node.end_lineno or node.lineno)
    return [indent + line[node.col_offset :] if line.strip() else line for line in lines]


def _move_out(place: _Place) -> Sequence[str]:
    """Move the statement before the loop, or before the function, that repeats it, if it reads nothing of these."""
    node = place.statement
    scope = place.find(*_LOOPS) or place.find(*_FUNCTIONS)
    if scope is None or not (_is_simple(node) or isinstance(node, ast.With)):
        return ()
    if _list_read(node) & _list_bound(scope, node):
        return ()
    first = _first_line(scope)
    moved = _own_lines(place, node, _indent(scope)) + ([""] if isinstance(scope, _FUNCTIONS) else [])
    rest = [*place.text(first, node.lineno - 1), *place.text((node.end_lineno or node.lineno) + 1, place.end)]
    return [*place.text(place.begin, first - 1), *moved, *rest]


def _list_read(node: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)}


def _list_bound(scope: ast.AST, without: ast.AST) -> set[str]:
    """List the names that a loop or a function binds, parameters included, apart from one of its statements."""
    own = set(ast.walk(without))
    nodes = [item for item in ast.walk(scope) if item not in own]
    stored = {item.id for item in nodes if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
    return stored | {item.arg for item in nodes if isinstance(item, ast.arg)}


def _keep_iterator(place: _Place) -> Sequence[str]:
    """Make the iterator before the loop, and take its next element in the loop."""
    loop = place.find(*_LOOPS)
    text = place.text(place.begin, place.end)
    found = re.search(r"next\(iter\(([\w.]+)\)\)", "\n".join(text))
    if loop is None or found is None or found[1].partition(".")[0] in _list_bound(loop, ast.Pass()):
        return ()
    made = f"{_indent(loop)}batches = iter({found[1]}.repeat())"
    at = loop.lineno - place.begin
    return [*text[:at], made, *(line.replace(found[0], "next(batches)") for line in text[at:])]


def _do_rarely(place: _Place) -> Sequence[str]:
    """Put the statement under a condition on the loop's counter."""
    node, loop = place.statement, place.find(*_LOOPS)
    if not _is_simple(node) or isinstance(node, ast.Assign | ast.AugAssign):
        return ()
    counter = _find_counter(loop) or "step"
    test = f"{_indent(node)}if {counter} % 100 == 0:"
    return place.replaced(node, [test, *_own_lines(place, node, _indent(node) + _INDENT)])


def _find_counter(loop: ast.stmt | None) -> str:
    """Return the name that counts the iterations of a loop; "" if none does."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return ""
    over = getattr(loop.iter.func, "id", "")
    target = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and over == "enumerate" else loop.target
    return target.id if over in ("range", "enumerate") and isinstance(target, ast.Name) else ""


def _call_once(place: _Place) -> Sequence[str]:
    """Call the function of the loop's value once, on all values, and go through its results."""
    loop = place.find(ast.For)
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name) or not _is_simple(place.statement):
        return ()
    name, over, indent = loop.target.id, ast.unparse(loop.iter), _indent(loop)
    call = next(
        (
            item
            for item in ast.walk(place.statement)
            if isinstance(item, ast.Call) and any(getattr(each, "id", "") == name for each in item.args)
        ),
        None,
    )
    if call is None:
        return ()
    whole = ast.unparse(call).replace(f"({name}", "(np.stack(values)", 1)
    text = place.text(_first_line(loop), place.end)
    wanted = re.escape(ast.unparse(call).replace(" ", "")).replace(r"\ ", "")
    found = [line for line in text if re.search(wanted, line.replace(" ", ""))]
    if not found or ast.unparse(call) not in found[0]:
        return ()
    body = [line.replace(ast.unparse(call), "result") if line == found[0] else line for line in text[1:]]
    return [
        *place.text(place.begin, loop.lineno - 1),
        f"{indent}values = list({over})",
        f"{indent}results = {whole}",
        f"{indent}for {name}, result in zip(values, results):",
        *body,
    ]


def _compile(place: _Place) -> Sequence[str]:
    """Decorate the function around, or make a function of the loop's body."""
    function = place.find(*_FUNCTIONS) or (place.statement if isinstance(place.statement, _FUNCTIONS) else None)
    if function is not None:
        if _UNTRACEABLE.search(ast.unparse(function)) or any(
            isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
            for node in ast.walk(function)
        ):
            return ()
        first = _first_line(function)
        return [*place.text(place.begin, first - 1), f"{_indent(function)}@tf.function", *place.text(first, place.end)]
    loop = place.statement if isinstance(place.statement, ast.For) else place.find(ast.For)
    if not isinstance(loop, ast.For) or _UNTRACEABLE.search(ast.unparse(loop)):
        return ()
    bound = list(dict.fromkeys(_names(loop.target)))
    indent, inner = _indent(loop), _indent(loop) + _INDENT
    body = place.text(loop.body[0].lineno, loop.end_lineno or loop.lineno)
    given = ", ".join(bound)
    return [
        *place.text(place.begin, loop.lineno - 1),
        f"{indent}@tf.function",
        f"{indent}def iteration({given}):",
        *body,
        "",
        *place.text(loop.lineno, loop.body[0].lineno - 1),
        f"{inner}iteration({given})",
        *place.text((loop.end_lineno or loop.lineno) + 1, place.end),
    ]


def _names(target: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _replace(place: _Place, pattern: str, new: str) -> Sequence[str]:
    """Replace a pattern in the shown lines."""
    return [re.sub(pattern, new, line) for line in place.text(place.begin, place.end)]
