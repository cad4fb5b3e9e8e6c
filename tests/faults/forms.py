"""The forms in which people write the same program: each is a function that proposes edits of a script.

``FORMS`` has them by name. ``rewrite`` gives a script in one of them. The result is the same program.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import renaming
from rewriting import DEFINITIONS, LOOPS, SIMPLE, Program

Form = Callable[[Program], None]


def rewrite(text: str, form: str) -> str | None:
    """The script in another form; None if it has nothing that could be written so. The text is a program again."""
    program = Program(text)
    FORMS[form](program)
    other = program.finish()
    if other is not None:
        compile(other, form, "exec", dont_inherit=True)
    return other


def renamed(program: Program) -> None:
    """Everything that the user named has another name, which misleads those who read names."""
    program.whole = renaming.rename(program.data.decode(), renaming.misleading)


# Other names for a module and for what is called.


def compat_imports(program: Program) -> None:
    """``import tensorflow.compat.v2 as tf``."""
    for item in program.tree.body:
        if isinstance(item, ast.Import) and ast.unparse(item) == "import tensorflow as tf":
            program.replace(item, "import tensorflow.compat.v2 as tf")


def from_imports(program: Program) -> None:
    """``from numpy import random as np_random`` for each part of a module that the script uses."""
    for name, item in program.modules().items():
        uses = program.module_names(name)
        parts = [program.parents[use] for use in uses]
        if len(item.names) > 1 or not parts or not all(map(program.is_read, uses)):
            continue
        if all(isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load) for part in parts):
            words = sorted({part.attr for part in parts})
            listed = ", ".join(f"{word} as {name}_{word}" for word in words)
            program.replace(item, f"from {item.names[0].name} import {listed}")
            for part in parts:
                program.replace(part, f"{name}_{part.attr}")


def _call_otherwise(
    program: Program, define: Callable[[str, str], str], word: Callable[[str], str], needs: str
) -> None:
    """Call functions, the script's own and libraries', through something else that is defined once for each."""
    for function, calls in program.functions():
        program.put_behind(function, define(function.name, function.name))
        for call in calls:
            program.replace(call.func, word(function.name))
    libraries = program.libraries()
    if libraries and needs:
        program.put_behind_imports(needs)
    elif needs and (first := next(iter(program.functions()), None)) is not None:
        program.put_before(first[0], needs)
    for dotted, calls in libraries.items():
        name = dotted.replace(".", "_")
        program.put_behind_imports(define(name, dotted))
        for call in calls:
            program.replace(call.func, word(name))


def aliases(program: Program) -> None:
    """``load = np.load``, then ``load(path)``."""
    _call_otherwise(program, lambda name, what: f"other_{name} = {what}", lambda name: f"other_{name}", "")


def partials(program: Program) -> None:
    """``load = functools.partial(np.load)``, then ``load(path)``."""
    _call_otherwise(
        program,
        lambda name, what: f"part_{name} = functools.partial({what})",
        lambda name: f"part_{name}",
        "import functools",
    )


def dictionaries(program: Program) -> None:
    """``CALLS = {"load": np.load}``, then ``CALLS["load"](path)``."""
    _call_otherwise(
        program,
        lambda name, what: f'CALLS["{name}"] = {what}',
        lambda name: f'CALLS["{name}"]',
        "CALLS = {}",
    )


def literal_dictionaries(program: Program) -> None:
    """The same where each dictionary is written at once."""
    _call_otherwise(
        program,
        lambda name, what: f'CALLS_{name} = {{"call": {what}, "other": len}}',
        lambda name: f'CALLS_{name}["call"]',
        "",
    )


def namespaces(program: Program) -> None:
    """``own = types.SimpleNamespace(load=np.load)``, then ``own.load(path)``."""
    _call_otherwise(
        program,
        lambda name, what: f"own_{name} = types.SimpleNamespace(call={what})",
        lambda name: f"own_{name}.call",
        "import types",
    )


def holders(program: Program) -> None:
    """Attributes that are set on an object of an own class: ``holder.load = np.load``."""
    _call_otherwise(
        program,
        lambda name, what: f"HOLDER.{name} = {what}",
        lambda name: f"HOLDER.{name}",
        'HOLDER = type("Holder", (), {})()',
    )


def bound_methods(program: Program) -> None:
    """``predict = model.predict`` before a loop that calls ``model.predict``."""
    done = set()
    for call in program.nodes:
        if not (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
        ):
            continue
        owner = call.func.value
        if owner.id in program.modules() or not program.is_read(owner) or not program.is_called(call.func):
            continue
        loops = [
            item
            for item in program.around(call)
            if isinstance(item, LOOPS) and program.scope(item) is program.scope(call)
        ]
        if not loops or _binds(loops[-1], owner.id) or program.owner(owner) is None:
            continue
        name = f"{owner.id}_{call.func.attr}"
        if (loops[-1], name) not in done:
            done.add((loops[-1], name))
            program.put_before(loops[-1], f"{name} = {owner.id}.{call.func.attr}")
        program.replace(call.func, name)


def _binds(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(item, ast.Name) and item.id == name and not isinstance(item.ctx, ast.Load) for item in ast.walk(node)
    )


# Other homes for variables.


def _variables(program: Program) -> Iterator[tuple[str, list[ast.Name]]]:
    """Return the values that the module's own code assigns by ``=`` alone, with all their names."""
    assigned = {
        target.id
        for item in program.nodes
        if isinstance(item, ast.Assign) and program.scope(item) is program.tree
        for target in item.targets
        if isinstance(target, ast.Name)
    }
    declared = {name for item in program.nodes if isinstance(item, (ast.Global, ast.Nonlocal)) for name in item.names}
    for name in sorted(assigned - declared - {"os", "sys"}):
        uses = program.module_names(name)
        stored = [use for use in uses if not isinstance(use.ctx, ast.Load)]
        if all(map(program.is_read, uses)) and all(
            isinstance(program.parents[use], (ast.Assign, ast.AugAssign)) for use in stored
        ):
            yield name, uses


def attributes(program: Program) -> None:
    """The module's variables are attributes of an object: ``kept.model``."""
    found = dict(_variables(program))
    if found:
        program.put_behind_imports('kept = type("Kept", (), {})()')
    for name, uses in found.items():
        for use in uses:
            program.replace(use, f"kept.{name}")


def subscripts(program: Program) -> None:
    """The module's variables are values of a dictionary: ``kept["model"]``."""
    found = dict(_variables(program))
    if found:
        program.put_behind_imports("kept = {}")
    for name, uses in found.items():
        for use in uses:
            program.replace(use, f"kept['{name}']")


def annotations(program: Program) -> None:
    """``x: object = f()``."""
    declared = {name for item in program.nodes if isinstance(item, (ast.Global, ast.Nonlocal)) for name in item.names}
    for item in program.nodes:
        target = item.targets[0] if isinstance(item, ast.Assign) and len(item.targets) == 1 else None
        is_free = isinstance(target, ast.Name) and target.id not in declared
        if is_free and not isinstance(program.scope(item), ast.ClassDef):
            program.insert(program.end(target), ": object")


def temporaries(program: Program) -> None:
    """``part = g(x); y = f(part)`` for ``y = f(g(x))``."""
    number = 0
    for item in program.nodes:
        call = getattr(item, "value", None) if isinstance(item, (ast.Assign, ast.Expr, ast.Return)) else None
        if (
            not isinstance(call, ast.Call)
            or isinstance(program.scope(item), ast.ClassDef)
            or item not in program.block(item)
        ):
            continue
        given = [*call.args, *(word.value for word in call.keywords)]
        inner = [value for value in given if isinstance(value, (ast.Call, ast.BinOp))]
        # An argument that is evaluated first must stay first.
        plain = all(isinstance(value, (ast.Call, ast.BinOp, ast.Name, ast.Constant)) for value in given)
        own = program.line(item.lineno)[: item.col_offset].strip() == ""
        if inner and plain and own and not any(map(_has_walrus, given)):
            number += 1
            names = [f"part_{number}_{index}" for index in range(len(inner))]
            written = (
                f"{name} = {' '.join(program.source(value).split(chr(10)))}"
                for name, value in zip(names, inner, strict=True)
            )
            program.insert(program.begin(item), "; ".join(written) + "; ")
            for name, value in zip(names, inner, strict=True):
                program.replace(value, name)


def _has_walrus(node: ast.AST) -> bool:
    return any(isinstance(item, (ast.NamedExpr, ast.Await, ast.Yield, ast.JoinedStr)) for item in ast.walk(node))


# Other ways to pass arguments.


def keywords(program: Program) -> None:
    """Arguments of the script's own functions by keyword."""
    for function, calls in program.functions():
        given = function.args
        if given.posonlyargs or given.vararg:
            continue
        for call in calls:
            if not any(isinstance(item, ast.Starred) for item in call.args):
                for value, parameter in zip(call.args, given.args, strict=False):
                    program.insert(program.begin(value), f"{parameter.arg}=")


def options(program: Program) -> None:
    """Constant keywords of a call in a dictionary: ``model.fit(x, **options)``."""
    number = 0
    for call in program.nodes:
        if isinstance(call, ast.Call) and isinstance(call.func, (ast.Name, ast.Attribute)):
            words = call.keywords
            if not words or any(word.arg is None or not isinstance(word.value, ast.Constant) for word in words):
                continue
            behind = max(map(program.end, call.args), default=0)
            if (
                any(isinstance(item, ast.JoinedStr) for item in program.around(call))
                or program.begin(words[0]) < behind
            ):
                continue
            if "\n" in program.data[program.begin(words[0]) : program.end(words[-1])].decode():
                continue
            number += 1
            written = ", ".join(f'"{word.arg}": {program.source(word.value)}' for word in words)
            program.put_behind_imports(f"options_{number} = {{{written}}}")
            program.cut(program.begin(words[0]), program.end(words[-1]), f"**options_{number}")


# Other ways to define and to compile a function.


def compiled_by_call(program: Program) -> None:
    """``f = tf.function(f)`` behind the ``def`` for ``@tf.function``."""
    for item in program.nodes:
        if isinstance(item, ast.FunctionDef) and len(item.decorator_list) == 1:
            mark = item.decorator_list[0]
            made = mark.func if isinstance(mark, ast.Call) else mark
            if ast.unparse(made) == "tf.function" and not (isinstance(mark, ast.Call) and mark.args):
                words = [program.source(word) for word in mark.keywords] if isinstance(mark, ast.Call) else []
                program.cut(program.starts[mark.lineno - 1], program.end(mark))
                program.put_behind(item, f"{item.name} = tf.function({', '.join([item.name, *words])})")


def lambdas(program: Program) -> None:
    """``f = lambda x: g(x)`` for a function that only returns."""
    for item in program.nodes:
        if isinstance(item, ast.FunctionDef) and len(item.body) == 1 and isinstance(item.body[0], ast.Return):
            returned = item.body[0]
            annotated = item.returns or any(
                each.annotation for each in ast.walk(item.args) if isinstance(each, ast.arg)
            )
            if (
                item.decorator_list
                or annotated
                or returned.value is None
                or isinstance(program.parents[item], ast.ClassDef)
            ):
                continue
            head = program.data[program.begin(item) : program.begin(returned)].decode()
            comment = head.partition("):")[2] if "):" in head else "\n"
            program.cut(
                program.begin(item),
                program.begin(returned.value),
                f"{item.name} = lambda {ast.unparse(item.args)}: ({comment}",
            )
            program.insert(program.end(returned.value), ")")


# Other loops.


def while_loops(program: Program) -> None:
    """``while i < n`` with a counter for ``for i in range(n)``."""
    for item in program.nodes:
        if not (isinstance(item, ast.For) and isinstance(item.target, ast.Name) and not item.orelse):
            continue
        over = item.iter
        if not (isinstance(over, ast.Call) and ast.unparse(over.func) == "range" and len(over.args) < 3):
            continue
        own = [each for each in ast.walk(item) if isinstance(each, (ast.Continue, ast.NamedExpr))]
        last = item.body[-1]
        if own or not isinstance(last, SIMPLE) or _binds(ast.Module(item.body, []), item.target.id):
            continue
        if not all(isinstance(each, (ast.Name, ast.Constant)) for each in over.args):
            continue
        first, end = ("0", over.args[0]) if len(over.args) == 1 else (program.source(over.args[0]), over.args[1])
        name = item.target.id
        program.put_before(item, f"{name} = {first}")
        program.cut(program.begin(item), program.end(over), f"while {name} < {program.source(end)}")
        program.insert(program.end(last), f"; {name} += 1")


def named_iterables(program: Program) -> None:
    """``items = f(x)`` before ``for item in items``."""
    number = 0
    for item in program.nodes:
        over = item.iter if isinstance(item, ast.For) and item in program.block(item) else None
        if isinstance(over, ast.Call) and over.lineno == over.end_lineno:
            number += 1
            program.put_before(item, f"items_{number} = {program.source(over)}")
            program.replace(over, f"items_{number}")


def enumerated(program: Program) -> None:
    """``for number, x in enumerate(xs)``, outside of compiled functions."""
    number = 0
    for item in program.nodes:
        inside = [each for each in program.around(item) if isinstance(each, ast.FunctionDef)]
        if isinstance(item, ast.For) and not inside:
            number += 1
            around = "({})" if isinstance(item.target, (ast.Tuple, ast.List)) else "{}"
            target = program.source(item.target)
            target = target if target.startswith("(") else around.format(target)
            program.replace(item.target, f"number_{number}, {target}")
            program.replace(item.iter, f"enumerate({program.source(item.iter)})")


def comprehensions(program: Program) -> None:
    """``xs.extend([f(y) for y in ys])`` for a loop that appends, ``[f(y) for y in ys]`` for one that calls."""
    for item in program.nodes:
        if not (
            isinstance(item, ast.For) and len(item.body) == 1 and not item.orelse and isinstance(item.body[0], ast.Expr)
        ):
            continue
        call = item.body[0].value
        inside = [each for each in program.around(item) if isinstance(each, ast.FunctionDef) and each.decorator_list]
        if not isinstance(call, ast.Call) or inside or item.lineno == call.lineno:
            continue
        head = f" for {program.source(item.target)} in {program.source(item.iter)}]"
        rest = program.data[program.end(item.iter) : program.begin(call)].decode().lstrip(":")
        if isinstance(call.func, ast.Attribute) and call.func.attr == "append":
            program.cut(
                program.begin(item), program.begin(call.args[0]), f"{program.source(call.func.value)}.extend([{rest}"
            )
            program.cut(program.end(call.args[0]), program.end(call), f"{head})")
        else:
            program.cut(program.begin(item), program.begin(call), f"[{rest}")
            program.insert(program.end(call), head)


def statements(program: Program) -> None:
    """Write a loop that appends for ``xs = [f(y) for y in ys]``."""
    for item in program.nodes:
        if not (
            isinstance(item, ast.Assign) and isinstance(item.value, ast.ListComp) and len(item.value.generators) == 1
        ):
            continue
        made, head = item.value, item.value.generators[0]
        inside = [each for each in program.around(item) if isinstance(each, ast.FunctionDef) and each.decorator_list]
        if head.ifs or head.is_async or len(item.targets) > 1 or not isinstance(item.targets[0], ast.Name) or inside:
            continue
        name = item.targets[0].id
        if any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(made)):
            continue
        program.put_before(item, f"{name} = []")
        rest = program.data[program.end(made.elt) : program.begin(head.target)].decode().replace("for ", "").rstrip(" ")
        appended = f"{name}.append({program.source(made.elt)}{rest})"
        over = f"for {program.source(head.target)} in {program.source(head.iter)}"
        program.cut(program.begin(item), program.end(item), f"{over}: {appended}")


# Other homes for code.


def main_function(program: Program) -> None:
    """The code of the module in ``main()``, with the functions that use its variables."""
    body = program.tree.body
    if any(isinstance(item, (ast.Global, ast.Nonlocal)) for item in program.nodes) or _has_long_strings(program):
        return
    keep = [item for item in body if isinstance(item, (ast.Import, ast.ImportFrom)) or _is_text(item)]
    first = next((item for item in body if item not in keep and not isinstance(item, DEFINITIONS)), None)
    if first is None or any(item in keep for item in body[body.index(first) :]):
        return
    program.insert(program.starts[first.lineno - 1], "def main():\n")
    _indent(program, first.lineno, body[-1].end_lineno, 4)
    program.insert(len(program.data), '\n\nif __name__ == "__main__":\n    main()\n')


def loop_helpers(program: Program) -> None:
    """The body of each of the module's loops in a function of its own, with ``global`` for what it assigns."""
    if _has_long_strings(program):
        return
    for number, item in enumerate(program.tree.body):
        if not isinstance(item, ast.For) or item.orelse:
            continue
        inner = [
            each
            for each in ast.walk(item)
            if isinstance(each, (ast.Break, ast.Continue, ast.Yield, ast.FunctionDef, ast.NamedExpr))
        ]
        if inner or item.body[0].lineno == item.lineno:
            continue
        targets = [each.id for each in ast.walk(item.target) if isinstance(each, ast.Name)]
        bound = sorted(
            {
                each.id
                for part in item.body
                for each in ast.walk(part)
                if isinstance(each, ast.Name)
                and not isinstance(each.ctx, ast.Load)
                and program.scope(each) is program.tree
            }
            - set(targets)
        )
        head = program.data[program.begin(item) : program.starts[item.body[0].lineno - 1]].decode()
        first, last = item.body[0].lineno, item.body[-1].end_lineno
        lines = "".join(program.line(index) for index in range(first, last + 1)).rstrip("\n")
        shared = f"    global {', '.join(bound)}\n" if bound else ""
        call = f"turn_{number}({', '.join(targets)})"
        whole = f"def {call}:\n{shared}{lines}\n\n\n{head}    {call}"
        program.cut(
            program.begin(item), program.starts[last - 1] + len(program.line(last).rstrip("\n").encode()), whole
        )


def _is_text(item: ast.stmt) -> bool:
    return isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)


def _has_long_strings(program: Program) -> bool:
    """Whether a string goes over several lines: it would change with its indentation."""
    found = (item for item in program.nodes if isinstance(item, ast.Constant) and isinstance(item.value, str))
    return any(item.end_lineno > item.lineno and not _is_text(program.parents[item]) for item in found)


def _indent(program: Program, first: int, last: int, by: int) -> None:
    for number in range(first, last + 1):
        if program.line(number).strip():
            program.insert(program.starts[number - 1], " " * by)


def job_class(program: Program) -> None:
    """The module's variables as attributes of a class, its functions and its code as methods: ``self.step(x)``."""
    if _has_long_strings(program) or any(isinstance(item, ast.Global) for item in program.nodes):
        return
    variables = dict(_variables(program))
    used: dict[ast.stmt, set[str]] = {item: set() for item in program.tree.body}
    tops = {node: item for item in program.tree.body for node in ast.walk(item)}
    for name in program.nodes:
        if isinstance(name, ast.Name) and program.owner(name) is program.tree:
            used[tops[name]].add(name.id)
    functions = [item for item in program.tree.body if isinstance(item, ast.FunctionDef)]
    methods: set[str] = set()
    while more := {item.name for item in functions if used[item] & (variables.keys() | methods)} - methods:
        methods |= more
    moved = variables.keys() | methods
    own = {item for item in program.tree.body if not isinstance(item, (*DEFINITIONS, ast.Import, ast.ImportFrom))}
    loose = {
        each.id for item in own for each in ast.walk(item) if isinstance(each, ast.Name) and _stores(program, each)
    } - moved
    outside = [
        each for item in functions for part in (*item.decorator_list, *item.args.defaults) for each in ast.walk(part)
    ]
    refused = (
        any(used[item] & moved for item in program.tree.body if isinstance(item, ast.ClassDef))
        or any(used[item] & loose for item in functions)
        or any(isinstance(each, ast.Name) and each.id in moved for each in outside)
    )
    if refused or not own - {item for item in own if _is_text(item)}:
        return
    for name in moved:
        for use in program.module_names(name):
            if not program.is_read(use):
                return
            program.replace(use, f"self.{name}")
    for item in functions:
        if item.name in methods:
            at = program.starts[item.lineno - 1] + program.line(item.lineno).index("(") + 1
            program.insert(at, "self, " if ast.unparse(item.args) else "self")
    text = program.finish()
    other = Program(text if text is not None else program.data.decode())
    pieces: list[str] = []
    ends = [item.end_lineno for item in other.tree.body]
    for begin, end in zip([0, *ends], ends, strict=False):
        pieces.append("".join(other.line(number) for number in range(begin + 1, end + 1)))
    before, inside, names = [], [], []
    for item, piece in zip(other.tree.body, pieces, strict=True):
        is_method = isinstance(item, ast.FunctionDef) and item.name in methods
        if isinstance(item, (ast.Import, ast.ImportFrom, *DEFINITIONS)) and not is_method or _is_text(item):
            before.append(piece)
            continue
        shifted = "".join(f"    {row}" if row.strip() else row for row in piece.splitlines(keepends=True))
        if is_method:
            inside.append(shifted)
            names.append("")
            continue
        if not names or not names[-1]:
            names.append(f"part_{len(names)}")
            inside.append(f"\n    def {names[-1]}(self):\n")
        inside.append("".join(f"    {row}" if row.strip() else row for row in shifted.splitlines(keepends=True)))
    calls = "".join(f"job.{name}()\n" for name in names if name)
    program.whole = "".join([*before, "\n\nclass Job:\n", *inside, "\n\njob = Job()\n", calls])


def _stores(program: Program, node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load) and program.owner(node) is program.tree


FORMS: dict[str, Form] = {
    form.__name__: form
    for form in (
        renamed,
        compat_imports, from_imports, aliases, partials, dictionaries, literal_dictionaries, namespaces, holders,
        bound_methods, attributes, subscripts, annotations, temporaries, keywords, options, compiled_by_call, lambdas,
        while_loops, named_iterables, enumerated, comprehensions, statements, main_function, loop_helpers, job_class,
    )
}  # fmt: skip
