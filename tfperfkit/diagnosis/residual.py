"""Parts of an account that no finding explains: reported with their lines and with what could be gained at most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from tfperfkit import calibration
from tfperfkit.clock import ms
from tfperfkit.diagnosis.computed_lines import costly_lines
from tfperfkit.diagnosis.part_lines import LINES, is_of, lines_of
from tfperfkit.gain import severity, speedup
from tfperfkit.model import Family, Finding, Measurement, StepAccount
from tfperfkit.offers import AvoidableTracing
from tfperfkit.records.parts import PARTS, PartName
from tfperfkit.records.samples import MIN
from tfperfkit.rule import Evidence

CODE = "STP003"
#: Of the account: a part with less needs no owner; and with less than this where nothing useful is done.
OWNED, WASTE = calibration.OWNED.value, calibration.OWNED_WASTE.value
#: A part that is left over and takes this share of the steps, or of a work, is worth a person's time: of a work where
#: that is a fifth of the run.
LOUD, OF_RUN = calibration.LOUD_RESIDUAL.value, calibration.SEVERITY_HIGH.value
EXPLAINS = calibration.EXPLAINS.value
#: Python that hands out operations, beside their own time, below which they are long.
LONG = calibration.LONG_OPERATIONS.value
_WASTE: tuple[PartName, ...] = ("tracing", "host_sync", "saving", "gc")
#: What computes: its owner is the machine, until a rule knows better.
_COMPUTES: tuple[PartName, ...] = ("graph", "collectives")
_OF_COMPILED: tuple[Family, ...] = ("graph", "compile", "precision", "device")
_OF_FAMILY: dict[Family, tuple[PartName, ...]] = {
    "input": ("input", "python", "other", "tracing"),
    "eager": ("eager_ops", "dispatch", "python", "host_sync", "evaluate", "tracing", "graph", "input"),
    "retrace": ("tracing", "dispatch", "graph"),
    "compile": ("tracing", "graph", "dispatch", "eager_ops"),
    "batch": ("dispatch", "graph", "python", "input", "eager_ops"),
    "precision": ("graph", "eager_ops"),
    "device": ("graph", "eager_ops", "copies"),
    "sync": ("host_sync", "copies"),
    "memory": ("gc", "other", "dispatch"),
    "graph": ("graph", "dispatch", "eager_ops"),
    "step": ("python", "saving", "evaluate", "host_sync", "gc", "dispatch", "eager_ops", "other", "tracing", "input"),
    "distribution": ("collectives",),
}


def residual(evidence: Evidence, findings: Sequence[Finding]) -> Iterator[Finding]:
    """A finding for each such part of the account of the training steps or of a work, the largest first."""
    account = evidence.account
    if account is None or not account.mean_ms or evidence.samples.count < MIN:
        return
    work = evidence.work
    mine = [item for item in findings if item.work == (work.name if work is not None else "")]
    for part, share in sorted(_shares(account).items(), key=lambda item: -item[1]):
        if computes(evidence, part) or share < (WASTE if part in _WASTE else OWNED) or _owned(part, share, mine):
            continue
        if work is not None and part == "other" and _waited(work.share_of_run * share, findings):
            continue
        yield _finding(evidence, part, share)
    loud = [item for item in mine if item.severity != "info" and not item.headroom]
    if not any(item.family in _OF_COMPILED for item in loud):  # a cause in what is compiled explains its lines
        costly = costly_lines(evidence, mine, CODE)
        yield from (item for item in costly if not _owned("graph", item.share_of_step, loud))


def _shares(account: StepAccount) -> dict[PartName, float]:
    """The parts as shares. Operations called one by one and the Python that hands them out are one; where that takes
    next to nothing beside them they are long, and compute."""
    shares = {part: took / account.mean_ms for part, took in account.parts_ms.items()}
    operations, handing = shares.get("eager_ops", 0.0), shares.get("dispatch", 0.0)
    if operations > 0:
        if handing < LONG * operations:
            del shares["eager_ops"]
        elif operations >= WASTE:
            shares["eager_ops"] = operations + handing
            shares.pop("dispatch", None)
    return shares


def computes(evidence: Evidence, part: PartName) -> bool:
    """Whether a part computes: compiled functions do, and outside of training a ``predict`` that is mostly in its
    compiled function. Within training steps it is no training, so somebody has to say why it is there."""
    samples = evidence.samples
    predicts = (
        part == "evaluate"
        and evidence.work is not None
        and 2 * samples.evaluating["graph"] >= samples.contexts["evaluate"]
    )
    return part in _COMPUTES or predicts


def explained(finding: Finding) -> tuple[PartName, ...]:
    """The parts of an account that a finding may explain: those that it names, else its family's."""
    return finding.parts or _OF_FAMILY.get(finding.family, ())


def _owned(part: PartName, share: float, findings: Sequence[Finding]) -> bool:
    """Whether a finding explains the larger half of a part. Of operations called one by one a finding about them owns
    what it leaves too, if it is large enough for an owner itself: heavy operations, which compute."""
    half = EXPLAINS * share
    return any(
        part in explained(item)
        and item.share_of_step >= (min(OWNED, half) if part == "eager_ops" and item.family == "eager" else half)
        for item in findings
    )


def _waited(share_of_run: float, findings: Sequence[Finding]) -> bool:
    """Whether a wait that was seen in the run as a whole explains a time without a cause."""
    return any(
        item.family == "input" and item.basis == "run" and item.share_of_step >= EXPLAINS * share_of_run
        for item in findings
    )


def _finding(evidence: Evidence, part: PartName, share: float) -> Finding:
    work = evidence.work
    took, unit = share * (evidence.step_ms or 0.0), evidence.unit
    lines = lines_of(evidence, part)
    package = _package(evidence, part)
    upper = None if package else speedup(share)  # what another package computes may have to be
    # Of time that nothing explains nobody can say what to change.
    needed = part == "tracing" and _needed(evidence)
    files = part == "dispatch" and _calls_mostly(evidence, part, lambda name: name.startswith(_FILE_FUNCTIONS))
    adapts = part in ("eager_ops", "dispatch") and _calls_mostly(evidence, part, _adapts)
    loud = (
        part != "other"
        and not needed
        and not files
        and not adapts
        and share >= LOUD
        and (work is None or share * work.share_of_run >= OF_RUN)
    )
    return Finding(
        code=CODE,
        family="step",
        title=f"{100 * share:.0f} % of {unit.a if work is None else unit.loop} is "
        + (
            "reading and writing files with TensorFlow"
            if files
            else "a layer of Keras that adapts to the data"
            if adapts
            else _whose(evidence, part)
        ),
        severity=severity(share) if loud else "info",
        share_of_step=share,
        predicted_speedup=None,
        predicted_range=None,
        ceiling=upper,
        where=tuple(lines),
        evidence=(
            Measurement("share", share, "share", "breakdown"),
            Measurement("time", took, "ms", "breakdown"),
            Measurement("samples", float(evidence.samples.count), "count", "baseline"),
        ),
        advice=_OF_PACKAGE.format(package=package)
        if package
        else _FIRST
        if needed
        else _FILES
        if files
        else _ADAPTS
        if adapts
        else _ADVICE.get(part, "Look at these lines: what they do could be done once, or for many at a time."),
        detail=_called(evidence, part),
        parts=("eager_ops", "dispatch") if part == "eager_ops" else (part,),
    )


def _needed(evidence: Evidence) -> bool:
    """Whether most of the run's tracing was of functions that were new: a model that is trained after another."""
    known = evidence.offer(AvoidableTracing)
    whole = sum(ms(end - begin) for begin, end in evidence.tracing)
    return known is not None and known.ms < EXPLAINS * whole


_FIRST = (
    "Nearly all of it is the first trace of something new, such as a model that is trained after another: each is paid "
    "once, however long it trains. The same model and the same functions, used again, are not traced again."
)
#: TensorFlow's own reading and writing of files, records and folders, in C++ below a thin layer of Python.
_FILE_FUNCTIONS = "tensorflow.python.lib.io."
_FILES = (
    "It is done in C++ for each file and record, and no @tf.function speeds it up: write fewer bytes, compress less "
    "(GZIP takes far longer than writing), or let several processes write a file each."
)
_ADAPTS = (
    "Keras goes through the data itself there, batch by batch. A part of them will do for a vocabulary, a mean or a "
    "variance: layer.adapt(dataset.take(100)); what it has learned can be saved with the model and need not be learned "
    "again."
)
_OF_PACKAGE = (
    "These lines call {package}, which computes in Python or C of its own: give it less (a sample of the rows, fewer "
    "columns), look in its documentation for a faster method or more processors, or keep the result for the next run."
)
_ADVICE: dict[PartName, str] = {
    "python": "Look at these lines: do what is the same at each turn once, before the loop, and the rest for whole "
    "arrays instead of one element at a time.",
    "eager_ops": "Put the lines into a function with @tf.function, and work on whole batches.",
    "dispatch": "Fewer and larger calls into TensorFlow: put the lines into a function with @tf.function, and work on "
    "whole batches.",
    "host_sync": "Read values of tensors seldom and many at once: .numpy() on a whole tensor after the loop.",
    "gc": "Make fewer objects at each turn; gc.freeze() after the set-up keeps old ones out of each collection.",
    "input": "Prepare batches ahead: prefetch(tf.data.AUTOTUNE) at the end of the pipeline, num_parallel_calls in map.",
    "tracing": "Make functions, models and datasets once, before the loop, and give them tensors of one shape.",
    "saving": "Save more seldom.",
    "evaluate": "Predict and evaluate more seldom, and many examples at a time.",
}


def _whose(evidence: Evidence, part: PartName) -> str:
    """What the part is; of Python whose."""
    package = _package(evidence, part)
    return f"Python of {package}" if package else PARTS[part].sentence


def _package(evidence: Evidence, part: PartName) -> str:
    """The package whose Python the larger half of a part is, called by the lines; "" for the person's own."""
    if part != "python":
        return ""
    packages: Counter[str] = Counter()
    for stack, count in evidence.samples.stacks.items():
        if stack.frames and is_of(part, stack.activity, stack.context):
            calls = stack.frames[-1].calls
            packages[calls[0].partition(":")[0].partition(".")[0] if calls else ""] += count
    package, count = packages.most_common(1)[0] if packages else ("", 0)
    return package if 2 * count > packages.total() else ""


def _calls_mostly(evidence: Evidence, part: PartName, wanted: Callable[[str], bool]) -> bool:
    """Whether the larger half of a part is in such functions of libraries, called by the person's lines."""
    within = every = 0
    for stack, count in evidence.samples.stacks.items():
        if stack.frames and is_of(part, stack.activity, stack.context):
            every += count
            within += count * any(map(wanted, (stack.frames[-1].calls or ())[:1]))
    return 2 * within > every


def _adapts(function: str) -> bool:
    """Keras goes through the data itself there, from Python: no ``tf.function`` of the person's holds that loop."""
    return function.startswith("keras.") and function.endswith(":adapt")


def _called(evidence: Evidence, part: PartName) -> str:
    """Which functions of libraries these lines called."""
    called: Counter[str] = Counter()
    for stack, count in evidence.samples.stacks.items():
        if stack.frames and stack.frames[-1].calls and is_of(part, stack.activity, stack.context):
            called[stack.frames[-1].calls[0].replace(":", ".")] += count
    names = [name for name, _ in called.most_common(LINES)]
    return f"They call {', '.join(names)}." if names else ""
