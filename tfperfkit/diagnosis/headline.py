"""Conclusion of a report: the first thing to fix, or that no fault is known and which limit bounds the step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from tfperfkit import calibration
from tfperfkit.diagnosis.call_sites import find_costliest_call
from tfperfkit.diagnosis.doubts import find_open_question, find_single_line
from tfperfkit.diagnosis.headroom import affects_less_of_run, is_speculative, large
from tfperfkit.diagnosis.other_training import other_trainings
from tfperfkit.diagnosis.places import name_place
from tfperfkit.diagnosis.rank_samples import sampled
from tfperfkit.diagnosis.small import is_small
from tfperfkit.graph.optable import plain
from tfperfkit.ledger.compute import has_long_operations, is_compute
from tfperfkit.ledger.computed_lines import ComputedLine, computed_lines, computed_parts
from tfperfkit.ledger.library_work import find_library_work
from tfperfkit.ledger.part_lines import find_part_lines
from tfperfkit.model import MIN_BETWEEN, Finding, RunAccount, StepAccount
from tfperfkit.offers import ComputedStep, FunctionCalls, FunctionCost, FunctionCosts, LayerWork, StepBreakdown
from tfperfkit.records.conclusion import (
    FIRST,
    LARGEST_ENDS,
    LARGEST_START_UP,
    NEEDED,
    NO_CAUSE,
    NO_FAULT,
    NOT_PROFILED,
    ROOM,
    SILENCED,
    START_UP,
    Conclusion,
)
from tfperfkit.records.parts import PARTS, PLACED, PartName, RunPart, name_run_part, words_of
from tfperfkit.rule import Evidence

#: Minimum rate: below it the arithmetic that is counted is negligible.
MIN_GFLOPS = 1.0
#: Purpose of a step; the largest part of a healthy step.
_WORK: tuple[PartName, ...] = ("graph",)
#: With less of it than this there may be something to gain that no rule knows.
_SOUND = calibration.SOUND.value
#: Share of the step from which on a line or a layer is named.
LOUD = calibration.LOUD_RESIDUAL.value
#: Share of the computing from which on one kernel is most of the computing; and the maximum share of gaps.
MOST, _MAX_GAPS = calibration.EXPLAINS.value, calibration.MIN_UNEXPLAINED.value
#: A rate that is this near to the machine's leaves nothing to gain.
NEAR_LIMIT = calibration.NEAR_LIMIT.value
#: Parts of the run that are spoken of by their own accounts, or that nothing is known of.
_NOT_A_CAUSE: tuple[RunPart, ...] = ("training", "tfperf", "not sampled")
#: Parts that loops and calls outside of training steps belong to.
_REPEATED: tuple[RunPart, ...] = (
    "data",
    "between",
    "validation",
    "prediction",
    "saving",
    "tensorflow",
    "input",
    "freeing",
)
#: Names of the part "evaluate" if the run did only one of both.
_EVALUATES: dict[RunPart, str] = {"prediction": "predicting", "validation": "validating"}
#: Parts that a sound step has little of.
_WAITS: tuple[PartName, ...] = ("input", "python", "dispatch", "eager_ops", "tracing", "host_sync")
#: Words that no name begins with.
_SMALL = frozenset(
    ("A", "All", "An", "Each", "Every", "In", "It", "Memory", "No", "One", "Some", "The", "There", "With")
)
#: A share that is said in words.
NEARLY_ALL = 0.95


def conclude(
    findings: Sequence[Finding],
    evidence: Evidence,
    work: Sequence[Evidence] = (),
    headroom: Sequence[Finding] = (),
    *,
    with_others: bool = False,
) -> Conclusion | None:
    """Return None when nothing was seen that takes time. ``work``: outside of training steps; ``headroom``: what other
    choices would gain; ``with_others``: the process trains together with other processes."""
    loud = [finding for finding in findings if not finding.is_note]
    known = [item for item in (evidence, *work) if item.account is not None and item.account.parts_ms]
    longest = max(known, key=_seconds, default=None)
    room = large(headroom) if longest is not None and longest.work is None else ()
    less = bool(loud) and bool(room) and affects_less_of_run(loud[0], room)
    tried = bool(loud) and bool(room) and is_speculative(loud[0], room)
    if loud and not is_small(loud[0]) and not less and not tried:
        return Conclusion(verdict=FIRST, why=f"{within(loud[0].title)}{_in_brackets(loud[0])}")
    begins = "Less of the run" if less else "To be tried" if tried else f"Small, {_little(loud[0])}" if loud else ""
    small = f"{begins}: {within(loud[0].title)}{_in_brackets(loud[0])}." if loud else ""
    if room:
        return _conclude_room(room, small, elsewhere=less)
    # A time longer than all iterations together does not belong to the iterations.
    seconds = _seconds(longest) if longest is not None else 0.0
    elsewhere = of_the_run(
        evidence.run_account, seconds, seconds if longest is not None and longest.work else 0.0, evidence
    )
    waited = _conclude_waiting(evidence) if with_others and longest is evidence else None
    cause = waited or (_conclude_no_cause(longest) if longest is not None else None)
    said = elsewhere or cause
    if elsewhere is not None and cause is not None and elsewhere.verdict in (START_UP, LARGEST_START_UP, LARGEST_ENDS):
        # A one-time cost: what the steps are made of counts too.
        said = msgspec.structs.replace(cause, verdict=elsewhere.verdict, why=elsewhere.why, also=cause.headline)
        said = msgspec.structs.replace(said, look=_join(elsewhere.look, cause.look))
    if said is None:
        return Conclusion(verdict="No large cause found", why="", also=small) if loud else None
    return msgspec.structs.replace(said, also=_join(said.also, small))


def _join(*sentences: str) -> str:
    """Return the sentences that say something, one after the other."""
    return " ".join(filter(None, sentences))


def conclude_without_silenced(ranked: Sequence[Finding]) -> Conclusion | None:
    """Return the conclusion if the first finding is silenced; else None.

    It names the first finding that is not silenced, however small, since there is a cause.
    """
    loud = [item for item in ranked if not item.is_note]
    if not loud or not loud[0].silenced or is_small(loud[0]):
        return None
    first = next((item for item in loud if not item.silenced), None)
    if first is not None:
        return Conclusion(verdict=FIRST, why=f"{within(first.title)}{_in_brackets(first)}")
    return Conclusion(verdict=SILENCED, why=", ".join(dict.fromkeys(item.code for item in loud)))


def _little(finding: Finding) -> str:
    """``some 3 % of a step``."""
    of = "the run" if finding.basis == "run" else finding.work or "a step"
    return f"some {max(100 * finding.gain.saved, 1):.0f} % of {of}"


def _conclude_room(headroom: Sequence[Finding], small: str, *, elsewhere: bool) -> Conclusion:
    """Conclude that another choice would gain much. Why it would may be a fault that no rule knows, so none is denied.
    ``elsewhere``: outside of the steps there is one."""
    first, *others = headroom
    also = f"Also: {within(others[0].title)}." if others else ""
    return Conclusion(
        verdict=f"{NO_CAUSE} in the steps{ROOM}" if elsewhere else f"{NO_CAUSE}{ROOM}",
        why=f"{within(first.title)}{_in_brackets(first)}",
        also=_join(also, small),
    )


def _seconds(evidence: Evidence) -> float:
    if evidence.work is not None:
        return evidence.work.seconds
    return sum(step.end_ns - step.begin_ns for step in evidence.steps.steps) / 1e9


def _conclude_no_cause(evidence: Evidence) -> Conclusion:
    """Conclude what the time goes into where no rule found a cause. That no fault is known is said only of computing
    that comes near what the machine can do."""
    account = evidence.account
    assert account is not None
    name = max(account.parts_ms, key=lambda part: account.parts_ms[part])
    share = account.parts_ms[name] / account.mean_ms
    working = name in _WORK and share >= _SOUND
    near = working and _near_the_limit(evidence)
    between = _say_time_between(account)
    sound = near or _is_sound(evidence)
    open_question = find_open_question(evidence, near_limit=near) if sound else ""
    found = NO_CAUSE
    if sound and not open_question:
        found = f"{NO_FAULT} in the step itself" if between else NO_FAULT
    at = _computed_at(evidence, explained=not open_question) if name in _WORK else _most_of_it(evidence, name)
    rate = (bound(evidence) or _bound_by_kernel(evidence)) if name in _WORK and not _saw_another(evidence) else ""
    little = _waits(evidence) if found.startswith(NO_FAULT) else ""
    if name == "evaluate" and little:
        little = f", most of it in compiled functions{little}"
    useful = f"{NEEDED}. " if little else ""
    said = f"{100 * share:.0f} % of {evidence.unit.a} is {_name_part(evidence, name)}{at}"
    return Conclusion(verdict=found, why=f"{useful}{said}{little}", limit=rate, look=open_question, between=between)


def _most_of_it(evidence: Evidence, part: PartName) -> str:
    """Return the call that takes most of a part of the step, else the part's first line; "" if neither is known."""
    ledger = evidence.ledger
    whole = ledger.sum_parts()[part]
    call = find_costliest_call(evidence, ledger, whole / 2, [part]) if whole > 0 else None
    if call is not None:
        share = call.site.value / whole
        return f", {'nearly all' if share >= NEARLY_ALL else f'{100 * share:.0f} % of that'} in {call.words}"
    lines = find_part_lines(ledger, part)
    return f" ({name_place(lines[0])})" if lines else ""


def _conclude_waiting(evidence: Evidence) -> Conclusion | None:
    """Conclude that the larger half of a step is waiting for other ranks, which happens within compiled functions."""
    found = sampled(evidence)
    share = evidence.share(*_WORK) * (1 - found.compute_share) if found is not None else 0.0
    if 2 * share < 1:
        return None
    return Conclusion(
        verdict=f"{NO_FAULT} in this process",
        why=f"{100 * share:.0f} % of {evidence.unit.a} it waits for other processes, in a compiled function",
        look="The report of all ranks says for which.",
    )


def _name_part(evidence: Evidence, name: PartName) -> str:
    """Return the words for a part. Eager operations that compute by themselves are called long."""
    if name == "eager_ops" and has_long_operations(evidence.part(name), evidence.part("dispatch")):
        return f"{PARTS[name].sentence}, each of them long"
    if name == "python" and (library := find_library_work(evidence.ledger)) is not None:
        return library.words
    whole = evidence.run_account
    if name == "evaluate" and whole is not None:
        ran = [word for part, word in _EVALUATES.items() if whole.parts_s.get(part)]
        if len(ran) == 1:
            return ran[0]
    return PARTS[name].sentence


def _is_sound(evidence: Evidence) -> bool:
    """Return whether a step mostly computes in compiled functions; in another work those of a ``predict`` are among
    them."""
    account = evidence.account
    if account is None or not account.mean_ms or not account.parts_ms:
        return False
    name = max(account.parts_ms, key=lambda part: account.parts_ms[part])
    if name == "evaluate":
        predicts = evidence.work is not None and is_compute(name, evidence.samples, trains=False)
        return predicts and evidence.share(name, *_WORK) >= _SOUND
    return name in _WORK and evidence.share(*_WORK) >= _SOUND * (1 - _waited(evidence))


def _waited(evidence: Evidence) -> float:
    """Return the time of a step that is explained only by waiting: the thread had no CPU core, or waited until an
    iterator was freed.

    Neither is work of the step.
    """
    unexplained = evidence.share("other")
    log = evidence.samples
    freeing = sum(count for stack, count in log.stacks.items() if stack.activity == "waiting") / max(log.count, 1)
    return min(unexplained, max(evidence.waited_share or 0.0, freeing))


def _waits(evidence: Evidence) -> str:
    """Return why a step counts as sound: what it has of the parts that faults are made of."""
    idle = _waited(evidence)
    waited = (
        f", and {100 * idle:.0f} % is waiting for a processor, or until iterators were freed"
        if idle >= calibration.MIN_UNEXPLAINED.value
        else ""
    )
    return f"; input, Python and tracing take {100 * evidence.share(*_WAITS):.0f} %{waited}"


def _computed_at(evidence: Evidence, *, explained: bool) -> str:
    """Return the line on which most of the step computes, where it is a third of the step or more, and was looked at
    where most steps are. ``explained``: the work is needed, so the machine's limit explains the time."""
    if _saw_another(evidence):
        return ", and the windows saw another training than most of these steps are of"
    layer = next((part for part in computed_parts(evidence.offer(ComputedStep), evidence.account) if part.layer), None)
    line = next(iter(computed_lines(evidence.offer(ComputedStep), evidence.account)), None)
    limited = explained and not _is_far_below_limit(evidence)
    if layer is not None and layer.share >= LOUD and find_single_line(evidence) is None:
        name = layer.layer.rpartition("/")[2]
        what = _computes_what(layer, limited=limited)
        return f", {100 * layer.share:.0f} % of {evidence.unit.the} in the layer {name} ({what})"
    if line is None or line.share < LOUD:
        return ""
    return f", {100 * line.share:.0f} % of {evidence.unit.the} on one line ({_computes_what(line, limited=limited)})"


def _computes_what(line: ComputedLine, *, limited: bool) -> str:
    """Return the place, its operations, and what bounds most of their time if that is the machine's limit.

    ``limited``: the limit explains the time. It does not if the work may be unnecessary, or if the step as a whole is
    far from the limit.
    """
    bound_by = f", limited by the machine's {line.bound}" if limited and line.is_bound_by_machine else ""
    return f"{name_place(line.where)}: {line.join_types()}{bound_by}"


def _saw_another(evidence: Evidence) -> bool:
    """Return whether what is known of the compiled step is of another training than most steps are of."""
    trace = evidence.offered_by(StepBreakdown)
    return any(each.probe == trace for each in other_trainings(evidence))


def of_the_run(
    account: RunAccount | None, longer_than_s: float = 0.0, work_s: float = 0.0, evidence: Evidence | None = None
) -> Conclusion | None:
    """Conclude what the run's time goes into where that is not the repeated work itself; None when that, or what nobody
    sampled, is the largest part, when nothing took longer than ``longer_than_s``, or nothing is known. ``work_s``: of a
    loop or call outside of training steps: a part of which it is the larger half is that work with what lies around
    it."""
    if account is None or not account.parts_s:
        return None
    name = max(account.parts_s, key=lambda part: account.parts_s[part])
    taken = account.parts_s[name]
    if name in _NOT_A_CAUSE or taken <= longer_than_s or (name in _REPEATED and taken <= 2 * work_s):
        return None
    line = next(iter(account.lines.get(name, ())), None) if name in PLACED else None
    at = f" ({name_place(line.where)})" if line is not None and line.seconds >= taken / 2 else ""
    if name == "imports":
        first = sorted(account.imports_s.items(), key=lambda item: -item[1])[:3]
        slowest = ", ".join(f"{package} {each:.1f} s" for package, each in first if each >= 0.1 * taken)
        at = f" ({slowest})" if slowest else ""
        return Conclusion(
            verdict=START_UP if 2 * taken >= account.total_s else LARGEST_START_UP,
            why=f"imports take {100 * taken / account.total_s:.0f} % of this run{at}, a one-time cost",
            look="Profile a longer run.",
        )
    if name == "ending":
        begin = account.parts_s.get("imports", 0.0)
        return Conclusion(
            verdict=LARGEST_ENDS,
            why=f"ending the process takes {100 * taken / account.total_s:.0f} % of this run and imports take "
            f"{100 * begin / account.total_s:.0f} %, both one-time costs",
            look="Profile a longer run.",
        )
    call = find_costliest_call(evidence, evidence.run_ledger, taken / 2) if evidence is not None else None
    if call is not None:
        taken, what = call.site.value, call.words
        of = f"{100 * taken / account.total_s:.0f} % of the run ({taken:.1f} of {account.total_s:.1f} s)"
        return Conclusion(verdict=NO_CAUSE, why=f"{of} is {what}")
    part = name_run_part(name, account.parts_s)
    return Conclusion(verdict=NO_CAUSE, why=f"{100 * taken / account.total_s:.0f} % of the run is {part}{at}")


def _near_the_limit(evidence: Evidence) -> bool:
    """Return whether computing reaches half of what a matrix product does on this machine; twice of it or more says
    that the machine was busy when its speed was measured.
    """
    reached, peak = achieved_gflops(evidence), evidence.machine_gflops
    return reached is not None and peak is not None and NEAR_LIMIT * peak <= reached <= peak / NEAR_LIMIT


def _is_far_below_limit(evidence: Evidence) -> bool:
    """Return whether computing is known to reach less than half of what a float32 matmul does on this machine."""
    reached, peak = achieved_gflops(evidence), evidence.machine_gflops
    return reached is not None and peak is not None and reached < NEAR_LIMIT * peak


def conclude_without_probes() -> Conclusion:
    """Conclude a run that no probe measured."""
    return Conclusion(verdict=NOT_PROFILED, why="this run had no probes (--probes none), so no cause could be found")


def _say_time_between(account: StepAccount) -> str:
    """Return a sentence on what runs between the steps, if that takes a good part of the time."""
    if account.between_total_ms < MIN_BETWEEN * account.mean_ms:
        return ""
    kind = max(account.between_ms, key=lambda part: account.between_ms[part], default="")
    words = words_of(kind)
    largest = f", most of it {words.sentence}" if words is not None and words.sentence else ""
    taken = account.between_total_ms
    return f"Another {taken:,.{1 if taken < 100 else 0}f} ms passes between steps for each step{largest}."


def within(title: str) -> str:
    """Return a title inside a sentence: its first letter small, unless it may be a name's (Python, TensorFlow, a
    class)."""
    return title[:1].lower() + title[1:] if title.partition(" ")[0] in _SMALL else title


def _in_brackets(finding: Finding) -> str:
    """Return the first place of a finding in brackets; "" if it has none."""
    return f" ({name_place(finding.where[0])})" if finding.where else ""


def bound(evidence: Evidence) -> str:
    """Return the limit of a step that computes: the FLOP/s that it reaches, compared with a matmul on this machine."""
    reached = achieved_gflops(evidence)
    if reached is None or reached < MIN_GFLOPS:
        return ""
    peak = evidence.machine_gflops
    if not peak or reached > peak:  # the machine was busy when its speed was measured
        return f"It computes at {reached:,.0f} GFLOP/s."
    return (
        f"It computes at {reached:,.0f} GFLOP/s; a float32 matmul reaches {peak:,.0f} on this machine"
        f" ({100 * reached / peak:.0f} %)."
    )


def _bound_by_kernel(evidence: Evidence) -> str:
    """Return a sentence if one type of operation is most of the computing and nothing else can bound it: operations
    follow each other without gaps. For steps whose arithmetic is not counted."""
    step = evidence.offer(ComputedStep)
    if step is None or step.ms <= 0 or step.idle_ms + step.unknown_ms + step.waits_ms > _MAX_GAPS * step.ms:
        return ""
    types: dict[str, float] = defaultdict(float)
    for row in step.operations:
        types[plain(row.type)] += row.ms
    largest = max(types, key=lambda each: types[each], default="")
    if types[largest] < MOST * step.ms:
        return ""
    share = 100 * min(types[largest] / step.ms, 1.0)
    return f"The {largest} kernel takes {share:.0f} % of the computing time, without gaps between operations."


def achieved_gflops(evidence: Evidence) -> float | None:
    """FLOPs of the functions that run in a step, over the time in compiled functions; None if either is unknown."""
    flops = step_flops(evidence)
    graph = evidence.part("graph", "eager_ops")
    return flops / (graph / 1e3) / 1e9 if flops and graph > 0 else None


def step_flops(evidence: Evidence) -> float | None:
    """FLOPs of a step, or of an iteration of a work: those of the functions that Python was seen to call in it, or the
    work of the layers that ran, whichever is more: open sizes are missing from the first, so for a work with such sizes
    the first is not known.
    """
    calls, costs = evidence.offer(FunctionCalls), evidence.offer(FunctionCosts)
    layers = evidence.offer(LayerWork)
    total = 0.0
    called = [each for each in costs.functions if calls.per_step.get(each.graph)] if calls and costs else []
    if evidence.work is None or not any(map(_lacks_flops, called)):
        total = sum(calls.per_step[each.graph] * (each.flops or 0.0) for each in called) if calls else 0.0
    return max(total, layers.flops if layers is not None else 0.0) or None


def _lacks_flops(function: FunctionCost) -> bool:
    """Return whether operations of open sizes, or iterations, are missing from the FLOPs of a function."""
    return "counted" in function.flops_note.replace("dimensions counted as", "")
