"""tf.data pipelines and the data that Keras was given: who made them, of what, and what their stages did."""

from __future__ import annotations

from typing import Literal

import msgspec


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Place where a function is defined."""

    file: str
    line: int
    function: str


class Padding(msgspec.Struct, frozen=True, kw_only=True):
    """Sequences of whole numbers, padded to ``width``: the lengths of ``rows`` sequences without padding.

    ``alike``: the mean length that batches of sequences of like length would have. ``before``: the padding is at the
    beginning.
    """

    width: int
    mean: float
    longest: int
    alike: float
    quartiles: tuple[int, ...]
    rows: int
    before: bool = False


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """``parameters``: as given; -1 for AUTOTUNE and for endless. ``mapped``: the function that is called for each
    element, or the generator. ``python_ops``: types of operations in it that call Python. ``random_ops``: those that
    draw random numbers, the stateless ones included. ``element_bytes``: None where shapes are open.
    ``memory_bytes``: of arrays that the dataset holds; a dataset made in a graph bakes them into it as constants."""

    parameters: dict[str, int | bool | str | None] = {}
    mapped: Place | None = None
    ops: int = 0
    python_ops: tuple[str, ...] = ()
    random_ops: tuple[str, ...] = ()
    element: str = ""
    element_bytes: int | None = None
    memory_bytes: int = 0
    seed: bool = False  # a seed was set for a shuffle
    padding: Padding | None = None  # of the sequences that ``from_tensor_slices`` was given


Maker = Literal["user", "keras", "library"]


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Who made something, and the user's line that led there (``file`` empty: none is near).

    ``by``: the code that called tf.data. ``way``: the method of a Keras model that was running, or empty.
    """

    file: str = ""
    line: int = 0
    function: str = ""
    by: Maker = "user"
    way: str = ""


class MadeDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset. ``inputs`` are numbers of datasets. ``graph`` is 0 for one made eagerly, else the number of the graph
    that was being built; ``graph_name`` tells a function of a tf.data stage (``Dataset_…``) from a ``tf.function``."""

    number: int
    cls: str
    inputs: tuple[int, ...]
    origin: Origin
    about: Description
    function_graph: int = 0  # the number of the mapped function's graph
    graph: int = 0
    graph_name: str = ""
    ns: int = 0


class MadeIterator(msgspec.Struct, frozen=True, kw_only=True):
    """An iterator. ``made`` counts those of this line so far, this one included."""

    number: int
    dataset: int
    origin: Origin
    in_graph: bool = False
    made: int = 1
    ns: int = 0


class KerasData(msgspec.Struct, frozen=True, kw_only=True):
    """Data given to a Keras model. ``place``: the user's ``__getitem__`` or generator. ``arrays_bytes``: of arrays
    in memory. ``steps``: steps_per_epoch, validation_steps or steps, as given. ``dataset``: the number of the tf.data
    dataset, where it is one. None: unknown."""

    kind: str
    way: str  # "fit", "evaluate", "predict"
    file: str
    line: int
    function: str
    validation: bool = False  # given to ``fit`` as validation data
    cls: str = ""
    place: Place | None = None
    workers: int | None = None
    use_multiprocessing: bool | None = None
    max_queue_size: int | None = None
    batch_size: int | None = None
    batches: int | None = None
    shuffle: bool | None = None
    arrays_bytes: int = 0
    padding: Padding | None = None
    steps: int | None = None
    dataset: int = 0
    ns: int = 0


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A call of ``predict`` or ``evaluate`` (``way``) that ended at ``ns``. ``key``: equal where the data and the
    result were, as far as a sample of their numbers tells; ``inputs``: equal where the inputs were and the model is the
    same object, "" in older recordings."""

    way: str
    file: str
    line: int
    function: str
    key: str
    ns: int
    inputs: str = ""


class RanOut(msgspec.Struct, frozen=True, kw_only=True):
    """Keras' ``fit`` or ``evaluate`` was to take ``asked`` batches (of an epoch), and there were ``had`` in all."""

    way: str
    validation: bool
    file: str
    line: int
    function: str
    asked: int
    had: int


#: The name of a reading of an iterator's model in a trace.
READING = "__tfperfkit_iterator_model"


class Node(msgspec.Struct, frozen=True, array_like=True):
    """A stage in one iterator, since its making. ``inputs`` are ids. ``processing_ns`` is the time in the stage itself,
    summed over its threads. ``buffer``: slots, None without; ``parallelism`` None for a stage of one thread."""

    id: int
    name: str
    inputs: tuple[int, ...]
    elements: int
    processing_ns: int
    buffered: int
    produced_bytes: int
    parallelism: float | None = None
    buffer: float | None = None
    tuned: bool = False  # parallelism or buffer is chosen by tf.data


class Returned(msgspec.Struct, frozen=True, kw_only=True):
    """Values that one function returned in a step: ``values`` are fingerprints, by how often.

    ``unknown``: values without one. ``what``: the first value in words; ``size``: its bytes in arrays and tensors.
    """

    file: str
    line: int
    function: str
    calls: int
    values: dict[str, int]
    unknown: int
    what: str
    size: int
