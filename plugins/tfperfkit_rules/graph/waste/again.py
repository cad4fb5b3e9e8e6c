"""GRF023: a call, or a turn of a loop, computes again what follows from arguments that stay the same; GRF024: all of
an argument that only gets longer."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from tfperfkit_probes.ops.model import OpsData, Wasted

from tfperfkit.graph.optable import is_heavy
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import ComputedStep, FixedWork
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import Part, count, finding, found
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.eager_assignments import assigns_eagerly, eager_assignments
from tfperfkit_rules.measures.step_place import reached


def again(evidence: Evidence) -> Iterator[Finding]:
    """GRF023. In training, variables that can be trained are not taken to stay; in work that trains nothing they are,
    unless the work itself assigns to some."""
    at_rest = evidence.work is not None and not assigns_eagerly(evidence)
    parts = list(found(evidence, "again_idle")) if at_rest else []
    seen = {part.waste.where for part in parts}
    for part in (*parts, *(part for part in found(evidence, "again") if part.waste.where not in seen)):
        yield _in_loop(evidence, part) if part.waste.figures["loop"] else _in_calls(evidence, part)


def never_changing(evidence: Evidence) -> Iterator[Finding]:
    """GRF023, of what no argument is part of: targets that a loss makes anew of the same picture, a table that each
    search normalises anew. Variables that can be trained stay where one function alone trains, and does not train
    them, or where none does."""
    if assigns_eagerly(evidence) if evidence.work is not None else eager_assignments(evidence):
        return
    kind = "fixed_idle" if _one_trains(evidence) or _none_trains(evidence) else "fixed"
    for part in found(evidence, kind):
        name = part.function.function
        yield finding(
            evidence,
            part,
            codes.SAME_ARGUMENT,
            f"Each call of {name} computes again what is the same in all calls",
            "Compute what is at this line once, before the loop, keep the result (an attribute, a tensor outside of "
            f"the function), and let {name} use it.",
            "It follows from tensors that the function was made with and from variables that nothing changes: no "
            "argument, no random number.",
        )


def _one_trains(evidence: Evidence) -> bool:
    others = evidence.offer(FixedWork)
    return len(_training(evidence)) == 1 and others is not None and not others.writers


def _none_trains(evidence: Evidence) -> bool:
    """Whether it is a work in a run in which nothing trains, compiled or not."""
    updates = reached(evidence, "apply", "batch", "train_on_batch")
    return evidence.work is not None and not updates and not _training(evidence)


def _training(evidence: Evidence) -> set[tuple[str, int, str]]:
    data = evidence.offer(OpsData)
    return {(each.file, each.line, each.function) for each in data.all if each.gradient_operations} if data else set()


def stacked(evidence: Evidence) -> Iterator[Finding]:
    """GRF023, of some rows of a batch. What is assigned to beside compiled functions (by an optimizer that is applied
    there) is fewer than the network's weights, so it is not these."""
    for part in found(evidence, "stacked"):
        figures = part.waste.figures
        if shared.MOSTLY.value * figures["variables"] <= eager_assignments(evidence):
            continue
        same, rows = round(figures["same"]), round(figures["rows"])
        yield finding(
            evidence,
            part,
            codes.SAME_ARGUMENT,
            f"{same} of the {rows} rows that go through a network are the same in each call",
            "Run the network on these rows once, before the loop, keep what comes out, and put only the others through "
            "it in each call; what is compared with them then takes the kept results.",
            "tf.concat puts them beside the others at this line, the results are taken apart again, and no weight "
            "of the network is trained here. Backward they cost as much as the others.",
            count("rows", rows),
            count("rows that stay the same", same),
        )


def unrolled(evidence: Evidence) -> Iterator[Finding]:
    """GRF023, of a loop that tracing unrolled; where the trace shows that nothing took the repetitions together."""
    unit = evidence.unit
    step = evidence.offer(ComputedStep)
    if step is None:
        return
    for part in found(evidence, "unrolled"):
        times, names = part.waste.figures["times"], set(part.waste.operations)
        mine = (row for row in step.operations if row.of in names and row.stage == "forward")
        ran = sum(row.runs for row in mine if is_heavy(row.type))
        if ran < shared.MOSTLY.value * part.waste.figures["products"]:
            continue
        made = finding(
            evidence,
            part,
            codes.SAME_ARGUMENT,
            f"What is computed {round(times):,} times in {unit.a} is the same each time",
            "Of what is computed at this line, do once, before the Python loop whose turns all call it, what no turn "
            "changes (a layer called on the same tensor: keys = self.project(values)), and hand its result to the "
            "turns; what changes with the turn stays where it is.",
            "The very same tensors and weights go in, no random numbers are drawn and no variable changes between, so "
            "the results are equal. Each reads the weights anew, so TensorFlow does not take them together. Gradients "
            "go through what is computed once as well: those of the turns are added up first.",
            count(f"times in {unit.a}", times),
        )
        yield msgspec.structs.replace(made, absorbs_here=(*made.absorbs_here, codes.REPEATED_FORWARD))


def grown(evidence: Evidence) -> Iterator[Finding]:
    """GRF024, in work that trains nothing."""
    if evidence.work is None or assigns_eagerly(evidence):
        return
    for part in found(evidence, "grown"):
        name = part.waste.names[0]
        made = finding(
            evidence,
            part,
            codes.GROWING_ARGUMENT,
            f"{name} gets longer from call to call, and each call computes all of it again",
            "Keep what was computed of the part before, and hand over only what is new: of a recurrent layer its state "
            "(return_state=True, and initial_state=state in the next call), of attention its keys and values.",
            f"In most calls {name} was that of the call before with something behind it (or with one more place of its "
            "padding filled). Layers that look ahead "
            "(bidirectional ones, attention without a causal mask) need all of it each time.",
            _calls(part),
        )
        # That each iteration takes longer than the one before follows.
        yield msgspec.structs.replace(made, absorbs=(*made.absorbs, "STP007"))


def _in_calls(evidence: Evidence, part: Part[Wasted]) -> Finding:
    names = " and ".join(part.waste.names)
    several = len(part.waste.names) > 1
    stays, it = ("stay", "them") if several else ("stays", "it")
    return finding(
        evidence,
        part,
        codes.SAME_ARGUMENT,
        f"{names} {stays} the same from call to call, and what follows from {it} alone is computed in each",
        f"Divide the function: put what follows from {names} alone, at this line, into a compiled function of its own, "
        f"call that once for each new {names}, and hand its result to the rest in place of {names}.",
        f"It depends on {names} and on what never changes between these calls: no random numbers, no variable that is "
        "assigned to.",
        _calls(part),
        Measurement("calls in a row with the same value", part.waste.figures["times"], "count", "run"),
    )


def _in_loop(evidence: Evidence, part: Part[Wasted]) -> Finding:
    return finding(
        evidence,
        part,
        codes.SAME_ARGUMENT,
        "A loop computes in each turn what is the same in all of them",
        "Of what is computed at this line, do before the loop what no turn changes (a layer called on the same tensor, "
        "say), and hand its result on; what changes with the turn stays where it is.",
        "It follows from what the loop is given and hands on as it is, also weights that no turn assigns to, and from "
        "no random numbers. TensorFlow moves nothing out of a loop by itself. Gradients go through what is computed "
        "once as well: those of the turns are added up first.",
    )


def _calls(part: Part[Wasted]) -> Measurement:
    return count("first calls that were looked at", part.waste.figures["calls"])
