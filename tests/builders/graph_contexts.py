"""The same waste in every place where a program runs a graph: evidence of it for each rule about graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, get_args

import msgspec
from computed_builder import compiled, ran
from eager_builder import traced
from evidence_builder import FILE
from graph_causes import GRAPH_RULES, offer_causes
from input_builder import evidence as input_evidence
from input_builder import mapped, pipeline, stage
from tfperfkit_probes.ops.model import Brief, GraphLoop, MappedGraphs, Marked, Marks
from tfperfkit_rules.graph import RULES
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.same_in_unrolled import RepeatedProducts
from tfprof_builder import brief, graphs, op
from work_builder import CALL, PREDICT, SESSION, frame, sampled, work_evidence

from tfperfkit.graph.recorded import RecordedGraphs
from tfperfkit.model import SourceSpan
from tfperfkit.offers import ComputedStep, ComputedStretch, FunctionCalls, FunctionCosts, RanOperation, RanOperations
from tfperfkit.records.samples import Samples
from tfperfkit.rule import Evidence

GRAPH = "__inference_compute_1"
WASTED = "sort/TopKV2"
SOURCE = """import tensorflow as tf
def compute(rows):
    return tf.map_fn(waste, rows)


for rows in batches:
    total += run(rows)
"""
_CALLS = 6, 7  # the loop, and the call in it
#: Values of fields that must be such.
_KNOWN: dict[str, Any] = {
    "type": "Svd", "form": "diagonal", "names": ["rows"], "pixels": 10, "idle": False, "calls": 33, "times": 16.5,
    "width": 4000, "mean": 40.0, "alike": 50.0, "longest": 4000, "sides": (11, 11),
}  # fmt: skip
_VALUES: dict[Any, Any] = {int: 4000, float: 0.01, str: "x", bool: False}


class Waste(NamedTuple):
    """A cause in a graph, or fields of a function in short that tell it, with the type of its operations in a trace."""

    code: str
    cause: Cause | None = None
    fields: dict[str, Any] = {}
    type: str = "DecodeJpeg"

    def describe(self, **fields: Any) -> Brief:
        """Return the function in short."""
        given = {"graph": GRAPH, "function": "compute", "file": FILE, "line": 2, "first_execution_ms": 5.0}
        more = {"flops": 1e10, "callers": [SourceSpan(FILE, 7)], **self.fields}
        return msgspec.structs.replace(brief(), **{**given, **more, **fields})

    def offer(self, graph: str) -> RecordedGraphs:
        """Offer the cause; one that rests on variables also as if only training changed these: that is never less."""
        every = [self.cause] if self.cause is not None else []
        idle = [msgspec.structs.replace(each, idle=True) for each in every if hasattr(each, "idle")]
        return offer_causes(graph, *every, *idle)

    def list_rows(self, scale: float = 1.0, where: str = "graph") -> list[Any]:
        """Return the operations in a trace."""
        mine = op(self.type, 1400.0 * scale, count=400, name=WASTED, where=where)
        return [mine, op("MatMul", 400.0 * scale, count=400, where=where)]

    def compute(self) -> ComputedStep:
        """Return a step of a trace by line."""
        forward = msgspec.structs.replace(ran(self.type, 6.0), of=WASTED, file=FILE, line=3)
        rows = (forward, ran("MatMul", 2.0, flops=1e6))
        return ComputedStep(ms=8.0, idle_ms=0.0, waits_ms=0.0, unknown_ms=0.0, operations=rows)


def list_causes() -> Iterator[Waste]:
    """Yield a cause of each kind that a rule about graphs knows.

    Left out are rules that need more than a cause: GRF022 is about training, GRF031 about results that the source does
    not read, and one kind of GRF023 counts products in a trace by line.
    """
    for rule in GRAPH_RULES:
        for kind in get_args(type(rule).__orig_bases__[0]):  # type: ignore[attr-defined]
            for leaf in kind.__subclasses__() or [kind]:
                if rule.code not in ("GRF022", "GRF031") and leaf is not RepeatedProducts:
                    yield Waste(rule.code, _make_cause(leaf))
    here = SourceSpan(FILE, 3, "compute")
    loop = GraphLoop(
        name="map/while", where=here, turns=9000, goes=1.0, operations=10.0, flops=300.0, elements=400.0, measured=True
    )
    yield Waste("GRF005", fields={"flops": 7e5, "operations": 20, "marks": Marks(loops=[loop])})
    wide = Marks(float64=[Marked(type="MatMul", ops=2, where=here)])
    yield Waste("OPS003", fields={"float64_flops_share": 0.9, "marks": wide, "heavy": 2}, type="MatMul")
    called = Marks(python_calls=[Marked(type="EagerPyFunc", ops=1, where=here)])
    yield Waste("OPS004", fields={"marks": called, "python_calls": 1}, type="EagerPyFunc")
    yield Waste("OPS006", fields={"marks": Marks(prints=[Marked(type="PrintV2", ops=1, where=here)])}, type="PrintV2")


def _make_cause(kind: Any) -> Cause:
    known = {
        "where": SourceSpan(FILE, 3, "compute"),
        "operations": [WASTED],
        "left": 0.1,
        "takes_flops": 8e9,
        "takes_bytes": 8e7,
        "whole_flops": 1e10,
        "whole_bytes": 1e8,
    }
    needed = [each for each in msgspec.structs.fields(kind) if each.required and each.name not in known]
    filled = {each.name: _VALUES.get(each.type, [] if "list" in str(each.type) else None) for each in needed}
    filled.update({name: value for name, value in _KNOWN.items() if name in kind.__struct_fields__})
    made: Cause = kind(**{**known, **filled})
    return made


def _in_step(waste: Waste) -> Evidence:
    made = waste.describe()
    kept = [
        RanOperation(name=row.name, type=row.type, count=row.count, self_ms=row.self_ms, where=row.where)
        for row in waste.list_rows()
    ]
    samples = Samples()
    samples.add(*sampled(400, "graph", frame(_CALLS[1], CALL)))
    more = (
        FunctionCalls(per_step={GRAPH: 1.0}),
        FunctionCosts(functions=(made,)),
        graphs(made),
        waste.offer(GRAPH),
        RanOperations(steps=100, rows=tuple(kept)),
    )
    return compiled(waste.compute().operations, more=more, source=SOURCE, samples=samples)


def _in_work(waste: Waste, *called: str, context: str = "", function: Brief | None = None, **fields: Any) -> Evidence:
    made = function or waste.describe()
    offers = {"ops": [waste.offer(made.graph), FunctionCosts(functions=(made,))]}
    stacks = [sampled(400, "graph", frame(_CALLS[1], *called), context=context)]
    fields = {"loop": _CALLS[0], "iterations": 400, "ops": waste.list_rows(), "machine_gflops": 100.0, **fields}
    return work_evidence(SOURCE, stacks, functions=graphs(made), offers=offers, **fields)


def _traced_by_line(waste: Waste) -> Evidence:
    stretch = ComputedStretch(wall_ms=20.0, window="tfprof", computed=waste.compute(), calls={GRAPH: 1.0})
    plain = _in_work(waste, CALL)
    return plain.narrowed(
        work=plain.work,  # type: ignore[arg-type]
        steps=plain.steps,
        account=plain.account,
        samples=plain.samples,
        log=plain.log,
        traced=stretch,
    )


def _in_predict(waste: Waste) -> Evidence:
    made = waste.describe(owner="keras", function="one_step_on_data")
    return _in_work(waste, PREDICT, context="evaluate", function=made)


def _in_session(waste: Waste) -> Evidence:
    made = waste.describe(graph="session 1, fetches 0", function="session.run", line=7)
    return _in_work(waste, SESSION, function=made)


def _in_pipeline(waste: Waste) -> Evidence:
    function = waste.describe(function="Dataset_map_compute", owner="tf.data", first_execution_ms=None)
    slow = mapped("ParallelMap", own_ms=18.0, parallelism=2.0, parameters={"num_parallel_calls": 2})
    slow = msgspec.structs.replace(slow, mapped=SourceSpan(FILE, 2, "compute"), file=FILE, line=7)
    made = pipeline(stage("Prefetch", 9), slow, stage("Range"), bound_by=1, bound_ms_per_output=9.0)
    rows = tuple(waste.list_rows(0.1, "input"))
    trace = msgspec.structs.replace(traced({}, (), steps=10, wall_ms=100.0), input_ops=rows)
    offers = {"ops": [MappedGraphs(functions=(function,)), waste.offer(GRAPH)]}
    return input_evidence(made, source=SOURCE, data={"tfprof": trace}, offers=offers)


#: Evidence in which a cause takes most of the time, by place.
CONTEXTS: dict[str, Callable[[Waste], Evidence]] = {
    "training step": _in_step,
    "loop": lambda waste: _in_work(waste, CALL),
    "loop, traced by line": _traced_by_line,
    "loop, traced after steps": lambda waste: _in_work(waste, CALL, later=True),
    "loop, without a trace": lambda waste: _in_work(waste, CALL, ops=()),
    "one long call": lambda waste: _in_work(waste, CALL, loop=0, call=_CALLS[1], iterations=None),
    "predict": _in_predict,
    "session.run": _in_session,
    "Dataset.map": _in_pipeline,
}


_NO_TIME = "a remark: only a trace tells its time"
_NO_TRAINING = "no variables are trained there"
#: Causes that a place can't have, or that nothing tells there, with the reason.
NOT_THERE = {
    ("GRF024", "training step"): "the arguments of a step are other batches",
    ("GRF024", "Dataset.map"): "its arguments in successive calls are not known",
    ("GRF029", "Dataset.map"): _NO_TRAINING,
    ("GRF030", "Dataset.map"): _NO_TRAINING,
    ("GRF032", "Dataset.map"): _NO_TRAINING,
    ("GRF037", "loop, without a trace"): "only a trace tells the size of an image",
    ("OPS004", "loop, without a trace"): _NO_TIME,
    ("OPS006", "loop, without a trace"): _NO_TIME,
}


def is_found(waste: Waste, context: str) -> bool:
    """Return whether a rule about graphs finds a cause, as more than a remark."""
    evidence = CONTEXTS[context](waste)
    return any(each.code == waste.code and each.share_of_step > 0 for rule in RULES for each in rule(evidence))
