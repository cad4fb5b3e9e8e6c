"""STP003: parts of the step, or of other work, that no other rule explains.

A part is reported from 10 %, or from 5 % for tracing, saving, reading values and garbage collection, unless another
finding explains at least half of the part. The figure is an upper limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.clock import ms
from tfperfkit.gain import Unknown
from tfperfkit.ledger.call_names import name_call
from tfperfkit.ledger.call_tree import CallSite, Ledger
from tfperfkit.ledger.compute import has_long_operations, is_compute
from tfperfkit.ledger.library_work import find_library_work, list_calls
from tfperfkit.ledger.part_lines import MAX_LINES, find_part_lines
from tfperfkit.model import Finding, Measurement, SourceSpan, StepAccount
from tfperfkit.offers import AvoidableTracing
from tfperfkit.pricing import bound
from tfperfkit.records.parts import PARTS, PartName, words_of
from tfperfkit.records.samples import MIN, TENSORFLOW
from tfperfkit.rule import Evidence, LastRule
from tfperfkit_rules.measures.amounts import describe_amount
from tfperfkit_rules.step.owners import EXPLAINS, MIN_UNEXPLAINED, findings_of_work, has_owner

CODE = "STP003"
TITLES = {CODE: "A call takes long and no rule explains why"}
MIN_UNEXPLAINED_WASTE = Threshold(
    0.05,
    "share",
    "minimum share of an account for a part without useful work (tracing, collections) that no finding explains",
    Chosen("all of it can go"),
)
#: A part that takes this share of the steps, or of other work, is worth the user's time. Of other work, only if that
#: is a fifth of the run.
LOUD, OF_RUN = calibration.LOUD_RESIDUAL.value, calibration.SEVERITY_HIGH.value
_WASTE: tuple[PartName, ...] = ("tracing", "host_sync", "saving", "gc")


@LastRule
def unexplained_parts(evidence: Evidence, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Report each part of the account of the training steps, or of other work, that has no owner; the largest first."""
    account = evidence.account
    if account is None or not account.mean_ms or evidence.samples.count < MIN:
        return
    unowned = dict(_find_unowned(evidence, account, findings))
    sites = list(_find_named_sites(evidence, unowned))
    for site in sites:
        yield _report_site(evidence, site)
    for part, share in unowned.items():
        in_sites = sum(site.parts.get(each, 0.0) for site in sites for each in _count_parts(part))
        rest = share - in_sites / account.mean_ms
        if rest >= _min_share(part):
            yield _report_part(evidence, part, rest)


def _min_share(part: PartName) -> float:
    """Return the share of the account from which on a part needs an owner."""
    return MIN_UNEXPLAINED_WASTE.value if part in _WASTE else MIN_UNEXPLAINED


def _count_parts(part: PartName) -> tuple[PartName, ...]:
    """Return the parts that count together: eager operations with the Python that dispatches them."""
    return ("eager_ops", "dispatch") if part == "eager_ops" else (part,)


def _find_named_sites(evidence: Evidence, unowned: Mapping[PartName, float]) -> Iterator[CallSite]:
    """Yield the call sites that take enough of the parts without an owner, if what they call has a name."""
    ledger = evidence.ledger
    parts = {each for part in unowned for each in _count_parts(part)}
    mine = Ledger(entry for entry in ledger.entries if entry.part in parts)
    for site in mine.find_call_sites(MIN_UNEXPLAINED * ledger.total):
        if name_call(site.frame, evidence.source(site.frame.file)):
            yield site


def _find_unowned(
    evidence: Evidence, account: StepAccount, findings: Sequence[Finding]
) -> Iterator[tuple[PartName, float]]:
    """Yield the parts that no finding explains, with their shares of the account, the largest first."""
    work = evidence.work
    mine = findings_of_work(evidence, findings)
    for part, share in sorted(_part_shares(account).items(), key=lambda item: -item[1]):
        if (
            is_compute(part, evidence.samples, trains=evidence.work is None)
            or share < _min_share(part)
            or has_owner(part, share, mine)
        ):
            continue
        if work is not None and part == "other" and _is_wait_of_run(work.share_of_run * share, findings):
            continue
        yield part, share


def _part_shares(account: StepAccount) -> dict[PartName, float]:
    """Return the parts as shares of the account.

    Eager operations and the Python that dispatches them count as one part. Eager operations that compute are left out.
    """
    shares = {part: took / account.mean_ms for part, took in account.parts_ms.items()}
    operations, dispatch = shares.get("eager_ops", 0.0), shares.get("dispatch", 0.0)
    if operations > 0:
        if has_long_operations(operations, dispatch):
            del shares["eager_ops"]
        elif operations >= MIN_UNEXPLAINED_WASTE.value:
            shares["eager_ops"] = operations + dispatch
            shares.pop("dispatch", None)
    return shares


def _is_wait_of_run(share_of_run: float, findings: Sequence[Finding]) -> bool:
    """Return whether a wait that was seen in the run as a whole explains time without a cause."""
    return any(
        item.family == "input" and item.basis == "run" and item.share_of_step >= EXPLAINS * share_of_run
        for item in findings
    )


def _report_site(evidence: Evidence, site: CallSite) -> Finding:
    """Report a call that takes time without an owner, whatever it does."""
    whole = evidence.ledger.total
    share = site.value / whole
    main = cast(PartName, next(iter(site.parts)))
    package = _name_package(site.frame.calls or ())
    advice, _ = _advise(evidence, main, package)
    name = name_call(site.frame, evidence.source(site.frame.file))
    kinds = [(words_of(part), took) for part, took in site.parts.items() if took >= MIN_UNEXPLAINED * site.value]
    said = ", ".join(f"{words.label} {100 * took / site.value:.0f} %" for words, took in kinds if words is not None)
    inside = f" Inside it runs {', '.join(site.frame.calls).replace(':', '.')}." if site.frame.calls else ""
    unit = evidence.unit.a if evidence.work is None else evidence.unit.loop
    return Finding(
        code=CODE,
        title=f"{name} takes {100 * share:.0f} % of {unit}, unexplained",
        severity="low" if _is_loud(evidence, share, advice) else "info",
        share_of_step=share,
        gain=Unknown() if package else bound(share),
        where=(site.where, *(SourceSpan(frame.file, frame.line, frame.name) for frame in site.callers[:0:-1][:2])),
        evidence=(
            Measurement("share of this call", share, "share", "breakdown"),
            Measurement("time in this call", site.value, "ms", "breakdown"),
            Measurement("samples", float(evidence.samples.count), "count", "baseline"),
        ),
        advice=advice,
        detail=f"This call spends: {said}.{inside} {describe_amount(evidence, site.frame)}".strip(),
        parts=tuple(cast(PartName, part) for part, took in site.parts.items() if took >= MIN_UNEXPLAINED * whole)
        or (main,),
    )


def _is_loud(evidence: Evidence, share: float, advice: str) -> bool:
    """Return whether a part or call with this share is more than a remark."""
    work = evidence.work
    return advice not in _REMARKS and share >= LOUD and (work is None or share * work.share_of_run >= OF_RUN)


def _name_package(calls: Sequence[str]) -> str:
    """Return the package of the library functions that a frame calls; "" for the user's own Python and TensorFlow."""
    package = calls[0].partition(":")[0].partition(".")[0] if calls else ""
    return "" if package in TENSORFLOW else package


def _report_part(evidence: Evidence, part: PartName, share: float) -> Finding:
    work, unit = evidence.work, evidence.unit
    took = share * (evidence.step_ms or 0.0)
    library = find_library_work(evidence.ledger) if part == "python" else None
    package = library.package if library is not None else ""
    advice, whose = _advise(evidence, part, package)
    whose = library.words if library is not None else whose
    whole = unit.a if work is None else unit.loop
    unexplained = ", unexplained" * (part != "other")
    loud = part != "other" and _is_loud(evidence, share, advice)
    return Finding(
        code=CODE,
        title=f"{whose[:1].upper()}{whose[1:]} takes {100 * share:.0f} % of {whole}{unexplained}",
        severity="low" if loud else "info",
        share_of_step=share,
        gain=Unknown() if package else bound(share),  # what another package computes may be needed
        where=tuple(find_part_lines(evidence.ledger, part)),
        evidence=(
            Measurement("share of this part", share, "share", "breakdown"),
            Measurement("time in this part", took, "ms", "breakdown"),
            Measurement("samples", float(evidence.samples.count), "count", "baseline"),
        ),
        advice=advice,
        detail=_name_called_functions(evidence, part),
        parts=_count_parts(part),
    )


def _advise(evidence: Evidence, part: PartName, package: str) -> tuple[str, str]:
    """Return the advice for a part, and the words for what the part is."""
    words = PARTS[part].sentence
    if package:
        return _OF_PACKAGE.format(package=package), f"Python of {package}"
    if part == "tracing" and _is_first_tracing(evidence):
        return _FIRST, words
    if part == "dispatch" and _calls_mostly(evidence, part, lambda name: name.startswith(_FILE_FUNCTIONS)):
        return _FILES, "reading and writing files with TensorFlow"
    if part in ("eager_ops", "dispatch") and _calls_mostly(evidence, part, _is_keras_adapt):
        return _ADAPTS, "a layer of Keras that adapts to the data"
    return _ADVICE.get(part, "Look at these lines, and do their work once or for many elements at a time."), words


def _is_first_tracing(evidence: Evidence) -> bool:
    """Return whether most of the run's tracing was of new functions, such as those of a model trained after another."""
    known = evidence.offer(AvoidableTracing)
    whole = sum(ms(end - begin) for begin, end in evidence.tracing)
    return known is not None and known.ms < EXPLAINS * whole


_FIRST = (
    "Reuse the same model and functions, which are not traced again. Or: leave it as it is: nearly all of it is the "
    "first trace of new functions, a one-time cost."
)
#: TensorFlow's own reading and writing of files, records and folders, in C++ below a thin layer of Python.
_FILE_FUNCTIONS = "tensorflow.python.lib.io."
_FILES = (
    "Write fewer bytes, or compress less (GZIP takes far longer than writing). Or: let several processes write a file "
    "each; no @tf.function speeds this up."
)
_ADAPTS = (
    "Adapt the layer to a part of the data: layer.adapt(dataset.take(100)). Or: save the adapted layer with the model, "
    "and load it in the next run."
)
_OF_PACKAGE = (
    "Give {package} less to do: a sample of the rows, or fewer columns. Or: look for a faster method in its "
    "documentation, or keep the result for the next run."
)
_ADVICE: dict[PartName, str] = {
    "python": "Do what is the same in each iteration once, before the loop. Or: compute on whole arrays instead of one "
    "element at a time.",
    "eager_ops": "Put these lines into a function with @tf.function. Or: work on whole batches.",
    "dispatch": "Put these lines into a function with @tf.function. Or: make fewer and larger calls, for whole "
    "batches.",
    "host_sync": "Read values of tensors once, after the loop: .numpy() on a whole tensor.",
    "gc": "Make fewer objects in each iteration. Or: call gc.freeze() after the set-up, which exempts old objects.",
    "input": "End the pipeline with prefetch(tf.data.AUTOTUNE). Or: set num_parallel_calls in map.",
    "tracing": "Make functions, models and datasets once, before the loop, and give them tensors of one shape.",
    "saving": "Save less often.",
    "evaluate": "Predict and evaluate many examples at a time. Or: do it less often.",
}
#: Advice for time that has to be spent: the finding is a remark.
_REMARKS = (_FIRST, _FILES, _ADAPTS)


def _calls_mostly(evidence: Evidence, part: PartName, wanted: Callable[[str], bool]) -> bool:
    """Return whether the larger half of a part is in library functions of this kind, called by the user's lines."""
    found = [(any(map(wanted, calls[:1])), took) for calls, took in list_calls(evidence.ledger, part)]
    return 2 * sum(took for is_wanted, took in found if is_wanted) > sum(took for _, took in found)


def _is_keras_adapt(function: str) -> bool:
    """Return whether Keras iterates over the data itself there, from Python: no ``tf.function`` can hold that loop."""
    return function.startswith("keras.") and function.endswith(":adapt")


def _name_called_functions(evidence: Evidence, part: PartName) -> str:
    """Return a sentence that names the library functions that these lines call."""
    called: Counter[str] = Counter()
    for calls, took in list_calls(evidence.ledger, part):
        if calls:
            called[calls[0].replace(":", ".")] += took  # type: ignore[assignment]
    names = [name for name, _ in called.most_common(MAX_LINES)]
    return f"They call {', '.join(names)}." if names else ""
