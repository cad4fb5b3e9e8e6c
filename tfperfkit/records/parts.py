"""The one table of the kinds of time: the parts of a step, what a sample of it can be doing, why a step was long,
the parts of the whole run.

The names are those of the JSON report and of run directories; the words for the user are next to the names.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Literal, NamedTuple

#: The parts of a step. ``python``: the user's own and other libraries'; ``dispatch``: of TensorFlow and Keras;
#: ``evaluate``: all that Keras' ``predict`` and ``evaluate`` did within the step; ``other``: freeing tensors and
#: iterators, and what nothing explains.
PartName = Literal[
    "input",
    "python",
    "dispatch",
    "eager_ops",
    "graph",
    "tracing",
    "host_sync",
    "copies",
    "collectives",
    "saving",
    "gc",
    "evaluate",
    "other",
]
#: Kinds of activity of a sampled moment of the training thread. ``waiting``: nothing, while an object is freed (a
#: dataset's iterator).
Activity = Literal[
    "tracing", "saving", "summary", "input", "host_sync", "graph", "eager_ops", "dispatch", "python", "waiting"
]
#: Surroundings of a moment: validation and predicting, a callback of Keras, the making of layers and variables.
Context = Literal["evaluate", "callback", "build"]
#: Why a step took much longer than the others.
Cause = Literal[
    "tracing",
    "first run of a new trace",
    "garbage collection",
    "input",
    "checkpoint or export",
    "summary",
    "predict and validation",
    "the script's Python",
    "TensorFlow's Python",
    "a compiled function",
    "operations",
    "reading values",
    "freeing objects",
]
#: Parts of the time before the first steady step, as the account of the warm-up names them.
StartPart = Literal[
    "other imports",
    "importing TensorFlow",
    "data and other Python",
    "building and setting up",
    "loading and saving",
    "tracing",
    "the steps themselves",
    "compile and first runs",
    "first steps",
    "not sampled",
]
#: Parts of the whole run, from the start of the process to its end; see ``RUN_PARTS``.
RunPart = Literal[
    "imports",
    "data",
    "building",
    "tracing",
    "training",
    "between",
    "validation",
    "prediction",
    "saving",
    "tensorflow",
    "input",
    "freeing",
    "children",
    "ending",
    "tfperf",
    "not sampled",
]


class Words(NamedTuple):
    """Words of a part for the user: ``label`` in a legend or list, ``sentence`` after "of a step is", ``between`` in
    the list of activities between steps, ``traced`` in the table of a traced step ("": a trace does not show the part).
    """

    label: str
    sentence: str
    between: str
    traced: str = ""


#: In the order in which the JSON report has them.
PARTS: dict[PartName, Words] = {
    "input": Words("input", "waiting for its input", "input", "input: waiting for the next batch"),
    "python": Words("Python", "the script's own Python", "Python", "python: outside of TensorFlow's runtime"),
    "dispatch": Words("TensorFlow's Python", "Python of TensorFlow and Keras", "TensorFlow's Python"),
    "eager_ops": Words("eager ops", "operations called one by one", "operations", "eager operations, one by one"),
    "graph": Words("graph", "computing in compiled functions", "compiled functions", "compiled functions"),
    "tracing": Words("tracing", "tracing functions", "tracing", "tracing functions"),
    "host_sync": Words("reading values", "reading values of tensors", "reading values"),
    "copies": Words("copies", "copies between devices", "copies"),
    "collectives": Words("communication", "communication between replicas", "collectives"),
    "saving": Words("saving", "saving and summaries", "saving"),
    "gc": Words("garbage collection", "garbage collection", "gc"),
    "evaluate": Words("predict and evaluate", "predicting and validating", "predict and evaluate"),
    "other": Words("other", "time that nothing explains", "other", "freeing tensors and iterators"),
}
#: Kinds of time between steps that are excluded from step time.
BETWEEN: dict[Activity | Context, Words] = {
    "callback": Words("callbacks", "callbacks", "callbacks"),
    "build": Words("building", "building models", "building"),
    "waiting": Words("freeing objects", "freeing objects", "freeing objects"),
    "summary": Words("summary", "", "summary"),
}
#: The parts of the run, in the order in which the JSON report has them, as the legend of its bar calls them.
#: ``imports``: the start of Python, all that ran before TensorFlow was imported, and later imports; ``data``: the
#: user's Python outside of training; ``between``: in the training loop, between two steps; ``tensorflow``: operations
#: and functions that train nothing; ``input``: going through datasets that feed no step; ``freeing``: nothing was done
#: until the threads of an iterator had ended; ``ending``: exit handlers and what the interpreter frees; ``tfperf``: the
#: script waited for us.
RUN_PARTS: dict[RunPart, str] = {
    "imports": "imports",
    "data": "data and other Python",
    "building": "building and setting up",
    "tracing": "tracing and compiling",
    "training": "training",
    "between": "between steps",
    "validation": "validation",
    "prediction": "prediction",
    "saving": "loading and saving",
    "tensorflow": "TensorFlow outside of training",
    "input": "going through datasets",
    "freeing": "freeing objects",
    "children": "waiting for child processes",
    "ending": "ending the process",
    "tfperf": "tfperf",
    "not sampled": "not sampled",
}


def name_run_part(part: RunPart, parts: Container[str]) -> str:
    """Return the label of a part in the account of a run that has these ``parts``. A run that trains nothing has no
    TensorFlow "outside of training"."""
    if part == "tensorflow" and "training" not in parts:
        return "TensorFlow"
    return RUN_PARTS.get(part, part)


#: The parts that the user's lines ask for: for the others (the steps have tables of their own) no line is named.
PLACED: tuple[RunPart, ...] = (
    "data",
    "building",
    "tracing",
    "between",
    "validation",
    "prediction",
    "saving",
    "tensorflow",
    "input",
    "freeing",
    "children",
)
#: Parts that take no longer if the run is longer, and that no call of the user's can shorten.
PAID_ONCE: tuple[RunPart, ...] = ("imports", "ending", "tfperf")
#: The parts that a trace tells on the training thread.
TRACED: tuple[PartName, ...] = tuple(part for part, words in PARTS.items() if words.traced)
_PART_OF: dict[str, PartName] = {**{part: part for part in PARTS}, "summary": "saving"}
_WORDS: dict[str, Words] = dict([*PARTS.items(), *BETWEEN.items()])
#: Parts by their names, including names in recordings of another version.
_PART_OF_CAUSE: dict[str, PartName] = {
    "tracing": "tracing",
    "first run of a new trace": "tracing",
    "garbage collection": "gc",
    "input": "input",
    "checkpoint or export": "saving",
    "summary": "saving",
    "predict and validation": "evaluate",
    "the script's Python": "python",
    "TensorFlow's Python": "dispatch",
    "a compiled function": "graph",
    "operations": "eager_ops",
    "reading values": "host_sync",
    "freeing objects": "other",
}
_CAUSE_OF: dict[str, Cause] = {
    "saving": "checkpoint or export",
    "summary": "summary",
    "input": "input",
    "python": "the script's Python",
    "dispatch": "TensorFlow's Python",
    "graph": "a compiled function",
    "eager_ops": "operations",
    "host_sync": "reading values",
    "tracing": "tracing",
    "waiting": "freeing objects",
}
_START_PART_OF: dict[str, StartPart] = {
    "python": "data and other Python",
    "dispatch": "building and setting up",
    "eager_ops": "building and setting up",
    "graph": "building and setting up",
    "input": "data and other Python",
    "host_sync": "building and setting up",
    "saving": "loading and saving",
    "summary": "loading and saving",
    "tracing": "tracing",
}


def part_of(activity: str) -> PartName | None:
    """Return the part of a step that an activity's time belongs to; None for ``waiting`` and for one of another
    version."""
    return _PART_OF.get(activity)


def cause_of(activity: str) -> Cause | Literal[""]:
    """Return why a step was long in which this was done more than in others; "" for one of another version."""
    return _CAUSE_OF.get(activity, "")


def part_of_cause(cause: str) -> PartName:
    """Return the part of a step that the time of a cause belongs to."""
    return _PART_OF_CAUSE.get(cause, "other")


def start_part_of(activity: str, context: str) -> StartPart:
    """Return the part for a sample before the first step."""
    if context == "build":
        return "building and setting up"
    return _START_PART_OF.get(activity, "not sampled")


def words_of(name: str) -> Words | None:
    """Return the name of a part, or of a kind of time between steps; None for a name of another version."""
    return _WORDS.get(name)
