"""The rules asked of the run and of each work outside of its training steps; what they find, merged and ranked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from tfperfkit import registry
from tfperfkit.clock import MS_PER_S, NS_PER_S
from tfperfkit.diagnosis.freeing import waits_for_iterators
from tfperfkit.diagnosis.merging import merge
from tfperfkit.diagnosis.ranking import rank
from tfperfkit.diagnosis.rules import apply, apply_last
from tfperfkit.diagnosis.same_time import fold_same_time
from tfperfkit.gain import AtLeast
from tfperfkit.ledger.ownership import find_owned
from tfperfkit.model import Basis, Elsewhere, Finding, RunStatus
from tfperfkit.offers import FunctionCalls
from tfperfkit.pricing.plain_time import added_by_windows_s, share_added_by_windows
from tfperfkit.pricing.run_time import RunTime, price_for_run, saved_seconds
from tfperfkit.pricing.spread import find_quiet_share, widen_finding
from tfperfkit.pricing.warm_python import StepTimes, add_warm_python
from tfperfkit.records.events import window_spans
from tfperfkit.records.parts import PAID_ONCE
from tfperfkit.records.steps import Step
from tfperfkit.rule import Evidence

_PARTS_OF_THE_RUN: tuple[Basis, ...] = ("step", "turn")


def findings(
    run: Evidence, work: Sequence[Evidence], of_probes: Iterable[Finding], wall_s: float
) -> tuple[tuple[Finding, ...], list[str]]:
    """Return all findings, the costliest first, and a sentence for each rule that failed. ``wall_s``: of the run."""
    given, troubles = apply(run)
    found = [_add_warm_python(run, item) for item in (*of_probes, *given)]
    shares = _training_shares(run, wall_s)
    added_s = {"": added_by_windows_s(run.steps)}
    windows = [(begin, end, registry.claims_of(probe)) for begin, end, probe in window_spans(run.records("events"))]
    for evidence in work:
        if evidence.work is None:
            continue
        name = evidence.work.name
        shares[name, "step"] = shares[name, "turn"] = evidence.work.share_of_run
        added_s[name] = added_by_windows_s(evidence.steps)
        if evidence.work.iterations is None:
            added_s[name] = evidence.work.seconds * share_added_by_windows(evidence.log, windows)
        more, _ = apply(evidence)  # a rule that failed here failed above
        of_work = [item for item in more if _is_new_of_work(item, found)]
        found += [msgspec.structs.replace(item, work=name, work_kind=evidence.work.kind) for item in of_work]
    inside = {
        evidence.work.name for evidence in work if evidence.work is not None and _ran_between_steps(run, evidence)
    }
    merged = merge(found, shares, inside)
    # A cause that was found twice, at a line that two works reach, explains a part of both.
    left, failed = apply_last(run, found)
    troubles += failed
    for evidence in work:
        if evidence.work is None:
            continue
        more, _ = apply_last(evidence, found)
        left += [msgspec.structs.replace(item, work=evidence.work.name, work_kind=evidence.work.kind) for item in more]
    waited_s = waits_for_iterators(run)
    first_s = _first_tracing_s(run)
    scope_of = _find_scopes(run, work)
    quiet = find_quiet_share(run.waited_share)

    samples = {
        "": run.samples.count,
        **{each.work.name: each.samples.count for each in work if each.work is not None},
    }

    def measure(item: Finding) -> RunTime:
        whole = 1.0 if item.basis == "run" else shares.get((item.work, item.basis), 0.0)
        owned_s = None
        if isinstance(item.gain, AtLeast):  # nothing else bounds it from above
            ledger, claim = run.run_ledger, item.share_of_step * whole * wall_s
            owned_s = ledger.add_up(find_owned(item, ledger, scope_of(item), claim)) or None
        waits = 0.0 if item.work else waited_s.get(item.basis, 0.0)
        plain_s = max(whole * wall_s - (added_s.get(item.work, 0.0) if item.basis != "run" else 0.0), 0.0)
        first = 0.0 if item.work else first_s
        return RunTime(plain_s, wall_s, first, waits, owned_s, samples.get(item.work, 0), quiet)

    told = [
        price_for_run(widen_finding(item), measure(item), _find_elsewhere(item, found, shares, wall_s, inside))
        for item in (*merged, *left)
    ]
    cut_short = run.run.status in _CUT
    if cut_short:  # a whole training has more steps
        shares[_STEP] = shares[_TURN] = 1.0
    ranked = rank(told, shares, _repeated_share(run), cut_short=cut_short)
    return fold_same_time(ranked, run.run_ledger, scope_of), troubles


def _add_warm_python(run: Evidence, item: Finding) -> Finding:
    """Return a finding of the training steps with what Python between their compiled calls gains."""
    calls = run.offer(FunctionCalls)
    count = max(sum(calls.per_step.values()), 1.0) if calls is not None else 1.0
    times = StepTimes(run.step_ms or 0.0, run.part("graph"), run.part("dispatch"), run.part("python"), count)
    return add_warm_python(item, times)


def _find_scopes(run: Evidence, work: Sequence[Evidence]) -> Callable[[Finding], frozenset[int]]:
    """Return a function that tells which entries of the run's ledger a finding is about."""
    ledger = run.run_ledger
    seen = {"": {id(stack) for _, stack in run.log.inside([(step.begin_ns, step.end_ns) for step in run.steps.steps])}}
    for each in work:
        if each.work is not None:
            seen[each.work.name] = {id(stack) for _, stack in each.log.inside(each.log.whole)}
    scopes: dict[str, frozenset[int]] = {}

    def scope_of(finding: Finding) -> frozenset[int]:
        if finding.work not in scopes:
            stacks = seen.get(finding.work, set())
            scopes[finding.work] = ledger.select(lambda entry: id(entry.stack) in stacks)
        return scopes[finding.work]

    return scope_of


#: How runs ended that were cut short.
_CUT: tuple[RunStatus, ...] = ("interrupted", "killed", "running")
_STEP: tuple[str, Basis] = ("", "step")
_TURN: tuple[str, Basis] = ("", "turn")


def _repeated_share(run: Evidence) -> float:
    """Return the share of the run that is not paid once, however long it is; 0 if that is not known."""
    account = run.run_account
    return 1 - account.seconds_of(*PAID_ONCE) / account.total_s if account is not None and account.total_s > 0 else 0.0


def _training_shares(run: Evidence, wall_s: float) -> dict[tuple[str, Basis], float]:
    """Return the shares of the run that training steps take, alone and with what passes between them."""
    if wall_s <= 0:
        return {("", "step"): 0.0, ("", "turn"): 0.0}
    steps = sum(step.end_ns - step.begin_ns for step in run.steps.steps) / NS_PER_S
    # By their number, not by their length: the pause after the first step, which is traced, is not longer.
    pauses = run.account.between_total_ms if run.account is not None else 0.0
    between = sum(step.count for step in run.steps.steps) * pauses / MS_PER_S
    return {("", "step"): min(steps / wall_s, 1.0), ("", "turn"): min((steps + between) / wall_s, 1.0)}


def _first_tracing_s(run: Evidence) -> float:
    """Return the seconds of tracing before the first clean step beyond what all steps trace.

    Each function has to be traced once, however fast it gets. A window may have opened before the steps were steady.
    """
    clean = run.steps.clean
    steady_ns = min((step.begin_ns for step in clean), default=math.inf)
    first = [step for step in run.steps.steps if step.begin_ns < steady_ns and (clean or step.window == "warmup")]
    usual = sum(_count_traced_ns(run, step) for step in clean) / max(sum(step.count for step in clean), 1)
    return sum(max(_count_traced_ns(run, step) - step.count * usual, 0.0) for step in first) / NS_PER_S


def _count_traced_ns(run: Evidence, step: Step) -> int:
    return run.tracing.overlap(step.begin_ns, step.end_ns)


def _ran_between_steps(run: Evidence, work: Evidence) -> bool:
    """Return whether most of the work ran between training steps, within iterations of the training loop."""
    steps = run.steps.steps
    every = work.log.inside(work.log.whole)
    inside = work.log.inside([(steps[0].begin_ns, steps[-1].end_ns)]) if steps else []
    return len(inside) > len(every) / 2


def _find_elsewhere(
    item: Finding,
    found: Sequence[Finding],
    shares: Mapping[tuple[str, Basis], float],
    wall_s: float,
    inside: AbstractSet[str],
) -> Iterator[Elsewhere]:
    """Yield what the same remedy saves in other works: ``merge`` keeps the costliest finding of one cause at one line.

    ``inside``: the works between training steps. A finding about iterations of the training loop has their seconds too.
    """
    if not item.where or item.basis not in _PARTS_OF_THE_RUN:
        return
    for other in found:
        same = other.code == item.code and other.where[:1] == item.where[:1] and other.work != item.work
        if not same or other.basis not in _PARTS_OF_THE_RUN:
            continue
        of_loop, of_work = (item, other) if other.work else (other, item)
        if of_loop.basis == "turn" and not of_loop.work and of_work.work in inside:
            continue
        of_s = shares.get((other.work, other.basis), 0.0) * wall_s
        saved = saved_seconds(widen_finding(other), of_s)
        if saved is not None:
            where = f"the {other.work_kind} at {other.work}" if other.work else "the training steps"
            yield Elsewhere(seconds=saved, where=where)


def _is_new_of_work(item: Finding, known: Sequence[Finding]) -> bool:
    """Return whether a finding is about this work. Findings about the whole run, and risks, are found there already."""
    return item.basis in ("step", "turn") or not any(other.code == item.code for other in known)
