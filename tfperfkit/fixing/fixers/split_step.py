"""A step that can't be compiled as a whole: the statements from the tape to the update become a compiled function, and
what NumPy draws at the beginning of a function that they call is drawn before, and passed to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.fixers.step_from_loop import find_blocks, is_tape, list_counted
from tfperfkit.fixing.module import Module, dotted, method, walk
from tfperfkit.fixing.traceable import explain_refusal, obstacle

#: NumPy functions of one array, and the same of a tensor; then the dtype that NumPy gives their result for booleans.
_REDUCTIONS = {
    "numpy.mean": ("reduce_mean", "float64"),
    "numpy.sum": ("reduce_sum", "int64"),
    "numpy.max": ("reduce_max", ""),
    "numpy.min": ("reduce_min", ""),
}
_BUILTINS = frozenset({"len", "range", "int", "float", "list", "tuple", "zip", "min", "max", "sorted"})


@dataclass(frozen=True)
class _Split:
    """``function``: called in the step; ``drawn``: its first statements, which move out; ``given``: the names that they
    give to the others; ``rest``: the others, with tensors instead of arrays."""

    function: cst.FunctionDef
    call: cst.Call
    drawn: Sequence[Any]
    given: Sequence[str]
    head: Sequence[Any]
    rest: Sequence[Any]


def split_step(case: Case) -> list[Edit]:
    """At the first place that is in a method with a tape."""
    reason = NoFix("there is no tape in a method at its place")
    for module, span in case.places():
        for function in (node for node in module.nodes if isinstance(node, cst.FunctionDef)):
            owner = next(iter(list(module.around(function))[1:2]), None)
            if not module.spans(function, span.line) or not isinstance(owner, cst.ClassDef):
                continue
            try:
                return _split_method(module, owner, function)
            except NoFix as error:
                reason = error
    raise reason


def _split_method(module: Module, owner: cst.ClassDef, function: cst.FunctionDef) -> list[Edit]:
    tapes = [node for node in walk(function.body) if isinstance(node, cst.With) and is_tape(module, node)]
    if len(tapes) != 1:
        raise NoFix("there is not one tape in the method")
    if function.decorators or function.asynchronous is not None:
        raise NoFix("the method is decorated or async")
    around = list(module.around(tapes[0]))
    body = list(around[0].body)
    loops = [node for node in around[: around.index(function)] if isinstance(node, (cst.For, cst.While))]
    refused = NoFix("no update of the weights follows the tape")
    for block in find_blocks(body, tapes[0]):
        try:
            split = _find_split(module, owner, block)
            return _edits(module, function, loops, block, split)
        except NoFix as error:
            refused = error
    raise refused


def _find_split(module: Module, owner: cst.ClassDef, block: Sequence[Any]) -> _Split | None:
    """Return how the one function that the block calls and that can't be traced is split; None if all can be traced.
    Raises NoFix."""
    methods = {item.name.value: item for item in owner.body.body if isinstance(item, cst.FunctionDef)}
    found: list[tuple[cst.Call, cst.FunctionDef]] = []
    for item in block:
        for node in walk(item):
            reason = explain_refusal(module, node, names.binds(block))
            if reason:
                raise NoFix(f"line {module.line(node)} {reason}")
            called = (dotted(node.func) or "").partition("self.")[2] if isinstance(node, cst.Call) else ""
            if called in methods and obstacle(module, methods[called]):
                found.append((node, methods[called]))
    if not found:
        return None
    call, function = found[0]
    uses = [node for node in module.nodes if isinstance(node, cst.Attribute) and node.attr.value == function.name.value]
    if len(found) > 1 or len(uses) > 1:
        raise NoFix(f"{function.name.value} is used in several places: {obstacle(module, function)}")
    if function.params.star_kwarg or not isinstance(function.params.star_arg, cst.MaybeSentinel) or function.decorators:
        raise NoFix(f"{function.name.value} takes any number of arguments, or is decorated")
    return _split_function(module, owner, call, function)


def _split_function(module: Module, owner: cst.ClassDef, call: cst.Call, function: cst.FunctionDef) -> _Split:
    body = list(function.body.body)
    head = body[:1] if _is_docstring(body[0]) else []
    parameters = names.parameters(function) - {"self"}
    drawn: list[Any] = []
    made: set[str] = set()
    local = names.binds(body) | parameters
    for item in body[len(head) :]:
        if not _is_drawn(module, owner, item, local - made):
            break
        drawn.append(item)
        made |= names.binds([item])
    rest = body[len(head) + len(drawn) :]
    if made & names.binds(rest):
        raise NoFix(f"{min(made & names.binds(rest))} gets another value later")
    given = sorted(made & set().union(set(), *(names.read(item) for item in rest)))
    return _Split(
        function, call, drawn, given, head, [_without_arrays(module, item, names.binds(body)) for item in rest]
    )


def _is_docstring(item: cst.CSTNode) -> bool:
    only = item.body[0] if isinstance(item, cst.SimpleStatementLine) else None
    return isinstance(only, cst.Expr) and isinstance(only.value, cst.SimpleString)


def _is_drawn(module: Module, owner: cst.ClassDef, item: cst.CSTNode, unknown: set[str]) -> bool:
    """Return whether a statement only assigns to names what follows from the object without TensorFlow."""
    only = item.body[0] if isinstance(item, cst.SimpleStatementLine) and len(item.body) == 1 else None
    if not isinstance(only, cst.Assign) or any(not isinstance(each.target, cst.Name) for each in only.targets):
        return False
    if names.read(only.value) & unknown:
        return False
    return all(_is_host(module, owner, node, depth=0) for node in walk(only.value) if isinstance(node, cst.Call))


def _is_host(module: Module, owner: cst.ClassDef, call: cst.Call, depth: int) -> bool:
    """Return whether a call runs no TensorFlow: it is NumPy's, a builtin, of a NumPy generator of the object, of an
    array, or of a method of the class that only has such calls."""
    name = module.imported(call.func)
    if name is not None:
        return name.partition(".")[0] in ("numpy", "random", "math")
    words = dotted(call.func) or ""
    if words in _BUILTINS:
        return True
    if words.startswith("self.") and words.count(".") == 2 and _is_generator(module, owner, words.split(".")[1]):
        return True
    own = next((each for each in owner.body.body if isinstance(each, cst.FunctionDef)
                and words == f"self.{each.name.value}"), None)  # fmt: skip
    if own is not None and depth == 0:
        inner = [node for node in walk(own.body) if isinstance(node, cst.Call)]
        return all(_is_host(module, owner, node, depth=1) or _is_cached(module, node) for node in inner)
    return isinstance(call.func, cst.Attribute) and isinstance(call.func.value, cst.Call)


def _is_generator(module: Module, owner: cst.ClassDef, attribute: str) -> bool:
    """Return whether an attribute of the object is a generator of NumPy."""
    values = [
        node.value
        for node in walk(owner)
        if isinstance(node, cst.Assign) and any(dotted(each.target) == f"self.{attribute}" for each in node.targets)
    ]
    return bool(values) and all(
        isinstance(value, cst.Call) and (module.imported(value.func) or "").startswith("numpy.random.")
        for value in values
    )


def _is_cached(module: Module, call: cst.Call) -> bool:
    """Return whether a function of the file keeps its result, so that no gradient goes through it."""
    functions = [item for item in module.tree.body if isinstance(item, cst.FunctionDef)]
    return any(
        dotted(call.func) == item.name.value
        and any(dotted(each.decorator) == "functools.cache" for each in item.decorators)
        for item in functions
    )


def _without_arrays(module: Module, item: Any, local: set[str]) -> Any:
    """Return a statement with reductions of tensors instead of NumPy's. Raises NoFix for what can't be traced."""
    changes: list[tuple[cst.Call, cst.BaseExpression]] = []
    left: set[cst.CSTNode] = set()
    for node in walk(item):
        if node in left:
            continue
        new = _replace_reduction(module, node)
        if new is not None:
            changes.append((node, new))
            left |= set(walk(node))
            continue
        reason = explain_refusal(module, node, local)
        if reason:
            raise NoFix(f"line {module.line(node)} {reason}")
    for old, new in changes:
        item = item.deep_replace(old, new)
    return item


def _replace_reduction(module: Module, node: cst.CSTNode) -> cst.BaseExpression | None:
    """Return TensorFlow's reduction for NumPy's of a tensor that is read, or of a comparison with one; else None."""
    if not isinstance(node, cst.Call) or len(node.args) != 1 or node.args[0].keyword or node.args[0].star:
        return None
    name, dtype = _REDUCTIONS.get(module.imported(node.func) or "", ("", ""))
    value = node.args[0].value
    compared = isinstance(value, cst.Comparison) and len(value.comparisons) == 1
    read = value.left if isinstance(value, cst.Comparison) else value
    if not name or not _is_read(read) or (compared and not dtype):
        return None
    if isinstance(value, cst.Comparison) and not isinstance(value.comparisons[0].comparator, (cst.Integer, cst.Float)):
        return None
    tensor = value.deep_replace(read, read.func.value) if compared else read.func.value
    if compared:
        cast, number = (module.spelled(f"tensorflow.{word}", node) for word in ("cast", dtype))
        tensor = cst.Call(cast, [cst.Arg(tensor), cst.Arg(number)])
    return cst.Call(module.spelled(f"tensorflow.{name}", node), [cst.Arg(tensor)], lpar=node.lpar, rpar=node.rpar)


def _is_read(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.Call)
        and not node.args
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "numpy"
    )


def _edits(
    module: Module, function: cst.FunctionDef, loops: Sequence[Any], block: Sequence[Any], split: _Split | None
) -> list[Edit]:
    local = names.parameters(function) | names.binds([function.body])
    made = names.binds(block)
    given = sorted(names.incoming(block) & local - {"self"})
    if set(given) & list_counted(loops):
        raise NoFix("it uses a Python number that a loop counts: each value would be traced again")
    if set(given) & made:
        raise NoFix(f"{min(set(given) & made)} is carried from one iteration to the next")
    inside = {node for item in block for node in walk(item)}
    back = sorted(
        made & {node.value for node in walk(function.body) if isinstance(node, cst.Name) and node not in inside}
    )
    if back and any(name in back for item in block if isinstance(item, cst.With) for name in names.binds(item.items)):
        raise NoFix("the tape is used after the update")
    own = f"_compiled_{function.name.value.strip('_')}"
    draw = f"_draw_{split.function.name.value.strip('_')}" if split and split.drawn else ""
    if any(isinstance(node, cst.FunctionDef) and node.name.value in (own, draw) for node in module.nodes):
        raise NoFix(f"{own} is a name of the class already")
    passed = list(split.given) if split else []
    moved = (
        [item.deep_replace(split.call, _with_arguments(split.call, passed)) for item in block] if split else [*block]
    )
    decorator = cst.Decorator(module.spelled("tensorflow.function", function))
    body = [moved[0].with_changes(leading_lines=()), *moved[1:]]
    body += [cst.parse_statement(f"return {', '.join(back)}")] if back else []
    compiled = _make_method(own, [*given, *passed], body, [decorator])
    words = f"self.{own}({', '.join([*given, *passed])})"
    calls = [f"{', '.join(passed)} = self.{draw}()"] if passed else []
    calls.append(f"{', '.join(back)} = {words}" if back else words)
    lines = [*_build_optimizers(module, block, made), *(cst.parse_statement(line) for line in calls)]
    edits = [
        Edit(module.file, block[0], lambda node: cst.FlattenSentinel(
            [lines[0].with_changes(leading_lines=node.leading_lines), *lines[1:]])),
        *(Edit(module.file, item, lambda node: cst.RemoveFromParent()) for item in block[1:]),
        Edit(module.file, function, lambda node: cst.FlattenSentinel([node, compiled])),
    ]  # fmt: skip
    return edits + (list(_edit_called(module, split, draw)) if split else [])


def _build_optimizers(module: Module, block: Sequence[Any], made: set[str]) -> Iterator[cst.If]:
    """Yield statements that build each one of several optimizers before the compiled function is called: it makes its
    variables then, which a second trace may not do. Raises NoFix if the variables that it updates are not seen.
    ``made``: the names that the block binds."""
    values = {
        only.targets[0].target.value: only.value
        for item in block
        for only in (item.body if isinstance(item, cst.SimpleStatementLine) else ())
        if isinstance(only, cst.Assign) and isinstance(only.targets[0].target, cst.Name)
    }
    for node in (node for item in block for node in walk(item)):
        if not isinstance(node, cst.Call) or method(node) not in ("apply", "apply_gradients", "minimize"):
            continue
        optimizer = node.func.value if isinstance(node.func, cst.Attribute) else None
        if not isinstance(optimizer, cst.Subscript):
            continue
        given = node.args[0].value if len(node.args) == 1 else None
        pairs = given.args if isinstance(given, cst.Call) and dotted(given.func) == "zip" else node.args
        updated = pairs[1].value if len(pairs) == 2 else None
        if isinstance(updated, cst.Name):
            updated = values.get(updated.value)
        if updated is None or method(node) == "minimize" or (names.read(updated) | names.read(optimizer)) & made:
            raise NoFix("the variables that the optimizer updates are not seen")
        code = module.tree.code_for_node
        yield cst.parse_statement(f"if not {code(optimizer)}.built:\n    {code(optimizer)}.build({code(updated)})\n")


def _edit_called(module: Module, split: _Split, draw: str) -> Iterator[Edit]:
    """Yield the edit of the function that is split."""
    parameters = split.function.params
    added = [*parameters.params, *(cst.Param(cst.Name(name)) for name in split.given)]
    rest = split.function.with_changes(
        params=parameters.with_changes(params=added),
        body=split.function.body.with_changes(body=[*split.head, *split.rest]),
    )
    made = [rest]
    if split.drawn:
        inside = [split.drawn[0].with_changes(leading_lines=()), *split.drawn[1:]]
        made.insert(0, _make_method(draw, [], [*inside, cst.parse_statement(f"return {', '.join(split.given)}")], []))
    yield Edit(module.file, split.function, lambda node: cst.FlattenSentinel(made))


def _with_arguments(call: cst.Call, given: Sequence[str]) -> cst.Call:
    named = bool(call.args) and call.args[-1].keyword is not None
    last = [item.with_changes(comma=cst.MaybeSentinel.DEFAULT) for item in call.args]
    new = [
        cst.Arg(cst.Name(name), keyword=cst.Name(name) if named else None,
                equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")) if named else
                cst.MaybeSentinel.DEFAULT)
        for name in given
    ]  # fmt: skip
    return call.with_changes(args=[*last, *new])


def _make_method(name: str, given: Sequence[str], body: Sequence[Any], decorators: Sequence[Any]) -> cst.FunctionDef:
    parameters = cst.Parameters([cst.Param(cst.Name(item)) for item in ("self", *given)])
    return cst.FunctionDef(
        cst.Name(name),
        parameters,
        cst.IndentedBlock(list(body)),
        decorators=list(decorators),
        leading_lines=[cst.EmptyLine(indent=False)],
    )


FIXER = Fixer(
    "compiles the step from the tape to the update, and draws its arrays before",
    split_step,
    "Python in the step runs once for each trace; random numbers and rounding may differ",
    keeps="mathematics",
)
