"""Purpose of a sampled moment of the run: the part of its account, by the stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tfperfkit.records.parts import RunPart
from tfperfkit.records.samples import RESTORED_CALLS, TENSORFLOW, Frame, Stack
from tfperfkit.records.steps import Loop
from tfperfkit.syntax.loops import SourceLoops, source_loops
from tfperfkit.syntax.module import Syntax, parse

#: Keras' methods by what they are for.
_METHODS: dict[str, RunPart] = {
    "evaluate": "validation",
    "test_on_batch": "validation",
    "predict": "prediction",
    "predict_on_batch": "prediction",
}
_SAVING = ("keras.src.saving.", "keras.src.export.", "tensorflow.python.saved_model.", "tensorflow.python.checkpoint.")
_VARIABLES = ("tensorflow.python.ops.variables", "tensorflow.python.ops.resource_variable_ops")
_MAKING = ("__init__", "build", "compile", "add", "from_config", "clone_model")
_DATASETS = "tensorflow.python.data."
#: Parts to which a moment belongs anywhere in the run; a moment of another part belongs to training inside a step.
ALWAYS: tuple[RunPart, ...] = ("imports", "validation", "prediction", "saving", "freeing", "children")


class Moment(NamedTuple):
    """``fit``: the stack is inside ``Model.fit``; ``loop``: the outermost loop of the user's around the moment;
    ``package``: the package that is being imported.
    """

    part: RunPart
    fit: bool = False
    loop: Loop | None = None
    package: str = ""


class Moments:
    """``sources``: the lines of the user's files."""

    def __init__(self, sources: Mapping[str, tuple[str, ...]]) -> None:
        self._sources = sources
        self._loops: dict[str, SourceLoops] = {}
        self._imports: dict[str, dict[int, str]] = {}
        self._known: dict[int, Moment] = {}  # by ``id``: the log keeps its stacks, and to hash one takes long

    def find_moment(self, stack: Stack) -> Moment:
        """Return what a stack was at; each stack is looked at once."""
        found = self._known.get(id(stack))
        if found is None:
            found = self._known[id(stack)] = self._look(stack)
        return found

    def _look(self, stack: Stack) -> Moment:
        leaf = stack.frames[-1] if stack.frames else None
        if leaf is None:
            return Moment(_by_activity(stack))
        syntax = parse(self._sources[leaf.file]) if leaf.file in self._sources else None
        if leaf.file not in self._imports:
            self._imports[leaf.file] = _list_imports(syntax)
        loop = next(filter(None, (self.around(frame.file, frame.line) for frame in stack.frames)), None)
        package = _imported(leaf, self._imports[leaf.file])
        if package:
            return Moment("imports", loop=loop, package=package)
        names = called_at(leaf, syntax)
        if waits_for_children(leaf, names, syntax):
            return Moment("children", loop=loop)
        methods = _methods(leaf, names if stack.library in TENSORFLOW else [])
        fit = "fit" in methods or any("fit" in _methods(frame, []) for frame in stack.frames)
        return Moment(_part_of_leaf(stack, leaf, methods), fit, loop)

    def around(self, file: str, line: int) -> Loop | None:
        """Return the outermost loop around a line, in its function."""
        if file not in self._loops:
            self._loops[file] = source_loops(self._sources.get(file, ()))
        return next((Loop(file, begin) for begin in self._loops[file].around(line)), None)


def _part_of_leaf(stack: Stack, leaf: Frame, methods: list[str]) -> RunPart:
    """Return the part of the run that a stack counts for."""
    called = next((_METHODS[name] for name in methods if name in _METHODS), None)
    if called is not None:
        return called
    if stack.context == "evaluate":  # which of both stands too deep to be seen
        return "validation" if "fit" in methods else "prediction"
    calls = leaf.calls or ()
    if stack.activity in ("saving", "summary") or any(map(_saves, calls)):
        return "saving"
    if stack.activity != "tracing" and (stack.context == "build" or any(map(_makes, calls))):
        return "building"
    return _by_activity(stack, any(call.startswith(_DATASETS) for call in calls))


def _by_activity(stack: Stack, pipeline: bool = False) -> RunPart:
    if stack.activity == "tracing":
        return "tracing"
    if stack.activity == "input" or pipeline:
        return "input"
    if stack.activity in ("graph", "eager_ops", "host_sync", "dispatch") or stack.library in TENSORFLOW:
        return "tensorflow"
    return "data"


def _saves(call: str) -> bool:
    """Return whether a function of a library saves or loads; calling what was loaded does neither."""
    return call.startswith(_SAVING) and call not in RESTORED_CALLS


def _makes(call: str) -> bool:
    """Return whether a function of a library makes models, optimizers, variables or the stages of a pipeline."""
    module, _, function = call.partition(":")
    if module.startswith(_DATASETS):
        return function != "__iter__" and "iterator" not in module
    keras = module.startswith(("keras.src.", "tf_keras.src."))
    return (keras and function in _MAKING) or (module in _VARIABLES and function in ("__init__", "__call__"))


def _methods(frame: Frame, names: list[str]) -> list[str]:
    """Methods of Keras' models that a frame is in: by its calls, else, as when one has just returned, by the source."""
    found = []
    for call in frame.calls or ():
        module, _, function = call.partition(":")
        if module.startswith(("keras.src.", "tf_keras.src.")) and ".train" in module:
            found.append(function)
    if found:
        return found
    # A function of a library that only passes a call on: the called function has returned, and objects that it held are
    # freed.
    passed = any(call.endswith("src.utils.traceback_utils:error_handler") for call in frame.calls or ())
    return [name.rpartition(".")[2] for name in names] if passed else []


def _imported(frame: Frame, statements: Mapping[int, str]) -> str:
    """Return the package whose import is under way; "" for none."""
    for call in frame.calls or ():
        if call.endswith(":<module>"):
            return call.partition(".")[0].partition(":")[0]
    return statements.get(frame.line, "") if frame.calls == () else ""  # its file is looked for, read, loaded


def _list_imports(syntax: Syntax | None) -> dict[int, str]:
    """Return the package that each line with an import names; "." for the user's own package."""
    imports = syntax.imports if syntax is not None else []
    return {line: item.modules[0].partition(".")[0] or "." for item in imports for line in item.lines}


#: Modules whose functions start processes and wait for them. ``concurrent.futures._base`` serves threads too.
_MODULES = ("subprocess", "multiprocessing", "concurrent.futures.process")
_FUTURES = "concurrent.futures._base"
#: C functions, which have no frame.
_C_FUNCTIONS = ("os.wait", "os.system", "posix.wait")
#: Threads with the interface of processes.
_THREADS = ("multiprocessing.dummy", "multiprocessing.pool.ThreadPool", "ThreadPoolExecutor")
_POOLS = "ProcessPoolExecutor"


def waits_for_children(frame: Frame, names: list[str], syntax: Syntax | None) -> bool:
    """``names``: what the frame is calling, by ``Syntax.name``; ``syntax`` of its file."""
    modules = [call.partition(":")[0] for call in frame.calls or ()]
    if any(sign in name for name in (*names, *modules) for sign in _THREADS):
        return False
    if any(_is_in_package(module, _MODULES) for module in modules):
        # A pool's methods may be those of a pool of threads that the line does not name.
        return "multiprocessing.pool" not in modules or not _calls_api(syntax, *_THREADS[:2])
    if _FUTURES in modules:
        return any(_POOLS in name for name in names) or (
            _calls_api(syntax, _POOLS) and not _calls_api(syntax, _THREADS[2])
        )
    return not modules and any(name.startswith(_C_FUNCTIONS) for name in names)


def _is_in_package(module: str, packages: tuple[str, ...]) -> bool:
    """Return whether a module belongs to one of these packages."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def _calls_api(syntax: Syntax | None, *signs: str) -> bool:
    """Return whether a file calls such an API anywhere."""
    return syntax is not None and any(sign in call.name for call in syntax.calls for sign in signs)


def called_at(frame: Frame, syntax: Syntax | None) -> list[str]:
    """Return the APIs that a frame is calling, by the source: ``["?.predict"]``; those of its line if no more is
    known."""
    return [call.name for call in syntax.find_running_calls(frame.line, frame.span)] if syntax is not None else []
