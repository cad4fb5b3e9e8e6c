"""A loop that calls a model for one example at a time becomes two loops, with calls on whole batches between them.

A candidate: the source shows neither that iterations are independent nor that the model takes each row by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.globals import find_changed
from tfperfkit.fixing.module import Module, dotted, method, walk

#: Examples of one call: more gain little on a CPU, and need memory.
_ROWS = 64
_PREDICTING = frozenset({"predict", "predict_on_batch"})
_LEAVES = (cst.Return, cst.Yield, cst.Await, cst.Global, cst.Nonlocal, cst.Break)
_OWN = ("inputs", "saved", "outputs", "part", "rows")


def batch_calls(case: Case) -> list[Edit]:
    """At the first place in a loop with ``name = model(x)`` of one positional argument, or ``predict``."""
    reason = NoFix("no loop at its places calls a model in a statement of its own")
    for module, span in case.places():
        for loop, at, call in _find_calls(module, span.line):
            try:
                edits = _split(module, loop, at, call)
            except NoFix as error:
                reason = error
                continue
            case.assumed.append(f"the iterations of the loop in line {module.line(loop)} are independent")
            return edits
    raise reason


def _find_calls(module: Module, line: int) -> Iterator[tuple[cst.For, int, cst.Call]]:
    """Yield the innermost loop around a line, the number of a statement of its body, and the call in it."""
    for call in module.calls:
        around = list(module.around(call))
        loop = next((node for node in around if isinstance(node, (cst.For, cst.While, cst.FunctionDef))), None)
        if not isinstance(loop, cst.For) or loop.orelse is not None or loop.asynchronous is not None:
            continue
        if not (module.line(call) == line or module.line(loop) == line):
            continue
        at = next((index for index, item in enumerate(loop.body.body) if item in around), -1)
        if at >= 0 and _takes_examples(module, call):
            yield loop, at, call


def _takes_examples(module: Module, call: cst.Call) -> bool:
    """Return whether a call may be of a model: ``predict`` with one array, or an object with one positional argument
    that gets a batch of one."""
    first = call.args[0] if call.args else None
    if first is None or first.star or first.keyword is not None or any(item.keyword is None for item in call.args[1:]):
        return False
    return method(call) in _PREDICTING or (module.imported(call.func) is None and _is_one_row(module, first.value))


def _is_one_row(module: Module, value: cst.BaseExpression) -> bool:
    """Return whether an expression adds a first axis: ``x[None]``, ``np.expand_dims(x, 0)``."""
    if isinstance(value, cst.Call):
        name = module.imported(value.func) or ""
        return name.endswith((".expand_dims", ".convert_to_tensor", ".constant")) and any(
            _is_one_row(module, item.value) or (isinstance(item.value, cst.Integer) and item.value.value == "0")
            for item in value.args
        )
    if not isinstance(value, cst.Subscript) or not isinstance(value.slice[0].slice, cst.Index):
        return False
    words = dotted(value.slice[0].slice.value) or ""
    return words == "None" or words.endswith(".newaxis")


def _split(module: Module, loop: cst.For, at: int, call: cst.Call) -> list[Edit]:
    body = list(loop.body.body)
    before, statement, after = body[:at], body[at], body[at + 1 :]
    if any(isinstance(node, _LEAVES) for item in body for node in walk(item)):
        raise NoFix("the loop is left before its end")
    target = _result_of(statement, call)
    local = names.binds([loop.body]) | names.gives(loop)
    early = set().union(names.read(call.args[0].value), *(names.read(item) for item in before))
    carried = (names.binds([statement, *after]) | ({target} if target else set())) & early
    if carried - names.gives(loop) - names.binds(before):
        raise NoFix(f"an iteration uses {min(carried)} of the one before")
    taken = {node.value for node in module.nodes if isinstance(node, cst.Name)}
    own = {name: name if name not in taken else f"call_{name}" for name in _OWN}
    if any(name in taken for name in own.values() if name.startswith("call_")):
        raise NoFix(f"{', '.join(own.values())} are names of the file already")
    use = statement.deep_replace(call, cst.Name(own["rows"]))
    late = set().union(names.read(use), *(names.read(item) for item in after))
    kept = sorted((names.binds(before) | names.gives(loop)) & late)
    changed = find_changed(cst.IndentedBlock([statement, *after]), early - local)
    if changed:
        raise NoFix(f"an iteration changes {changed}, which the next one uses")
    code = module.tree.code_for_node
    one = code(call.args[0].value)
    saved = f"({', '.join(kept)}{',' if len(kept) == 1 else ''})"
    collect = [*before, cst.parse_statement(f"{own['inputs']}.append({one})")]
    collect.append(cst.parse_statement(f"{own['saved']}.append({saved})"))
    first = loop.with_changes(body=loop.body.with_changes(body=collect), leading_lines=())
    second = cst.For(
        cst.parse_expression(f"({saved}, {own['rows']})") if kept else cst.parse_expression(f"(_, {own['rows']})"),
        cst.parse_expression(f"zip({own['saved']}, {own['outputs']})"),
        loop.body.with_changes(body=[use, *after]),
    )
    begin = cst.parse_statement(f"{own['inputs']}, {own['saved']}, {own['outputs']} = [], [], []")
    calls = _make_calls(module, call, own)
    return [
        Edit(
            module.file,
            loop,
            lambda node: cst.FlattenSentinel(
                [begin.with_changes(leading_lines=node.leading_lines), first, calls, second]
            ),
        )
    ]


def _result_of(statement: Any, call: cst.Call) -> str:
    only = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    if not isinstance(only, (cst.Assign, cst.Expr, cst.AugAssign, cst.AnnAssign)):
        raise NoFix("no plain statement of the loop's body has the call")
    if isinstance(only, cst.Assign) and isinstance(only.targets[0].target, cst.Name):
        return str(only.targets[0].target.value)
    return ""


def _make_calls(module: Module, call: cst.Call, own: dict[str, str]) -> cst.For:
    """Return the loop that calls the model for some examples at once, and splits its result among them."""
    inputs, part, outputs = own["inputs"], own["part"], own["outputs"]
    code = module.tree.code_for_node
    concat = code(module.spelled("tensorflow.concat", call))
    split = code(module.spelled("tensorflow.split", call))
    whole = call.with_changes(
        args=[call.args[0].with_changes(value=cst.parse_expression(f"{concat}({part}, 0)")), *call.args[1:]]
    )
    given = code(whole)
    rows = f"{split}({given}, [len(each) for each in {part}])"
    if method(call) in _PREDICTING:
        rows = f"[each.numpy() for each in {rows}]"
    text = (
        f"for {part} in [{inputs}[at : at + {_ROWS}] for at in range(0, len({inputs}), {_ROWS})]:\n"
        f"    {outputs} += {rows}\n"
    )
    made = cst.parse_statement(text)
    if not isinstance(made, cst.For):
        raise NoFix("the call can't be moved")
    return made


FIXER = Fixer(
    "calls the model for many iterations at once",
    batch_calls,
    "inputs and results of all iterations are in memory at once; rounding may differ",
    keeps="mathematics",
)
