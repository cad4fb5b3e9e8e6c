"""Find where the script starts processes that import it again, and what each of them repeats.

A process that ``multiprocessing`` spawns imports the script as a module, with all that this imports and makes at its
top. A process that is forked has it already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.model import BEFORE_TENSORFLOW, SourceSpan
from tfperfkit.records.children import Children
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.names import UNKNOWN
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.moments import moments
from tfperfkit_rules.measures.source_calls import list_files

_POOLS = ("Pool", "ProcessPoolExecutor")
_STARTS = (*_POOLS, "Process")
_CONTEXT = "multiprocessing.get_context"
#: Methods of pools and executors whose first argument runs in a child.
_HANDS_OUT = (
    "map",
    "imap",
    "imap_unordered",
    "starmap",
    "map_async",
    "starmap_async",
    "apply",
    "apply_async",
    "submit",
)
_TENSORFLOW = ("tensorflow", "keras", "tf_keras", "tensorflow_probability", "tensorflow_hub", "tensorflow_datasets")


class ChildStart(NamedTuple):
    """A call that makes a pool, an executor or a process, whose children are spawned."""

    file: str
    call: Call

    @property
    def place(self) -> tuple[str, int]:
        """Its file and line."""
        return self.file, self.call.line


class Repeated(NamedTuple):
    """The statements that a spawned child runs before its work, because it imports the script. ``lines``: where
    TensorFlow is imported, and what is made at the top of the script; ``seconds``: how long the script's own process
    took for it."""

    lines: tuple[SourceSpan, ...]
    seconds: float


def find_spawning_starts(evidence: Evidence) -> list[ChildStart]:
    """Find the calls in the source whose children are spawned; none where the start method isn't certain."""
    default = _find_default_method(evidence)
    return [
        ChildStart(file, call)
        for file, syntax in list_files(evidence)
        for call in syntax.calls
        if _starts_processes(call.name) and _find_method(call, default) == "spawn"
    ]


def find_repeated(evidence: Evidence) -> Repeated | None:
    """Find what each spawned child repeats; None if importing the script imports no TensorFlow."""
    script = _find_script(evidence)
    syntax = evidence.syntax(script) if script else None
    if syntax is None:
        return None
    imports = _find_imports_of_tensorflow(evidence, script, 0)
    if not imports:
        return None
    made: Counter[int] = Counter()
    for _, stack, ns in moments(evidence):
        outermost = stack.frames[0] if stack.frames else None
        at_top = outermost is not None and (outermost.file, outermost.name) == (script, "<module>")
        if (
            outermost is not None
            and at_top
            and outermost.line in syntax.lines_run_on_import
            and not any(map(_imports, stack.frames))
        ):
            made[outermost.line] += ns
    account = evidence.run_account
    seconds = account.seconds_of("imports") - account.imports_s.get(BEFORE_TENSORFLOW, 0.0) if account else 0.0
    models = [SourceSpan(script, line) for line, _ in made.most_common(2)]
    return Repeated((*imports, *models), seconds + made.total() / 1e9)


def measure_repeated_share(evidence: Evidence) -> float | None:
    """Return the share of the children's time that went into statements which run because a file is imported.

    None if no spawned children were recorded (``tfperf run --children``). Only the costliest lines of each group are
    known, so it may be more.
    """
    recorded = evidence.offer(Children)
    groups = [group for group in recorded.groups if group.method in ("spawn", "forkserver")] if recorded else []
    busy = sum(group.busy_s for group in groups)
    lines = [line for group in groups for line in group.lines if line.where.function == "<module>"]
    return sum(line.seconds for line in lines if _runs_on_import(evidence, line.where)) / busy if busy > 0 else None


def children_mostly_import(evidence: Evidence) -> bool:
    """Whether imports take most of the children's time, as far as that was recorded; else whether each child imports
    TensorFlow, by the source. More of them only import it more often."""
    share = measure_repeated_share(evidence)
    if share is not None:
        return share >= shared.MOSTLY.value
    return bool(find_spawning_starts(evidence)) and find_repeated(evidence) is not None


def is_started_in_loop(evidence: Evidence, start: ChildStart) -> bool:
    """Whether a loop makes it in each iteration, by the source: around the call, or around a call of its function."""
    syntax = evidence.syntax(start.file)
    nodes = [start.call]
    for _ in range(shared.FUNCTIONS_DEEP.value):
        if syntax is None or not nodes:
            return False
        if any(node.is_in_loop for node in nodes):
            return True
        around = {function.name: function for node in nodes if (function := syntax.find_function(node.line))}
        nodes = [call for name in around if syntax.find_only_function(name) for call in syntax.find_calls(name)]
    return False


def count_starts(evidence: Evidence, start: ChildStart, waits: set[tuple[str, int]]) -> int:
    """Count how often children were started there, at least: visits to the call, by the samples.

    Visits to the line that waits for them count too, if both are evaluated equally often: they are in one function and
    the same loops. ``waits``: the lines that wait.
    """
    syntax = evidence.syntax(start.file)
    places = [{start.place}]
    if syntax is not None:
        loops, function = syntax.find_loops(start.call.line), syntax.find_function(start.call.line)
        beside = {
            (file, line)
            for file, line in waits - {start.place}
            if file == start.file and syntax.find_loops(line) == loops and syntax.find_function(line) == function
        }
        places += [beside] * bool(beside)
    return max(sum(1 for _ in _visits(evidence, lines)) for lines in places)


def needs_tensorflow(evidence: Evidence, start: ChildStart) -> bool:
    """Whether what the children run may use TensorFlow; True where it isn't known."""
    syntax = evidence.syntax(start.file)
    functions = [_find_work(call) for call in syntax.calls] if syntax is not None else []
    names = {name for name in functions if name}
    return not names or any(syntax is None or _uses_tensorflow(evidence, syntax, name, 0) for name in names)


def _find_work(call: Call) -> str:
    """Name the function that a call hands to children; "" for another call."""
    _, _, method = call.name.rpartition(".")
    if method == "Process":
        node = call.get_argument("target", 1)
    else:
        node = call.arguments[0] if call.receiver and method in _HANDS_OUT and call.arguments else None
    return node.text if node is not None else ""


def _uses_tensorflow(evidence: Evidence, syntax: Syntax, name: str, depth: int) -> bool:
    """Whether a function of the file uses TensorFlow, or calls what may; a function that isn't in the file may."""
    function = syntax.find_only_function(name)
    if function is None or depth >= shared.FUNCTIONS_DEEP.value:
        return True
    read = [part for part in function.parts if part.is_plain]
    apis = {part.api for part in read}
    if any(api.partition(".")[0] in _TENSORFLOW for api in apis):
        return True
    if any(_is_own_name(evidence, api) for api in apis if api and api[0] != UNKNOWN):
        return True
    inside = function.calls
    inner = {call.function.text for call in inside if call.function.kind == "name"} - {name}
    own = [item for item in inner if syntax.find_only_function(item) is not None]
    bound = {item for part in read if part.kind == "name" for item in part.assigned}
    made = [item for item in bound if isinstance(item, Call) and item not in inside]
    return any(_uses_tensorflow(evidence, syntax, item, depth + 1) for item in own) or any(
        _is_own_name(evidence, call.name) for call in made
    )


def _is_own_name(evidence: Evidence, name: str) -> bool:
    """Whether a name isn't a library's: it is of this file, or of another one of the user's."""
    top = name.partition(".")[0]
    return not top or any(_is_file_of(file, top) for file in evidence.files())


def _visits(evidence: Evidence, places: set[tuple[str, int]]) -> Iterator[int]:
    """When samples came to one of these lines from elsewhere; leaving a ``with`` is no visit."""
    inside = False
    for when, stack, _ in moments(evidence):
        here = any((frame.file, frame.line) in places and not _ends(frame) for frame in stack.frames)
        if here and not inside:
            yield when
        inside = here if stack.frames else inside


def _starts_processes(name: str) -> bool:
    module, _, what = name.rpartition(".")
    return what in _STARTS and module.startswith(("multiprocessing", "concurrent.futures")) and ".dummy" not in module


def _find_method(call: Call, default: str) -> str:
    """Name how a call starts its children; "" if it isn't certain."""
    context = call.get_argument("mp_context" if "Executor" in call.name else "context")
    if call.receiver is not None and _CONTEXT in call.name:
        context = call.receiver
    if context is None:
        return default
    methods = {_get_method_of_context(item) for item in context.assigned if isinstance(item, Call)}
    return methods.pop() if len(methods) == 1 else ""


def _get_method_of_context(call: Call) -> str:
    given = call.get_argument("method", 0) if call.name == _CONTEXT else None
    return str(given.value) if given is not None and given.is_constant() else ""


def _find_default_method(evidence: Evidence) -> str:
    """Find the start method of children whose call names none; "" if it isn't certain."""
    chosen = [
        call.get_argument("method", 0)
        for _, syntax in list_files(evidence)
        for call in syntax.find_api_calls("multiprocessing.set_start_method")
    ]
    if chosen:
        return "spawn" if all(method is not None and method.is_constant("spawn") for method in chosen) else ""
    platform = str(evidence.run.machine.get("platform", ""))
    return "spawn" if platform.startswith(("macOS", "Darwin", "Windows")) else ""


def _find_script(evidence: Evidence) -> str:
    """Find the file that the script's process runs; "" if samples don't tell."""
    tops = Counter(
        stack.frames[0].file
        for _, stack, _ in moments(evidence)
        if stack.frames and stack.frames[0].name == "<module>" and evidence.is_user(stack.frames[0].file)
    )
    return tops.most_common(1)[0][0] if tops else ""


def _find_imports_of_tensorflow(evidence: Evidence, file: str, depth: int) -> tuple[SourceSpan, ...]:
    """Find the lines by which importing a file imports TensorFlow, in other files of the user's too."""
    syntax = evidence.syntax(file)
    if syntax is None or depth >= shared.FUNCTIONS_DEEP.value:
        return ()
    found: list[SourceSpan] = []
    for lines, modules in syntax.imports:
        if lines[0] not in syntax.lines_run_on_import:
            continue
        if any(module.partition(".")[0] in _TENSORFLOW for module in modules):
            found.append(SourceSpan(file, lines[0]))
            continue
        for own in evidence.files():
            if own != file and any(_is_file_of(own, module) for module in modules if module):
                below = _find_imports_of_tensorflow(evidence, own, depth + 1)
                found += [SourceSpan(file, lines[0])] * bool(below) + list(below)
    return tuple(dict.fromkeys(found))


def _is_file_of(file: str, module: str) -> bool:
    path = module.replace(".", "/")
    return f"/{file}".replace("\\", "/").endswith((f"/{path}.py", f"/{path}/__init__.py"))


def _runs_on_import(evidence: Evidence, where: SourceSpan) -> bool:
    syntax = evidence.syntax(where.file)
    return syntax is not None and where.line in syntax.lines_run_on_import


def _ends(frame: Frame) -> bool:
    """Whether a frame ends a pool or an executor."""
    return any(call.endswith((":__exit__", ":terminate", ":shutdown", ":join", ":close")) for call in frame.calls or ())


def _imports(frame: Frame) -> bool:
    """Whether a frame is in an import."""
    return any(call.endswith(":<module>") or "importlib" in call for call in frame.calls or ())
