"""For authors of probes: whether a probe keeps the contract, in what it is, leaves behind and returns."""

from __future__ import annotations

import inspect
import re
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit.errors import ProbeError, Unavailable, UsageError
from tfperfkit.model import ProbeResult
from tfperfkit.option import Declared, convert, option_problem, spelling
from tfperfkit.probe import API_VERSION, Capture, Cost, Probe, Recording, WindowWish
from tfperfkit.rule import LIVE
from tfperfkit.testing.fakes import FakeRecording, capture_of

_CODE = re.compile(r"[A-Z]{2,8}\d{3}")


def check_probe(probe_class: Callable[[], Probe], folder: Path) -> ProbeResult:
    """Check the contract of a probe, on ``folder`` (empty, writable); raises ``ProbeError`` saying what is broken.

    Attributes, options and the window's wish; ``record`` enters, exits, leaves no hook or thread behind and does not
    import TensorFlow where the script has not (it may raise ``Unavailable`` with a reason); ``analyze`` of a capture
    without any record gives a ``ProbeResult`` that encodes as JSON. Returns that result.
    """
    probe = probe_class()
    _check_attributes(probe)
    recording = FakeRecording(folder, planned_steps=3 if probe.cost is Cost.WINDOW else None, probe=probe)
    assert_recording: Recording = recording  # the fakes must keep to the contract themselves
    _check_record(probe, assert_recording)
    empty = FakeRecording(folder / "empty", probe=probe)
    capture: Capture = capture_of(empty)
    result = probe_class().analyze(capture)
    check_result(result)
    return result


def _check_attributes(probe: Probe) -> None:
    name = type(probe).__name__
    _require(isinstance(probe, Probe), f"{name} lacks one of api, name, cost, claims, record, analyze")
    _require(probe.api == API_VERSION, f"{name}.api is {probe.api!r}; this version speaks {API_VERSION}")
    _require(
        isinstance(probe.name, str) and re.fullmatch(r"[a-z][a-z0-9_-]*", probe.name) is not None,
        f"{name}.name must be a lower-case word, not {probe.name!r}",
    )
    _require(isinstance(probe.cost, Cost), f"{name}.cost must be a Cost")
    _require(isinstance(probe.claims, frozenset), f"{name}.claims must be a frozenset")
    _check_options(probe, name)
    wish = getattr(probe, "window", None)
    if wish is not None:
        _require(isinstance(wish, WindowWish), f"{name}.window must be a WindowWish")
        _require(probe.cost is Cost.WINDOW, f"{name}.window is for a probe of Cost.WINDOW")
    for verb in ("record", "analyze"):
        parameters = inspect.signature(getattr(probe, verb)).parameters.values()
        needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        _require(len(needed) == 1, f"{name}.{verb} must take one argument, the context")


def _check_options(probe: Probe, name: str) -> None:
    options = getattr(probe, "options", ())
    _require(isinstance(options, tuple), f"{name}.options must be a tuple of Option")
    for option in options:
        problem = option_problem(probe.name, option, ours=type(probe).__module__.startswith("tfperfkit_probes."))
        _require(problem is None, f"{name} {problem}")
        _require(bool(option.help), f"{name}: the option {option.name} needs a help text")
        if option.default is not None:
            declared = Declared(probe.name, option, spelling(probe.name, option))
            try:
                convert(declared, option.default, f"the default of {option.name}", Path())
            except UsageError as error:
                raise ProbeError(f"{name}: {error}") from error
    names = [option.name for option in options]
    _require(len(set(names)) == len(names), f"{name} has two options of one name")


def _check_record(probe: Probe, recording: Recording) -> None:
    before = hooks()
    imported = "tensorflow" in sys.modules
    try:
        manager: AbstractContextManager[None] = probe.record(recording)
        with manager:
            pass
    except Unavailable as reason:
        _require(bool(str(reason)), f"{probe.name}: Unavailable must say why")
    late = "raise Unavailable when it is not in sys.modules"
    _require(imported or "tensorflow" not in sys.modules, f"{probe.name}.record imports TensorFlow itself: {late}")
    after = hooks()
    left = sorted(name for name, value in before.items() if name in after and after[name] != value)
    _require(not left, f"{probe.name}.record leaves hooks behind: {', '.join(left)}")


def check_result(result: ProbeResult) -> None:
    """Check what ``analyze`` returned; raises ``ProbeError`` saying what is broken."""
    _require(isinstance(result, ProbeResult), f"analyze must return a ProbeResult, not {type(result).__name__}")
    try:
        offers = tuple(offer for offer in result.offers if not isinstance(offer, LIVE))
        data = msgspec.json.decode(msgspec.json.encode(msgspec.structs.replace(result, offers=offers)))["data"]
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise ProbeError(f"the result can't be encoded as JSON: {error}") from error
    _require(isinstance(data, dict), "data must encode to a JSON object")
    kinds = [type(offer) for offer in result.offers]
    _require(len(set(kinds)) == len(kinds), "of one type there is one offer")
    for offer in offers:
        try:
            msgspec.convert(msgspec.to_builtins(offer, str_keys=True), type(offer), strict=False)
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            raise ProbeError(f"the offer {type(offer).__name__} is not what it says: {error}") from error
    for table in result.tables:
        for row in table.rows:
            same = len(row) == len(table.columns)
            _require(same, f"table {table.title!r}: a row has another length than the columns")
    for finding in result.findings:
        code = finding.code
        _require(_CODE.fullmatch(code) is not None, f"finding code {code!r}: letters and three digits, like RET002")
        _require(bool(finding.evidence), f"{code}: evidence is empty")
        _require(bool(finding.title and finding.advice), f"{code}: a finding needs a title and advice")
        _require(0 <= finding.share_of_step <= 1, f"{code}: share_of_step is {finding.share_of_step}, not 0 to 1")
        factor = finding.gain.factor
        _require(factor >= 1, f"{code}: its gain is {factor}, less than 1")


def missing_pages(codes: Mapping[str, str] | frozenset[str], docs: Path) -> list[str]:
    """Return the codes that have no page ``<docs>/<code>.md``."""
    return sorted(code for code in codes if not (docs / f"{code}.md").is_file())


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ProbeError(message)


def hooks() -> dict[str, Any]:
    """List what a probe could leave behind in a process, as comparable values."""
    found: dict[str, Any] = {
        "sys.settrace": id(sys.gettrace()),
        "sys.setprofile": id(sys.getprofile()),
        "sys.excepthook": id(sys.excepthook),
        "sys.meta_path": [id(finder) for finder in sys.meta_path],
        "threads": sorted(thread.name for thread in threading.enumerate()),
    }
    for module, attribute in (
        ("tensorflow.python.eager.polymorphic_function.tracing_compilation", "_create_concrete_function"),
        ("tensorflow.python.eager.polymorphic_function.polymorphic_function", "Function.__call__"),
        ("tensorflow.python.data.ops.iterator_ops", "OwnedIterator.__next__"),
        ("tensorflow.python.util.traceback_utils", "_EXCLUDED_PATHS"),
        ("keras.src.utils.traceback_utils", "_EXCLUDED_PATHS"),
        ("keras.src.callbacks.callback_list", "CallbackList.on_train_batch_begin"),
        ("keras.src.callbacks.callback_list", "CallbackList.on_train_batch_end"),
        ("keras.src.optimizers.base_optimizer", "BaseOptimizer.apply"),
    ):
        value: Any = sys.modules.get(module)
        if value is None:
            continue
        for part in attribute.split("."):
            value = getattr(value, part, None)
        found[f"{module}.{attribute}"] = value if isinstance(value, tuple) else id(value)
    transform = sys.modules.get("tensorflow.python.eager.polymorphic_function.transform")
    if transform is not None:
        found["CONCRETE_FUNCTION_CALLBACKS"] = len(getattr(transform, "CONCRETE_FUNCTION_CALLBACKS", ()))
    return found
