"""Several ``session.run`` with one feed become one run, which computes once what they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument
from tfperfkit.fixing.globals import find_changed
from tfperfkit.fixing.module import Module, dotted, method, walk
from tfperfkit.syntax.effects import acts_in_each_run

_NESTED = (cst.Lambda, cst.ListComp, cst.GeneratorExp, cst.DictComp, cst.SetComp, cst.IfExp, cst.BooleanOperation)
_DEEPEST = 20
#: Names and fetches of more characters stand on a line each.
_LINE = 80


class _Unseen(NoFix):
    """The file does not show what a fetch computes."""


@dataclass(frozen=True)
class _Run:
    """``line``: a statement of the block that holds the call."""

    line: Any
    call: cst.Call
    fetch: cst.BaseExpression


def join_runs(case: Case) -> list[Edit]:
    """Join the runs at the finding's places that are in one block."""
    found: dict[cst.CSTNode, list[_Run]] = {}
    files: dict[cst.CSTNode, Module] = {}
    for module, span in case.places():
        for call in module.methods_at(span.line, "run"):
            run = _make_run(module, call)
            block = next(module.around(run.line))
            files[block] = module
            if all(call is not other.call for other in found.setdefault(block, [])):
                found[block].append(run)
    block = max(found, key=lambda item: len(found[item]), default=None)
    if block is None or len(found[block]) < 2:
        raise NoFix("its places are not several runs in one block")
    order = {id(item): number for number, item in enumerate(block.body)}
    runs = sorted(found[block], key=lambda run: order[id(run.line)])
    for run in runs:
        try:
            _check_pure(files[block], run.fetch)
        except _Unseen as error:
            case.assumed.append(f"no fetch has an effect ({error})")
    return _join(files[block], block, runs)


def _make_run(module: Module, call: cst.Call) -> _Run:
    around = list(module.around(call))
    line = next(node for node in around if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)))
    between = around[: around.index(line)]
    if not isinstance(line, cst.SimpleStatementLine) or any(isinstance(node, _NESTED) for node in between):
        raise NoFix("a run is a part of a condition, a loop or a function")
    fetch = argument(call, "fetches") or (call.args[0] if call.args and call.args[0].keyword is None else None)
    if fetch is None or any(item.star for item in call.args):
        raise NoFix("a run does not say what it fetches")
    return _Run(line, call, fetch.value)


def _others(module: Module, call: cst.Call, fetch: cst.BaseExpression) -> list[str]:
    """Return the code of a run's session, feed and other arguments."""
    code = module.tree.code_for_node
    given = [item for item in call.args if item.value is not fetch]
    words = [f"{'feed_dict' if item.keyword is None else item.keyword.value}={code(item.value)}" for item in given]
    return [code(call.func), *sorted(words)]


def _join(module: Module, block: Any, runs: Sequence[_Run]) -> list[Edit]:
    if any(_others(module, run.call, run.fetch) != _others(module, runs[0].call, runs[0].fetch) for run in runs):
        raise NoFix("the runs have different sessions, feeds or options")
    if len({id(run.line) for run in runs}) < len(runs):
        raise NoFix("several runs are in one statement")
    body = list(block.body)
    first, last = body.index(runs[0].line), body.index(runs[-1].line)
    read = set().union(
        *(names.read(item.value) for run in runs for item in run.call.args), names.read(runs[0].call.func)
    )
    _check_between(module, block, body[first : last + 1], runs, read)
    fetched = [_name(module, run, index, body[first + 1 : body.index(run.line)]) for index, run in enumerate(runs)]
    if len(set(fetched)) < len(fetched):
        raise NoFix("two results would get one name")
    fetches = _list_fetches(module, runs, fetched)
    given = [item for item in runs[0].call.args if item.value is not runs[0].fetch]
    together = runs[0].call.with_changes(args=[cst.Arg(fetches), *given], lpar=(), rpar=())
    targets = cst.Tuple([cst.Element(cst.Name(name)) for name in fetched], lpar=(), rpar=())
    joined = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(targets)], together)])
    edits = []
    for run, name in zip(runs, fetched, strict=True):
        kept = _assigned_name(run) != name
        if kept:
            edits.append(Edit(module.file, run.call, partial(_use, name=name)))
        if run is runs[0]:
            edits.append(Edit(module.file, run.line, partial(_put_before, joined=joined, kept=kept)))
        elif not kept:
            edits.append(Edit(module.file, run.line, lambda node: cst.RemoveFromParent()))
    return edits


def _use(node: cst.Call, name: str) -> cst.Name:
    return cst.Name(name)


def _put_before(node: Any, joined: Any, kept: bool) -> cst.FlattenSentinel:
    """Return the joined run, and the statement that had the first one if it is ``kept``."""
    rest = [node.with_changes(leading_lines=())] if kept else []
    return cst.FlattenSentinel([joined.with_changes(leading_lines=node.leading_lines), *rest])


def _list_fetches(module: Module, runs: Sequence[_Run], fetched: Sequence[str]) -> cst.List:
    """Return the list of all fetches, in one line if that is short."""
    code = ", ".join([*fetched, *(module.tree.code_for_node(run.fetch) for run in runs)])
    if len(code) < _LINE:
        return cst.List([cst.Element(run.fetch) for run in runs])
    apart = cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace("    "))
    return cst.List(
        [cst.Element(run.fetch, cst.Comma(whitespace_after=apart)) for run in runs[:-1]]
        + [cst.Element(runs[-1].fetch, cst.Comma())],
        cst.LeftSquareBracket(apart),
        cst.RightSquareBracket(cst.ParenthesizedWhitespace(indent=True)),
    )


def _assigned_name(run: _Run) -> str:
    """Return ``a`` for ``a = session.run(...)``; "" for anything else."""
    only = run.line.body[0] if len(run.line.body) == 1 else None
    if isinstance(only, cst.Assign) and only.value is run.call and len(only.targets) == 1:
        target = only.targets[0].target
        return target.value if isinstance(target, cst.Name) else ""
    return ""


def _name(module: Module, run: _Run, index: int, before: Sequence[cst.CSTNode]) -> str:
    """Return the name for what a run fetches: that to which it is assigned, unless a statement ``before`` uses it."""
    own = _assigned_name(run)
    mentioned = set().union(set(), *(names.read(item) for item in before if item is not run.line))
    if own and own not in mentioned:
        return own
    last = _key(run.fetch) or f"fetched_{index}"
    taken = {node.value for node in module.nodes if isinstance(node, cst.Name)}
    skipped = {node.attr.value for node in module.nodes if isinstance(node, cst.Attribute)}
    candidates = [f"{last}_value", f"{last}_fetched"] + (
        [last] if last not in taken - skipped or last not in taken else []
    )
    found = next((item for item in reversed(candidates) if item.isidentifier() and item not in taken), "")
    if not found:
        raise NoFix("there is no free name for a result")
    return found


def _key(fetch: cst.BaseExpression) -> str:
    """Return the last word of a fetch: ``loss`` for ``self.loss`` and for ``ops["loss"]``; "" for others."""
    if isinstance(fetch, cst.Name):
        return str(fetch.value)
    if isinstance(fetch, cst.Attribute):
        return str(fetch.attr.value)
    index = fetch.slice[0].slice if isinstance(fetch, cst.Subscript) and len(fetch.slice) == 1 else None
    value = index.value if isinstance(index, cst.Index) else None
    return str(value.evaluated_value) if isinstance(value, cst.SimpleString) else ""


def _check_between(
    module: Module, block: cst.CSTNode, statements: Sequence[cst.CSTNode], runs: Sequence[_Run], read: set[str]
) -> None:
    """Raise NoFix if a statement among the runs changes the feed, the session's state or what the fetches are."""
    calls = {run.call for run in runs}
    state = {*read, *(name for name in read for name in _feed_names(module, block, name))}
    for item in statements:
        for node in walk(item):
            if isinstance(node, cst.Call) and node not in calls and method(node) in ("run", "load", "eval", "restore"):
                raise NoFix(f"line {module.line(node)} may change variables between the runs")
            if isinstance(node, (cst.Return, cst.Break, cst.Continue, cst.Yield, cst.Await, cst.Raise)):
                raise NoFix("a statement among the runs leaves the block")
        given = names.binds([item]) & state
        changed = find_changed(item, state)
        if given or changed:
            raise NoFix(f"{sorted(given)[0] if given else changed} changes between the runs")


def _feed_names(module: Module, block: cst.CSTNode, name: str) -> Iterator[str]:
    """Yield the names in the dictionary that a name of the block holds."""
    for node in walk(block):
        if isinstance(node, cst.Assign) and any(dotted(item.target) == name for item in node.targets):
            yield from names.read(node.value)


def _check_pure(module: Module, fetch: cst.BaseExpression) -> None:
    """Raise NoFix unless a fetch is made by operations of TensorFlow without an effect, as far as the file shows."""
    if any(
        module.imported(node.func) == "tensorflow.control_dependencies" or method(node) == "control_dependencies"
        for node in module.calls
    ):
        raise NoFix("operations depend on others by control_dependencies")
    parts = [item.value for item in fetch.elements] if isinstance(fetch, (cst.List, cst.Tuple)) else [fetch]
    for part in parts:
        _check_key(module, part, set())


def _check_key(module: Module, value: cst.BaseExpression, seen: set[str]) -> None:
    code = module.tree.code_for_node(value).strip()
    key = f"{type(value).__name__} {_key(value)}"
    if not _key(value) or len(seen) > _DEEPEST:
        raise _Unseen(f"what {code} computes is not seen")
    if key in seen:
        return
    seen.add(key)
    made = list(_find_made(module, value))
    if not made:
        raise _Unseen(f"where {code} is made is not seen")
    for item in made:
        _check_value(module, item, code, seen)


def _check_value(module: Module, value: cst.BaseExpression, code: str, seen: set[str]) -> None:
    if isinstance(value, (cst.Name, cst.Subscript)):
        _check_key(module, value, seen)
        return
    calls = [node for node in walk(value) if isinstance(node, cst.Call)]
    if not calls and not isinstance(value, (cst.BinaryOperation, cst.Attribute)):
        raise _Unseen(f"what {code} computes is not seen")
    effect = next((name for call in calls if acts_in_each_run(name := module.imported(call.func) or "")), "")
    if effect:
        raise NoFix(f"{code} is made by {effect}, which has an effect in each run")
    unknown = [call for call in calls if not (module.imported(call.func) or "").startswith("tensorflow.")]
    if unknown:
        raise _Unseen(f"what {module.tree.code_for_node(unknown[0].func).strip()} does for {code} is not seen")


def _find_made(module: Module, fetch: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield what the file gives a name, an attribute, or a key of a dictionary that is fetched, without what no session
    fetches."""
    key, kind = _key(fetch), type(fetch)
    for node in module.nodes:
        if isinstance(node, cst.Assign):
            for item in node.targets:
                inner = [at for at in walk(item.target) if at is not item.target]
                if isinstance(item.target, kind) and _key(item.target) == key:
                    if not _is_unfetched(module, node.value):
                        yield node.value
                elif isinstance(item.target, cst.Tuple) and any(
                    isinstance(at, kind) and _key(at) == key for at in inner
                ):
                    yield cst.Ellipsis()
        elif kind is not cst.Subscript:
            continue
        elif isinstance(node, cst.Arg) and node.keyword is not None and node.keyword.value == key:
            call = next(module.around(node))
            if isinstance(call, cst.Call) and dotted(call.func) == "dict" and not _is_unfetched(module, node.value):
                yield node.value
        elif isinstance(node, cst.DictElement) and isinstance(node.key, cst.SimpleString):
            found = node.key.evaluated_value == key and not _is_unfetched(module, node.value)
            yield from [node.value] if found else []


def _is_unfetched(module: Module, value: cst.BaseExpression) -> bool:
    """Return whether a value is a Python number, an empty list, an array, or the result of a run."""
    if isinstance(value, (cst.Integer, cst.Float)) or (isinstance(value, cst.List) and not value.elements):
        return True
    if isinstance(value, cst.BinaryOperation):
        return _is_unfetched(module, value.left) or _is_unfetched(module, value.right)
    if not isinstance(value, cst.Call):
        return False
    inner = value.func.value if isinstance(value.func, cst.Attribute) else None
    array = (module.imported(value.func) or "").startswith("numpy.") or method(value) == "run"
    return array or (inner is not None and _is_unfetched(module, inner))


FIXER = Fixer(
    "fetches all in one run",
    join_runs,
    "random operations of the network are drawn once for all results",
    keeps="mathematics",
)
