"""``@tf.function`` on the step function, on a function of operations outside of training, or around a jacobian."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.fixers.step_from_loop import is_tape
from tfperfkit.fixing.module import Module, dotted, walk
from tfperfkit.fixing.traceable import obstacle


def _compile_step(case: Case) -> list[Edit]:
    """Compile the step function; its other decorators get the compiled function."""
    module, span = next(iter(case.places()))
    function = module.function_at(span.line, span.function)
    if function is None:
        raise NoFix("the step is no function of its own: make one of the loop's body first")
    return _compile(case, module, function)


def _compile(case: Case, module: Module, function: cst.FunctionDef, relaxed: bool = False) -> list[Edit]:
    """Add the decorator. Raises NoFix if the function is compiled already, or can't be."""
    if any("function" in (module.imported(_without_call(item)) or "").split(".") for item in function.decorators):
        raise NoFix(f"{function.name.value} is a tf.function already")
    doubts: list[str] = []
    reason = obstacle(module, function, doubts)
    if reason:
        raise NoFix(reason)
    case.assumed.extend(f"a trace of {function.name.value} does the same, although {doubt}" for doubt in doubts[:1])
    name = module.spelled("tensorflow.function", function)
    given = cst.parse_expression("f(reduce_retracing=True)").with_changes(func=name) if relaxed else name
    decorator = cst.Decorator(given)

    def change(node: cst.FunctionDef) -> cst.FunctionDef:
        if any(module.imported(_without_call(item)) == "tensorflow.function" for item in node.decorators):
            return node
        return node.with_changes(decorators=(*node.decorators, decorator))

    return [Edit(module.file, function, change)]


def _without_call(item: cst.Decorator) -> cst.CSTNode:
    return item.decorator.func if isinstance(item.decorator, cst.Call) else item.decorator


STEP = Fixer(
    "compiles the step",
    _compile_step,
    "Python in the step runs once for each trace; random numbers and rounding may differ",
    keeps="mathematics",
)


#: Iterables of Python values: TensorFlow would unroll a loop over them.
_PYTHON = frozenset({"range", "enumerate", "zip", "reversed", "sorted"})
_NUMBERS = frozenset({"int", "float", "len", "round"})


def _compile_function(case: Case) -> list[Edit]:
    """Compile the function at the first place, unless a loop in it would be unrolled or a number would retrace it."""
    module, function = _find_function(case)
    with case.assuming(f"tracing {function.name.value} takes less than it saves"):
        _check_traces(module, function)
    return _compile(case, module, function)


def _compile_relaxed(case: Case) -> list[Edit]:
    """Compile the function for tensors of any size."""
    module, function = _find_function(case)
    case.assumed.append(f"calls of {function.name.value} differ in the sizes of their tensors only")
    return _compile(case, module, function, relaxed=True)


def _find_function(case: Case) -> tuple[Module, cst.FunctionDef]:
    """Return the function at the first place, or else the innermost one that holds it."""
    module, span = next(iter(case.places()))
    function = module.function_at(span.line, span.function)
    if function is not None:
        return module, function
    holding = [node for node in module.nodes if isinstance(node, cst.FunctionDef) and module.spans(node, span.line)]
    if not holding:
        raise NoFix("the operations are not in a function of their own: make one of them first")
    case.assumed.append(f"all of {holding[-1].name.value} may be traced, not only its line {span.line}")
    return module, holding[-1]


def _check_traces(module: Module, function: cst.FunctionDef) -> None:
    """Raise NoFix for a loop that a trace repeats, or a number that each call is traced for."""
    for node in walk(function.body):
        if isinstance(node, (cst.For, cst.While)) and _is_pythons(node):
            raise NoFix(
                f"its loop in line {module.line(node)} may be traced iteration by iteration: "
                "loop over tf.range, or work on whole batches"
            )
    for call in module.calls:
        if (dotted(call.func) or "").removeprefix("self.") == function.name.value:
            number = next((item for given in call.args for item in _numbers(module, call, given.value)), "")
            if number:
                raise NoFix(
                    f"line {module.line(call)} gives it {number}, which may be another Python number at each call, "
                    "and each would be traced: give it a tensor first"
                )


def _is_pythons(loop: cst.For | cst.While) -> bool:
    """Return whether a loop may be unrolled: over Python values, or any ``while``, whose condition may be no tensor."""
    if isinstance(loop, cst.While):
        return True
    return isinstance(loop.iter, (cst.List, cst.Tuple)) or (
        isinstance(loop.iter, cst.Call) and isinstance(loop.iter.func, cst.Name) and loop.iter.func.value in _PYTHON
    )


def _numbers(module: Module, call: cst.Call, given: cst.BaseExpression) -> Iterator[str]:
    """Find Python numbers that vary in an argument: a counter of a loop around the call, a name that is set to a number
    and set again, or a conversion."""
    counted = {*_counted(module, call), *_set_again(module, call)}
    for node in walk(given):
        if isinstance(node, cst.Name) and node.value in counted:
            yield node.value
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in _NUMBERS:
            yield f"{node.func.value}(...)"


def _counted(module: Module, call: cst.Call) -> Iterator[str]:
    for around in module.around(call):
        if isinstance(around, cst.For) and isinstance(around.iter, cst.Call) and isinstance(around.iter.func, cst.Name):
            over, target = around.iter.func.value, around.target
            if over == "range" and isinstance(target, cst.Name):
                yield target.value
            if over == "enumerate" and isinstance(target, cst.Tuple) and isinstance(target.elements[0].value, cst.Name):
                yield target.elements[0].value.value
        if isinstance(around, (cst.For, cst.While)):
            for node in walk(around.body):
                if isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name):
                    yield node.target.value


def _set_again(module: Module, call: cst.Call) -> Iterator[str]:
    """Yield the names that begin as a number and change in the function around the call: ``t, h = 0.0, 0.1``, then
    ``t = t + h``."""
    scope = next((node for node in module.around(call) if isinstance(node, cst.FunctionDef)), module.tree)
    bound = [pair for node in walk(scope) if isinstance(node, (cst.Assign, cst.AugAssign)) for pair in _pairs(node)]
    times = Counter(name for name, _ in bound)
    for name, value in bound:
        number = value.expression if isinstance(value, cst.UnaryOperation) else value
        if isinstance(number, (cst.Integer, cst.Float)) and times[name] > 1:
            yield name


def _pairs(node: cst.Assign | cst.AugAssign) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Yield each name that a statement sets, with its value."""
    targets = [node.target] if isinstance(node, cst.AugAssign) else [item.target for item in node.targets]
    for target in targets:
        if isinstance(target, cst.Name):
            yield target.value, node.value
        elif isinstance(target, (cst.Tuple, cst.List)):
            values = node.value.elements if isinstance(node.value, (cst.Tuple, cst.List)) else ()
            for at, item in enumerate(target.elements):
                if isinstance(item.value, cst.Name):
                    yield item.value.value, values[at].value if at < len(values) else node.value


FUNCTION = Fixer(
    "compiles the function",
    _compile_function,
    "Python in it runs once for each trace; random numbers and rounding may differ. One batch of all iterations, "
    "where that can be, gains more",
    keeps="mathematics",
)


RELAXED = Fixer(
    "compiles the function for tensors of any size",
    _compile_relaxed,
    "Python in it runs once for each trace; random numbers and rounding may differ",
    keeps="mathematics",
)


def _compile_jacobian(case: Case) -> list[Edit]:
    """Compile the innermost function around the jacobian, which otherwise is traced in each call."""
    for module, span in case.places():
        for call in module.methods_at(span.line, "jacobian", "batch_jacobian"):
            function = next((item for item in module.around(call) if isinstance(item, cst.FunctionDef)), None)
            if function is None:
                raise NoFix("the jacobian is not in a function: make one of it first")
            return _compile(case, module, function)
    raise NoFix("there is no jacobian at its places")


JACOBIAN = Fixer(
    "compiles the function of the jacobian",
    _compile_jacobian,
    "Python in it runs once for each trace; give it tensors of the same shape",
    keeps="mathematics",
)


def _compile_around_loop(case: Case) -> list[Edit]:
    """Compile the function with the tape around one of the places, or the only one of the file: a loop over Python
    values in it, or in what it calls, is traced once, iteration by iteration."""
    reason = NoFix("no function with a tape is seen around its places")
    for module, span in case.places():
        functions = [node for node in module.nodes if isinstance(node, cst.FunctionDef)]
        steps = [
            item
            for item in functions
            if any(isinstance(at, cst.With) and is_tape(module, at) for at in walk(item.body))
        ]
        around = [item for item in steps if module.spans(item, span.line)]
        found = around or (steps if len(steps) == 1 else [])
        if found:
            try:
                return _compile(case, module, found[-1])
            except NoFix as error:
                reason = error
    raise reason


LOOP = Fixer(
    "compiles the step that repeats the loop's operations",
    _compile_around_loop,
    "the loop is unrolled into the graph, so a long one traces for long; Python in the step runs once for each trace",
    keeps="mathematics",
)
