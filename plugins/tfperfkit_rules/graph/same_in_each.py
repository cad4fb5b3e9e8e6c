"""GRF023: a call, or an iteration of a loop, computes again what is the same in each.

It follows from arguments that stay the same from call to call, from what a loop hands on as it is, or from tensors and
variables that nothing changes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from tfperfkit_probes.ops.model import Brief, OpsData

from tfperfkit.calibration import Derived, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.costs import moved
from tfperfkit.graph.flow import Flow
from tfperfkit.graph.model import Node
from tfperfkit.graph.optable import is_heavy
from tfperfkit.graph.sessions import RUN
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import WRITES
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import FixedWork
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.factorising import DECOMPOSES, SOLVES
from tfperfkit_rules.graph.pricing import Part, count, parts_of
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.graph.same_work import SameWork, common_line, line_of_most, measured, used_arguments, work_of
from tfperfkit_rules.measures.eager_assignments import assigns_eagerly, eager_assignments
from tfperfkit_rules.measures.ran_here import describe_unchanged
from tfperfkit_rules.measures.step_place import reached

FIXED_BYTES = Threshold(
    1 << 20,
    "bytes",
    "minimum size of constant results that are read and written in each call, for them to be looked at",
    Derived("at what a processor's memory gives at worst they take a tenth of a ms; the trace tells what they took"),
)
FIRST_CALLS_MAX = Threshold(
    0.5,
    "share",
    "maximum share of the time in a function's first calls: of the rest, each call computes something again",
    Derived("a graph that is called twice spends half of its time in the first call, which has to compute the result"),
)
_SOLVING = SOLVES | optable.names(kind="triangular-solve")
_READS = optable.names(kind=("read", "variable-gather"))
#: Operations that take parts of a tensor, or arrange its numbers in another shape.
_UNPACKS = optable.names(kind=("slice", "split", "unstack", "reshape", "pass"))


class SameInEach(SameWork, frozen=True, kw_only=True):
    """``idle``: also of variables that may be trained elsewhere in the run, but not here."""

    idle: bool

    @property
    def key(self) -> Hashable:
        """Certain and possibly trained rows are two causes of one line."""
        return type(self), self.idle, self.where


class SameArgument(SameInEach, frozen=True, kw_only=True):
    """Follows from arguments that stay for ``times`` calls in a row; ``calls`` were looked at, 0 in a loop."""

    calls: int
    times: float


class NeverChanging(SameInEach, frozen=True, kw_only=True):
    """Follows from no argument: from captured tensors and variables alone."""


class SameInEachCall(GraphRule[SameInEach]):
    """Recognised by dataflow from what stays the same, past everything that varies from call to call.

    Work that follows from no argument is reported if there is a product or the like in it, or if it goes through much
    memory, as normalising all rows of a table does.
    """

    code = "GRF023"
    title = "Loop-invariant computation repeated in every call"

    def find(self, view: View) -> Iterator[SameInEach]:
        """Yield what follows from arguments that stay, then what follows from no argument."""
        arguments = frozenset(view.given.same)
        if arguments:
            surely = work_of(view, arguments, view.stays)
            if _is_worth(view, surely):
                yield _of_arguments(view, surely, arguments, idle=False)
            here = work_of(view, arguments, view.idle)
            if len(here) > len(surely) and _is_worth(view, here):
                yield _of_arguments(view, here, arguments, idle=True)
        written = {view.owner(node.inputs[0][0]) for node in view.nodes.values() if _writes(node)}
        for idle, stays in ((False, view.stays), (True, view.idle - written)):
            found = work_of(view, stays, stays) if stays and not view.in_loop else []
            if _computes(found) or _moves_much(view, found):
                inner, takes = measured(view, found)
                names = used_arguments(view, found, stays)
                where = common_line(view, found, inner)
                yield NeverChanging(where=where, names=names, left=0.0, idle=idle, **takes)

    def __call__(self, evidence: Evidence) -> Iterator[Finding]:
        """Report what follows from arguments, then what follows from none.

        In training, variables that can be trained are not taken to stay; in work that trains nothing they are, unless
        the work itself assigns to some. Without arguments they stay if one function alone trains and does not train
        them, or if none trains.
        """
        eagerly = assigns_eagerly(evidence)
        parts = list(self._parts(evidence, SameArgument, True)) if evidence.work is not None and not eagerly else []
        seen = {part.cause.where for part in parts}
        surely = (part for part in self._parts(evidence, SameArgument, False) if part.cause.where not in seen)
        for part in (*parts, *surely):
            yield self.report(evidence, part)
        if not (eagerly if evidence.work is not None else eager_assignments(evidence)):
            for part in self._parts(evidence, NeverChanging, _one_trains(evidence) or _none_trains(evidence)):
                if not _mostly_first(evidence, part):
                    yield self.report(evidence, part)

    def _parts(self, evidence: Evidence, kind: type[SameInEach], idle: bool) -> Iterator[Part[SameInEach]]:
        candidates = self.candidates(evidence)
        return parts_of(evidence, (each for each in candidates if type(each[1]) is kind and each[1].idle is idle))

    def report(self, evidence: Evidence, part: Part[SameInEach]) -> Finding:
        """Advise to compute it once, before the loop or in a function of its own."""
        cause, function = part.cause, part.function.function
        if function == RUN:
            return self.finding(
                evidence,
                part,
                "Loop-invariant computation repeated in every session.run",
                "Run this line's tensors once, before the loop: kept = session.run(tensors). In the loop, pass their "
                "values in feed_dict: {tensor: value, ...}.",
                "session.run keeps nothing. The tensors depend on no placeholder, and on no variable that a run in "
                "this loop assigns.",
            )
        if not isinstance(cause, SameArgument):
            return self.finding(
                evidence,
                part,
                f"Loop-invariant computation repeated in every call of {function}",
                f"Compute this line once, before the loop, and let {function} use the kept result (an attribute or a "
                "tensor).",
                f"The result depends only on captured tensors and {describe_unchanged(evidence, part.function.graph)}.",
            )
        if not cause.calls:
            return self.finding(
                evidence,
                part,
                "Loop-invariant computation repeated in every iteration of a loop",
                "Move the part of this line that no iteration changes before the loop, such as a layer called on the "
                "same tensor, and use its result in the loop.",
                "TensorFlow moves nothing out of a loop, although no iteration changes these inputs. Gradients flow "
                "through the moved part as before.",
            )
        names = " and ".join(cause.names)
        return self.finding(
            evidence,
            part,
            f"Loop-invariant computation from {names} repeated in every call of {function}",
            f"Split {function}: compute this line in a tf.function of its own, call that once for each new {names}, "
            f"and pass its result instead of {names}.",
            f"The result depends only on {names}, and on variables that do not change between these calls.",
            count("calls examined", cause.calls),
            Measurement("calls in a row with the same value", cause.times, "count", "run"),
        )


def _of_arguments(view: View, found: list[Node], arguments: frozenset[str], *, idle: bool) -> SameArgument:
    """The cause of work that follows from arguments."""
    names = used_arguments(view, found, arguments)
    times = min((view.given.same[name] for name in names if name in view.given.same), default=0.0)
    inner, takes = measured(view, found)
    if view.given.calls:
        where = line_of_most(view, found, inner)
    else:
        where = common_line(view, found, inner, Flow(view).same_names(arguments | view.stays))
    return SameArgument(
        where=where, names=names, left=1 / times, idle=idle, calls=view.given.calls, times=times, **takes
    )


def _is_worth(view: View, found: list[Node]) -> bool:
    """Whether it is worth a look. A call that only takes parts of an argument unpacks it, such as a vector of weights.
    A loop has much that is the same in all iterations and costs nothing: there must be a product or the like, or a
    solution of which both sides stay."""
    if view.given.calls:
        return any(node.type not in _UNPACKS for node in found)
    return _computes(found) or any(node.type in _SOLVING for node in found)


def _computes(found: list[Node]) -> bool:
    """Whether there is a product or the like; GRF016 reports decompositions."""
    return any(is_heavy(node.type) and node.type not in SOLVES | DECOMPOSES for node in found)


def _moves_much(view: View, found: list[Node]) -> bool:
    """Whether it goes through much memory. Reading a variable moves nothing; GRF016 reports decompositions."""
    moving = (node for node in found if node.type not in SOLVES | DECOMPOSES and node.type not in _READS)
    return sum(moved(view.graph, node, view.open_size) for node in moving) >= FIXED_BYTES.value


def _writes(node: Node) -> bool:
    return node.type in WRITES and bool(node.inputs)


def _mostly_first(evidence: Evidence, part: Part[SameInEach]) -> bool:
    """Whether a function that is defined again in each iteration, or is called once, computes mostly in first calls."""
    data, function = evidence.offer(OpsData), part.function
    alike = (each for each in (data.all if data is not None else ()) if _definition(each) == _definition(function))
    first = sum(each.first_execution_ms or 0.0 for each in alike)
    took = part.share * (evidence.step_ms or 0.0) * evidence.steps.count
    return first >= FIRST_CALLS_MAX.value * took > 0


def _definition(function: Brief) -> tuple[str, int, str]:
    return function.file, function.line, function.function


def _one_trains(evidence: Evidence) -> bool:
    others = evidence.offer(FixedWork)
    return len(_training(evidence)) == 1 and others is not None and not others.writers


def _none_trains(evidence: Evidence) -> bool:
    """Whether it is a work in a run in which nothing trains, compiled or not."""
    updates = reached(evidence, "apply", "batch", "train_on_batch")
    return evidence.work is not None and not updates and not _training(evidence)


def _training(evidence: Evidence) -> set[tuple[str, int, str]]:
    data = evidence.offer(OpsData)
    return {_definition(each) for each in data.all if each.gradient_operations} if data else set()
