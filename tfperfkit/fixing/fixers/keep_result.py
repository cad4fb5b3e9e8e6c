"""A result that is the same for the same arguments, kept by ``functools.cache``: of a function of the file, or of a
statement of a method, which becomes a function of the file first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.fixers.hoist import (
    check_kept,
    check_unchanged,
    find_statement,
    import_functools,
    is_part,
    list_leaving,
)
from tfperfkit.fixing.globals import explain_changing
from tfperfkit.fixing.module import Module, dotted, walk
from tfperfkit.fixing.repeatable import check_repeatable, check_reusable

#: Types whose values are equal if their parts are, so that a cache can tell them apart.
_KEYS = frozenset({"str", "int", "float", "bool", "bytes", "Path"})
#: Functions that open a file by the path that is their first argument.
# fmt: off
OPENERS = frozenset((
    "open", "numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "gzip.open", "bz2.open", "pandas.read_csv",
    "pandas.read_parquet", "pandas.read_json", "h5py.File", "scipy.io.loadmat",
))
# fmt: on


def _keep_function(case: Case) -> list[Edit]:
    """Cache a function without parameters that a place calls and that another place is in: it loads what is thrown
    away but for a part."""
    decorator = cst.Decorator(cst.parse_expression("functools.cache"))
    for module, span in case.places():
        functions = {item.name.value: item for item in module.tree.body if isinstance(item, cst.FunctionDef)}
        for call in module.calls:
            if module.line(call) != span.line or call.args or not isinstance(call.func, cst.Name):
                continue
            function = functions.get(call.func.value)
            if function is None or not any(module.spans(function, at.line) for _, at in case.places()):
                continue
            _check_function(module, function)
            add = Edit(module.file, function, lambda node: node.with_changes(decorators=[*node.decorators, decorator]))
            return [add, *import_functools(module)]
    raise NoFix("no function without arguments that loads it is called at its places")


def _check_function(module: Module, function: cst.FunctionDef) -> None:
    if function.decorators or function.asynchronous is not None or names.parameters(function):
        raise NoFix(f"{function.name.value} has decorators or parameters, or is async")
    if any(isinstance(node, (cst.Yield, cst.Global, cst.Nonlocal)) for node in walk(function.body)):
        raise NoFix(f"{function.name.value} is a generator, or sets names outside of it")
    own = names.binds([function.body])
    for name in sorted(names.read(function.body) - own - {function.name.value}):
        _check_global(module, name)
    check_repeatable(module, function.body)
    for node in walk(function.body):
        if isinstance(node, cst.Return) and node.value is not None:
            check_reusable(module, node.value, function.body)
    calls = [call for call in module.calls if dotted(call.func) == function.name.value]
    skipped = {node.attr for node in module.nodes if isinstance(node, cst.Attribute)}
    uses = [node for node in module.nodes if isinstance(node, cst.Name) and node.value == function.name.value]
    if len([node for node in uses if node not in skipped]) != len(calls) + 1:
        raise NoFix(f"{function.name.value} is also passed on, or another thing has its name")
    for call in calls:
        _check_use(module, call)


def _check_global(module: Module, name: str) -> None:
    why = explain_changing(module, name)
    if why:
        raise NoFix(why)


def _check_use(module: Module, call: cst.Call) -> None:
    """Raise NoFix unless the statement only takes a part of the result, or what it binds stays as it is."""
    statement = next(
        node for node in module.around(call) if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    )
    scope = next((node for node in module.around(call) if isinstance(node, cst.FunctionDef)), module.tree)
    targets = (node.target for node in walk(statement) if isinstance(node, cst.AssignTarget))
    if any(isinstance(target, (cst.Attribute, cst.Subscript)) for target in targets):
        raise NoFix("an object keeps the result, and may change it")
    check_unchanged(scope, names.binds([statement]))


def _keep_statement(case: Case) -> list[Edit]:
    """Make a cached function of the statement at the first place in a function or method. Values that
    differ between calls become its arguments; they must be keys."""
    reason = NoFix("there is no statement by itself in a function at its place")
    for module, span in case.places():
        try:
            return _make_cached(case, module, find_statement(module, span.line))
        except NoFix as error:
            reason = error
    raise reason


def _make_cached(case: Case, module: Module, statement: Any) -> list[Edit]:
    around = list(module.around(statement))
    function = next((node for node in around if isinstance(node, cst.FunctionDef)), None)
    home = next((node for node in reversed(around) if isinstance(node, (cst.FunctionDef, cst.ClassDef))), None)
    if function is None or home is None or home not in module.tree.body:
        raise NoFix("it is in no function of the file")
    body = list(around[0].body)
    first = body.index(statement)
    block = [statement]
    made = names.binds(block)
    for item in body[first + 1 :]:
        if not is_part(item, made):
            break
        block.append(item)
        made |= names.binds([item])
    if list_leaving(block) or not made:
        raise NoFix("it leaves the function, or nothing comes of it")
    parameters, moved = _find_parameters(case, module, function, block, made)
    rest = [item for item in walk(function.body) if not any(item in set(walk(part)) for part in block)]
    used = sorted(made & {node.value for node in rest if isinstance(node, cst.Name)})
    if not used:
        raise NoFix("nothing that could be kept comes of it")
    check_unchanged(function.body, set(used))
    check_kept(module, block, used)
    name = f"_{used[-1]}_once"
    if any(isinstance(node, cst.Name) and node.value == name for node in module.nodes):
        raise NoFix(f"{name} is a name of the file already")
    given = ", ".join(used)
    helper = cst.FunctionDef(
        cst.Name(name),
        cst.Parameters([cst.Param(cst.Name(item)) for item in parameters]),
        cst.IndentedBlock(
            [moved[0].with_changes(leading_lines=()), *moved[1:], cst.parse_statement(f"return {given}")]
        ),
        decorators=[cst.Decorator(cst.parse_expression("functools.cache"))],
        leading_lines=home.leading_lines,
    )
    apart = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
    call = cst.parse_statement(f"{given} = {name}({', '.join(parameters.values())})")
    return [
        Edit(module.file, block[0], lambda node: call.with_changes(leading_lines=node.leading_lines)),
        *(Edit(module.file, item, lambda node: cst.RemoveFromParent()) for item in block[1:]),
        Edit(module.file, home, lambda node: cst.FlattenSentinel([helper, node.with_changes(leading_lines=apart)])),
        *import_functools(module),
    ]


def _find_parameters(
    case: Case, module: Module, function: cst.FunctionDef, block: Sequence[Any], made: set[str]
) -> tuple[dict[str, str], list[Any]]:
    """Return the parameters that a function of the block needs, each with the expression that is given for it, and the
    block, which reads the parameters instead. Raises NoFix for one that is no key of a cache."""
    local = names.parameters(function) | names.binds([function.body])
    found: dict[str, str] = {}
    attributes: dict[str, str] = {}
    for item in block:
        for node in _outer_reads(item, local - made):
            text = module.tree.code_for_node(node)
            name = node.attr.value if isinstance(node, cst.Attribute) else node.value
            if found.setdefault(name, text) != text or name in made:
                raise NoFix(f"two things are called {name}")
            if not _is_key(case, module, function, node):
                raise NoFix(f"whether {text} can be the key of a cache is not known")
            attributes[text] = name
    for name in sorted(set().union(*(names.read(item) for item in block)) - made - local):
        _check_global(module, name)
    return found, [item.visit(_Rename(attributes)) for item in block]


def _outer_reads(item: cst.CSTNode, local: set[str]) -> Iterator[Any]:
    """Yield the local names that a statement reads, each with its attributes: ``self.path``."""
    inner = {node.value for node in walk(item) if isinstance(node, cst.Attribute)}
    called = {node.func for node in walk(item) if isinstance(node, cst.Call)}
    skipped = {node.attr for node in walk(item) if isinstance(node, cst.Attribute)}
    skipped |= {node.keyword for node in walk(item) if isinstance(node, cst.Arg) and node.keyword is not None}
    for node in walk(item):
        root = node
        while isinstance(root, cst.Attribute):
            root = root.value
        if not isinstance(root, cst.Name) or root.value not in local or node in inner or node in skipped:
            continue
        if node in called:
            raise NoFix("it calls a method of an object that may be another one")
        if isinstance(node, (cst.Name, cst.Attribute)):
            yield node


class _Rename(cst.CSTTransformer):  # type: ignore[misc]
    """Replace attributes by names. ``names``: by the code of the attribute."""

    def __init__(self, names: dict[str, str]) -> None:
        super().__init__()
        self._names = names

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        name = self._names.get(dotted(original_node) or "")
        return cst.Name(name) if name else updated_node


def _is_key(case: Case, module: Module, function: cst.FunctionDef, node: Any) -> bool:
    """Return whether a value can be the key of a cache: it is a path that is opened, or annotated as a plain value."""
    above = list(module.around(node))
    call = next((item for item in above[:2] if isinstance(item, cst.Call)), None)
    if call is not None and call.args and call.args[0].value is node:
        name = module.imported(call.func) or (call.func.value if isinstance(call.func, cst.Name) else "")
        if name in OPENERS:
            return True
    return any(_is_plain(case, item) for item in _annotations(module, function, node))


def _annotations(module: Module, function: cst.FunctionDef, node: Any) -> Iterator[cst.BaseExpression]:
    """Yield the annotations of a parameter, or of the parameters that an attribute is set from in ``__init__``."""
    if isinstance(node, cst.Name):
        yield from _of_parameter(function, node.value)
        return
    owner = next((item for item in module.around(function) if isinstance(item, cst.ClassDef)), None)
    stores = [
        item
        for item in module.nodes
        if isinstance(item, cst.Assign)
        for target in item.targets
        if isinstance(target.target, cst.Attribute) and target.target.attr.value == node.attr.value
    ]
    init = next(
        (item for item in stores[:1] for item in module.around(item) if isinstance(item, cst.FunctionDef)), None
    )
    if owner is None or init is None or len(stores) != 1 or init.name.value != "__init__":
        return
    if owner in module.around(init) and isinstance(stores[0].value, cst.Name):
        yield from _of_parameter(init, stores[0].value.value)


def _of_parameter(function: cst.FunctionDef, name: str) -> Iterator[cst.BaseExpression]:
    for item in function.params.params:
        if item.name.value == name and item.annotation is not None:
            yield item.annotation.annotation


def _list_kinds(annotation: cst.BaseExpression) -> Iterator[str]:
    """Yield the last names of the types that an annotation allows: ``Path`` and ``None`` for ``Path | None``; "" for an
    annotation that is not read."""
    if isinstance(annotation, cst.BinaryOperation) and isinstance(annotation.operator, cst.BitOr):
        yield from _list_kinds(annotation.left)
        yield from _list_kinds(annotation.right)
    elif isinstance(annotation, cst.Subscript) and (dotted(annotation.value) or "").endswith("Optional"):
        index = annotation.slice[0].slice
        yield from _list_kinds(index.value) if isinstance(index, cst.Index) else [""]
    else:
        yield (dotted(annotation) or "").rpartition(".")[2]


def _is_plain(case: Case, annotation: cst.BaseExpression) -> bool:
    """Return whether an annotation is of a plain value, or of a ``NamedTuple`` of those in a file of the
    finding."""
    allowed = set(_list_kinds(annotation)) - {"None"}
    if allowed and allowed <= _KEYS:
        return True
    for other, _ in case.places():
        for item in other.tree.body:
            if isinstance(item, cst.ClassDef) and {item.name.value} == allowed:
                tuples = any(dotted(base.value) in ("NamedTuple", "typing.NamedTuple") for base in item.bases)
                fields = [node for line in item.body.body for node in walk(line) if isinstance(node, cst.AnnAssign)]
                kinds = {kind for node in fields for kind in _list_kinds(node.annotation.annotation)}
                return tuples and kinds - {"None"} <= _KEYS
    return False


_NOTE = "the same object is used each time: what a function that gets it changes in it stays changed"
FUNCTION = Fixer("keeps what the function loads", _keep_function, _NOTE)
STATEMENT = Fixer("loads it once for the same arguments", _keep_statement, _NOTE)
