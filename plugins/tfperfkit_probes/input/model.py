"""The records of the probe ``input`` in the JSON report: what rules and renderers read."""

from __future__ import annotations

import msgspec

from tfperfkit.model import SourceSpan
from tfperfkit.records.pipelines import Padding


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """A stage of a pipeline. Everything that was not measured is None.

    ``kind``: as in tf.data, e.g. "Map", "ParallelMap", "Batch", "Generator"; ``cls``: the Python class, or the name in
    TensorFlow's model for a stage that the graph optimiser ``added``. ``mapped``: the function that is called for each
    element, or the generator, or ``__getitem__`` of a PyDataset. ``parameters``: as given, -1 for AUTOTUNE and endless.

    ``self_ms_per_output``: own time for each batch (element at the pipeline's end), all threads together, without the
    stages below; ``self_ms_per_step``: that times the batches per step. ``elements``: that the stage gave per element
    at the pipeline's end. ``fused``: TensorFlow runs it together with the next stage in the list, which has the time
    of both. ``share``: of the own time of all stages. ``nested``: it runs inside the function of the stage of that
    index. ``trace_self_ms_per_step``: the same by the profiler, on the thread that asked the stage for its element: of
    a prefetch or a parallel stage that is waiting for its own threads. ``begins``: of a skip its different counts, of a
    shard its different indices, each time that the pipeline was built.
    """

    kind: str
    cls: str
    file: str = ""
    line: int = 0
    function: str = ""
    by: str = "user"  # who called tf.data: "user", "keras", "library"; "tensorflow" for added stages
    added: bool = False
    mapped: SourceSpan | None = None
    parameters: dict[str, int | bool | str | None] = {}
    nested: int | None = None
    fused: bool = False
    self_ms_per_output: float | None = None
    self_ms_per_step: float | None = None
    share: float | None = None
    elements: float | None = None
    parallelism: float | None = None
    autotuned: bool = False
    buffer: float | None = None
    buffered_mean: float | None = None
    is_python: bool = False
    stateful_or_random: bool = False
    ops: int = 0
    element: str = ""
    bytes_per_element: int | None = None
    memory_bytes: int = 0
    padding: Padding | None = None
    filled: float | None = None
    trace_self_ms_per_step: float | None = None
    in_graph: bool = False
    begins: tuple[int, ...] = ()


class Pipeline(msgspec.Struct, frozen=True, kw_only=True):
    """A tf.data pipeline; ``stages`` from the end (what the step fetches from) to the source.

    ``in_training``: it feeds the training steps; None: unknown. ``role``: "training", "validation", "other" or
    "unknown". ``in_graph``: the name of the compiled function inside of which it is iterated over.
    ``datasets_made``: how often this pipeline was built. ``bound_by``: the index of the stage that sets the pace, see
    ``bound``. ``outputs_each``: elements that an iterator had given when it was last read. ``bound_ms_per_output``:
    the time that its slowest section takes for one batch.
    ``fetch_ms_per_step``: how long the step waits for it: seen by Python over all clean steps, or ("trace") by the
    profiler in the steps that it traced; None where neither sees it. ``fetches_per_s``: while a trace without steps
    saw it at work.
    """

    stages: tuple[Stage, ...]
    file: str
    line: int
    function: str
    role: str
    in_training: bool | None
    in_graph: str = ""
    shared: tuple[SourceSpan, ...] = ()  # the lines at which one and the same dataset is iterated, where it is several
    way: str = ""  # "fit", "evaluate", "predict": the method of Keras that iterates over it
    iterators: int = 0
    iterators_per_step: float | None = None
    datasets_made: int = 1
    outputs_per_step: float | None = None
    outputs_each: float | None = None
    bound_by: int | None = None
    bound_ms_per_output: float | None = None
    fetch_ms_per_step: float | None = None
    fetch_window: str = ""  # "baseline" or "trace"
    fetches_per_s: float | None = None
    readings: int = 0
    measured: str = ""  # "model", "trace" or ""


class Loader(msgspec.Struct, frozen=True, kw_only=True):
    """Files that a line of the user's opens during training. ``chain``: the calls to it, innermost first.

    ``loader``: the outermost of them that does nothing of the step but load; ``share_of_step`` is its share of the
    samples (0 to 1; None with too few). ``bytes_per_step``: sizes of the opened files; less may have been read.
    """

    path: str
    paths: int
    chain: tuple[SourceSpan, ...]
    loader: SourceSpan
    opens: int
    opens_per_step: float
    bytes_per_step: float
    share_of_step: float | None
    ms_per_step: float | None


class KerasInput(msgspec.Struct, frozen=True, kw_only=True):
    """Data given to a Keras model at one line. ``kind``: "PyDataset", "generator", "arrays", "tf.data", "torch".

    ``place``: the user's ``__getitem__`` or generator function. ``item_ms``: time for one batch in it, from the
    pipeline that Keras makes of it (``pipeline``: its index); None where that is not measured. ``steps``:
    steps_per_epoch, validation_steps or steps, as given.
    """

    kind: str
    way: str
    validation: bool
    file: str
    line: int
    function: str
    cls: str = ""
    place: SourceSpan | None = None
    workers: int | None = None
    use_multiprocessing: bool | None = None
    max_queue_size: int | None = None
    batch_size: int | None = None
    batches: int | None = None
    shuffle: bool | None = None
    arrays_bytes: int = 0
    padding: Padding | None = None
    steps: int | None = None
    times: int = 1
    pipeline: int | None = None
    item_ms: float | None = None


class AskedAgain(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of ``predict`` or ``evaluate`` (``way``) at one line, from ``begin_ns`` to ``end_ns``. ``repeats``: of them
    gave the result of an earlier call with the same data once more; ``before``: the line of the earlier one, where it
    was another. ``seconds`` that calls at this line took, ``in_vain``: the repeats."""

    way: str
    file: str
    line: int
    function: str
    calls: int
    repeats: int
    seconds: float
    in_vain: float
    begin_ns: int
    end_ns: int
    before: SourceSpan | None = None


class PassedTwice(msgspec.Struct, frozen=True, kw_only=True):
    """``evaluate`` at a line and ``predict`` at ``other``, called one after the other on the same inputs of a model,
    ``pairs`` times of ``calls``. ``seconds`` that ``evaluate`` took in these pairs; from ``begin_ns`` to ``end_ns``."""

    file: str
    line: int
    function: str
    other: SourceSpan
    calls: int
    pairs: int
    seconds: float
    begin_ns: int
    end_ns: int


class ShortData(msgspec.Struct, frozen=True, kw_only=True):
    """Data that ran out before the steps that Keras was given: ``asked`` batches (of an epoch), ``had`` in all.
    ``times``: whether Keras warned about the missing data. ``validation``: given to ``fit`` as such."""

    way: str
    validation: bool
    file: str
    line: int
    function: str
    asked: int
    had: int
    times: int = 1


class ConstantFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A function of the user's that gave an equal value in each of ``calls`` watched calls, in ``steps`` steps.

    Equal by type, shape and an even sample of 64 KB of the bytes. ``returns``: the value in words, ``size`` its bytes.
    ``share_of_step``: of the samples, 0 to 1; None with too few.
    """

    file: str
    line: int
    function: str
    calls: int
    steps: int
    calls_per_step: float
    returns: str
    size: int
    share_of_step: float | None


class Divided(msgspec.Struct, frozen=True, kw_only=True):
    """A pipeline that a strategy divides among workers. ``policy``: "AUTO", "FILE", "DATA" of AutoShardPolicy, "" where
    not known. ``reads_files``: so that it can be divided by files. ``by_hand``: a ``shard`` of the user's is in it. The
    place is the line that gave it to the strategy."""

    policy: str
    reads_files: bool
    by_hand: SourceSpan | None
    file: str
    line: int


class InputData(msgspec.Struct, frozen=True, kw_only=True):
    """The probe's record. ``steps`` all training steps; ``watched``: numbers of those in which values were watched.
    ``random_order``: something shuffles without a seed."""

    pipelines: tuple[Pipeline, ...] = ()
    loaders: tuple[Loader, ...] = ()
    keras: tuple[KerasInput, ...] = ()
    ran_out: tuple[ShortData, ...] = ()
    asked_again: tuple[AskedAgain, ...] = ()
    passed_twice: tuple[PassedTwice, ...] = ()
    constant_functions: tuple[ConstantFunction, ...] = ()
    steps: int = 0
    step_ms: float | None = None
    watched: tuple[int, ...] = ()
    datasets: dict[str, int] = {}  # made in all, by class
    divided: tuple[Divided, ...] = ()
    random_order: bool = False
    recording_ms: float = 0.0
    notes: tuple[str, ...] = ()
