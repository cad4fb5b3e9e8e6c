"""INP013: seconds pass while a tf.data iterator is destroyed.

Stack samples show the main thread without CPU time at a place where objects are freed, in a run with a tf.data
pipeline. Waits of at least 0.1 s count, and 0.5 s in all are reported. The wait is measured; that the autotuner causes
it follows from how tf.data works.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.input.model import InputData

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.clock import NS_PER_S
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, bound, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.freed import freed as waits
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence

FREED_SHARE = Threshold(
    0.1,
    "share",
    "minimum share of a run in which iterators were destroyed, for more than a remark",
    Chosen("a tenth of the run needs an explanation"),
)
FREED_GRAVE = Threshold(
    0.3,
    "share",
    "minimum share of a run in which iterators were destroyed again and again, for a predicted gain",
    Chosen("few causes take as much"),
)
FREED_AGAIN_MIN = Threshold(
    0.5,
    "share",
    "minimum share of these waits that the next run has too, so that it can be saved",
    Measured("20 iterators of a second each: 1.7 and 4.7 s, without autotuning 0.2 and 0.1 s", TWO_BUSY_CORES, 2),
)
OFTEN_FREED = Threshold(
    3,
    "number",
    "minimum number of waits for an iterator that is destroyed, for more than a single race",
    Chosen("two may be chance"),
)

TITLES = {"INP013": "Destroying a tf.data iterator blocks for seconds"}
_SWITCH = (
    "Turn autotuning off for this pipeline, and give num_parallel_calls and buffer sizes as numbers: options = "
    "tf.data.Options(); options.autotune.enabled = False; dataset = dataset.with_options(options)."
)
_KERAS = (
    "Give Keras a tf.data.Dataset with options.autotune.enabled = False instead of arrays. Or: ignore this wait "
    "in longer runs, which it hardly slows."
)


def freed(evidence: Evidence) -> Iterator[Finding]:
    """INP013: seconds in which the script waits until an iterator has gone."""
    data = evidence.offer(InputData)
    iterated = [pipeline for pipeline in data.pipelines if not pipeline.in_graph] if data is not None else []
    if not iterated:
        return  # what was freed was no iterator
    # Of arrays and of a PyDataset Keras makes the pipeline itself, and takes no options for it.
    own = any(stage.by == "user" for pipeline in iterated for stage in pipeline.stages)
    found = waits(evidence.log)
    if not found:
        return
    whole_s = sum(wait.ns for wait in found) / NS_PER_S
    longest = max(found, key=lambda wait: wait.ns)
    last = evidence.steps.steps[-1].end_ns if evidence.steps.steps else None
    when = " after the last step" if last is not None and last <= longest.begin_ns else ""
    share = min(whole_s / evidence.run.wall_s, 1.0) if evidence.run.wall_s else 0.0
    places = dict.fromkeys(wait.frames[-1] for wait in sorted(found, key=lambda wait: -wait.ns))
    # A smaller part may be gone in the next run, and the user's own causes come first.
    large = share >= FREED_GRAVE.value
    # A race of TensorFlow's own: the next run may wait for less, or not at all. A wait that comes back does so each
    # time.
    comes_back = len(found) >= OFTEN_FREED.value
    if len(found) > 1:
        title = f"Destroying tf.data iterators blocks for {whole_s:.1f} s, {len(found)} times"
    else:
        title = f"Destroying a tf.data iterator blocks for {whole_s:.1f} s{when}"
    yield Finding(
        code="INP013",
        severity="low" if share >= FREED_SHARE.value and (own or large) else "info",
        basis="run",
        share_of_step=share,
        title=title,
        gain=price(Rewrite(), Part(FREED_AGAIN_MIN.value * share, share)) if large and comes_back else bound(share),
        where=tuple(SourceSpan(frame.file, frame.line, frame.name) for frame in list(places)[:3]),
        evidence=(
            Measurement("longest wait for an iterator", longest.ns / NS_PER_S, "s", "samples"),
            Measurement("waits for an iterator", len(found), "count", "samples"),
            Measurement("time in all these waits", whole_s, "s", "samples"),
            Measurement("share of the run in these waits", share, "share", "run"),
        ),
        advice=_SWITCH if own else _KERAS,
        detail=(
            "The main thread was blocked destroying a tf.data iterator, which waits for its threads to exit. "
            "One of them, tf.data's autotuner, can sleep for up to a minute, and TensorFlow sometimes fails to wake it "
            "(a TensorFlow race condition, also without tfperf)."
        ),
    )
