"""A function with ``@tf.function`` made of a loop's body: the statements from the tape, or from the call of a function
with the tape, to the update of the weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import Module, method, walk
from tfperfkit.fixing.traceable import obstacle

_LOOPS = (cst.For, cst.While)
_LEAVES = (cst.Return, cst.Yield, cst.Await, cst.Global, cst.Nonlocal, cst.Break, cst.Continue, cst.Del)
_TAPE = "tensorflow.GradientTape"
#: Methods of optimizers that change the weights; then those of metrics, part of the step where they follow directly.
_UPDATES = frozenset({"apply_gradients", "apply", "minimize", "assign_sub", "assign_add", "assign"})
_METRICS = frozenset({"update_state"})
#: Names for the new function: the first that the file does not have.
_NAMES = ("train_step", "compiled_step")
_COUNTERS = frozenset({"range", "enumerate"})


@dataclass(frozen=True)
class _Step:
    """``loop`` holds the ``block``; the function is made before ``before``, in or around it."""

    loop: Any
    block: Sequence[Any]
    before: Any
    given: Sequence[str]
    back: Sequence[str]


def fix(case: Case) -> list[Edit]:
    """At the first of the finding's places that is a tape in a loop, or a loop with one tape; else at the first that is
    a loop which calls a function with a tape."""
    for begins in (_tape_at, _call_at):
        for module, span in case.places():
            first = begins(module, span.line)
            if first is not None:
                return _extracted(module, _step(module, first))
    raise NoFix("there is no tape in the body of a loop at its place, nor in a function of the file that it calls")


def _tape_at(module: Module, line: int) -> cst.With | None:
    tapes = [node for node in module.nodes if isinstance(node, cst.With) and is_tape(module, node)]
    found = [node for node in tapes if module.spans(node, line)]
    if not found:
        loops = [node for node in module.nodes if isinstance(node, _LOOPS) and module.line(node) == line]
        found = [node for node in tapes if loops and loops[0] in list(_same_function(module, node))]
    outer = [node for node in found if not any(other in module.around(node) for other in found)]
    return outer[0] if len(outer) == 1 else None


def _call_at(module: Module, line: int) -> cst.SimpleStatementLine | None:
    """Return the first statement of a loop's body that calls a function of the file which holds a tape."""
    loops = [node for node in module.nodes if isinstance(node, _LOOPS) and module.line(node) == line]
    if not loops:
        return None
    functions = [node for node in module.nodes if isinstance(node, cst.FunctionDef)]
    holders = {
        node.name.value
        for node in functions
        if any(isinstance(at, cst.With) and is_tape(module, at) for at in walk(node.body))
    }
    for item in loops[0].body.body:
        calls = [at for at in walk(item) if isinstance(at, cst.Call) and isinstance(at.func, cst.Name)]
        if isinstance(item, cst.SimpleStatementLine) and any(at.func.value in holders for at in calls):
            return item
    return None


def is_tape(module: Module, node: cst.With) -> bool:
    """Return whether a ``with`` opens a gradient tape."""
    calls = [item.item.func for item in node.items if isinstance(item.item, cst.Call)]
    return any(module.imported(func) == _TAPE for func in calls)


def _same_function(module: Module, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the nodes around a node, up to its function or the file."""
    for at in module.around(node):
        if isinstance(at, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            return
        yield at


def _step(module: Module, tape: cst.With | cst.SimpleStatementLine) -> _Step:
    """Return the longest one that can be traced: up to the last update of the weights, or to an earlier one."""
    around = list(_same_function(module, tape))
    loops = [node for node in around if isinstance(node, _LOOPS)]
    if not loops or around[:2] != [loops[0].body, loops[0]]:
        raise NoFix("the tape does not stand directly in the body of a loop")
    refused = NoFix("no update of the weights follows the tape in the loop's body")
    for block in find_blocks(list(loops[0].body.body), tape):
        try:
            return _checked(module, loops, block)
        except NoFix as error:
            refused = error
    raise refused


def find_blocks(body: Sequence[Any], tape: cst.CSTNode) -> Iterator[Sequence[Any]]:
    """From the tape to an update that follows it, the last first, and the metrics' updates directly after that."""
    first = body.index(tape)
    for last in reversed([at for at in range(first, len(body)) if _calls(body[at], _UPDATES)]):
        end = last + 1
        while end < len(body) and isinstance(body[end], cst.SimpleStatementLine) and _calls(body[end], _METRICS):
            end += 1
        yield body[first:end]


def _checked(module: Module, loops: Sequence[Any], block: Sequence[Any]) -> _Step:
    if any(isinstance(node, _LEAVES) for item in block for node in walk(item)):
        raise NoFix("between the tape and the update the loop is left, or a name is removed")
    reason = obstacle(module, make_function("step", (), block))
    if reason:
        raise NoFix(reason)
    inside = {node for item in block for node in walk(item)}
    made, read = names.binds(block), names.incoming(block)
    before, varying = _find_place(loops, read, inside, _objects(block))
    for node in inside:
        if isinstance(node, cst.AugAssign) and names.gives(node) & read:
            raise NoFix(f"{sorted(names.gives(node) & read)[0]} is counted up between the tape and the update")
    counted = varying & list_counted(loops)
    if counted:
        raise NoFix(f"it uses {sorted(counted)[0]}, a Python number that changes: each value would be traced again")
    home = next((node for node in module.around(loops[0]) if isinstance(node, cst.FunctionDef)), module.tree)
    back = made & (read_outside(home, inside | _earlier(home, loops[-1])) | read)
    tapes = {name for node in inside if isinstance(node, cst.With) for name in names.binds(node.items)}
    if back & tapes:
        raise NoFix(f"{sorted(back & tapes)[0]} is used after the update")
    return _Step(loops[0], block, before, sorted(varying), sorted(back))


def _calls(node: cst.CSTNode, methods: frozenset[str]) -> bool:
    return any(isinstance(at, cst.Call) and method(at) in methods for at in walk(node))


def _objects(block: Sequence[cst.CSTNode]) -> set[str]:
    """Names that are called, or whose methods are: models, optimizers, losses. They are no arguments of the step."""
    found = set()
    for item in block:
        for node in walk(item):
            if isinstance(node, cst.Call):
                owner = node.func.value if isinstance(node.func, cst.Attribute) else node.func
                found |= {owner.value} if isinstance(owner, cst.Name) else set()
    return found


def _find_place(loops: Sequence[Any], read: set[str], inside: set[Any], objects: set[str]) -> tuple[Any, set[str]]:
    """Return the outermost loop before which all objects of the step exist, and what varies within that loop."""
    varying: set[str] = set()
    before = loops[0]
    for loop in loops:
        given = {name for node in walk(loop) if node not in inside for name in names.gives(node)}
        carried = names.binds(node for node in inside if isinstance(node, cst.BaseSmallStatement)) & read
        if (given | carried) & read & objects:
            if loop is loops[0]:
                raise NoFix(f"{sorted(given & read & objects)[0]} is another object in each iteration")
            break
        before, varying = loop, (given | carried) & read
    return before, varying


def list_counted(loops: Sequence[Any]) -> set[str]:
    """Names that are Python numbers which a loop counts."""
    found: set[str] = set()
    for loop in loops:
        if isinstance(loop, cst.For) and isinstance(loop.iter, cst.Call) and isinstance(loop.iter.func, cst.Name):
            if loop.iter.func.value not in _COUNTERS:
                continue
            target = loop.target
            if isinstance(target, cst.Tuple) and loop.iter.func.value == "enumerate":
                target = target.elements[0].value
            found |= {at.value for at in names.plain_names(target)}
    return found


def read_outside(home: cst.CSTNode, inside: set[Any]) -> set[str]:
    """Names that are read elsewhere, and not only given a value."""
    targets = {
        at
        for node in walk(home)
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.For, cst.AsName))
        for at in names.plain_names(node.name if isinstance(node, cst.AsName) else node.target)
    }
    attributes = {node.attr for node in walk(home) if isinstance(node, cst.Attribute)}
    attributes |= {node.keyword for node in walk(home) if isinstance(node, cst.Arg) and node.keyword is not None}
    own = {at for node in walk(home) if node is not home for at in _own_names(node)}
    left_out = inside | targets | attributes | own
    return {node.value for node in walk(home) if isinstance(node, cst.Name) and node not in left_out}


def _earlier(home: Any, loop: cst.CSTNode) -> set[Any]:
    """Return the nodes before the statement with the loop that have finished by then: they read nothing that the loop
    makes.
    """
    found: set[Any] = set()
    for statement in home.body if isinstance(home, cst.Module) else home.body.body:
        parts = set(walk(statement))
        if loop in parts:
            break
        if not any(isinstance(at, (cst.FunctionDef, cst.Lambda)) for at in parts):
            found |= parts
    return found


def _own_names(node: cst.CSTNode) -> Iterator[cst.Name]:
    """Yield the parameters of a function or lambda and the names that it assigns, wherever they occur inside: these
    names mean nothing outside of the function.
    """
    if not isinstance(node, (cst.FunctionDef, cst.Lambda)):
        return
    parts = list(walk(node.body))
    own = names.parameters(node)
    if not any(isinstance(at, (cst.Global, cst.Nonlocal)) for at in parts):
        own |= {name for at in parts if not isinstance(at, cst.CompFor) for name in names.gives(at)}
    yield from (at.name for at in walk(node.params) if isinstance(at, cst.Param))
    yield from (at for at in parts if isinstance(at, cst.Name) and at.value in own)


def make_function(name: str, given: Sequence[str], block: Sequence[Any]) -> cst.FunctionDef:
    """Return a function with these parameters and statements."""
    parameters = cst.Parameters([cst.Param(cst.Name(item)) for item in given])
    return cst.FunctionDef(cst.Name(name), parameters, cst.IndentedBlock(list(block)))


def _extracted(module: Module, step: _Step) -> list[Edit]:
    taken = {node.value for node in module.nodes if isinstance(node, cst.Name)}
    name = next((item for item in _NAMES if item not in taken), "")
    if not name:
        raise NoFix(f"{' and '.join(_NAMES)} are names of the file already")
    decorator = cst.Decorator(module.spelled("tensorflow.function", step.loop))
    back = f"return {', '.join(step.back)}"
    body = [step.block[0].with_changes(leading_lines=_comments(step.block[0])), *step.block[1:]]
    if step.back:
        body.append(cst.parse_statement(back))
    made = make_function(name, step.given, body).with_changes(decorators=[decorator])
    words = f"{name}({', '.join(step.given)})"
    call = cst.parse_statement(f"{', '.join(step.back)} = {words}" if step.back else words)
    blank = cst.EmptyLine(indent=False)
    apart = [blank] * (1 if any(isinstance(node, cst.FunctionDef) for node in module.around(step.loop)) else 2)

    def make_call(node: Any) -> Any:
        return call.with_changes(leading_lines=[line for line in node.leading_lines if line.comment is None])

    def behind(node: Any) -> cst.FlattenSentinel:
        comments = [line for line in node.leading_lines if line.comment is not None]
        return cst.FlattenSentinel(
            [made.with_changes(leading_lines=apart), node.with_changes(leading_lines=[*apart, *comments])]
        )

    return [
        Edit(module.file, step.block[0], make_call),
        *(Edit(module.file, item, lambda node: cst.RemoveFromParent()) for item in step.block[1:]),
        Edit(module.file, step.before, behind),
    ]


def _comments(statement: Any) -> list[cst.EmptyLine]:
    return [line for line in statement.leading_lines if line.comment is not None]


FIXER = Fixer(
    "makes a compiled function of the loop's body",
    fix,
    "Python in the step runs once for each trace; random numbers and rounding may differ",
    keeps="mathematics",
)
