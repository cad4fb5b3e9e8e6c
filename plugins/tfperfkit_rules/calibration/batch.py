"""Numbers of the rules about the batch's size."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Cited, Measured, Threshold
from tfperfkit_rules.calibration.machines import MEASURED_ON

TRY = Threshold(32, "examples", "the batch to try", Cited("Keras' default: Model.fit(batch_size=32)"))
SEEN_MS = Threshold(
    0.02,
    "ms",
    "from which a rest is named beside figures of a hundredth of a millisecond",
    Chosen("twice the last digit"),
)
SMALL = Threshold(
    16, "examples", "up to so many are a small batch", Chosen("half of the batch to try: else little is to be gained")
)
TINY = Threshold(
    4,
    "examples",
    "up to so many a larger batch is the first thing to try, whatever else helps",
    Chosen("an eighth of the batch to try: no other change of a step's overhead gains as much"),
)
UP_TO = Threshold(64, "examples", "the batch that the range's upper end stands for", Chosen("twice the one to try"))
AT_LEAST_TIMES = Threshold(
    4,
    "number",
    "the range's lower end stands for so many times the batch",
    Chosen("what also the largest tiny one gains"),
)
GROWS_MIN = Threshold(
    0.3,
    "share",
    "of the work of operations on so little, what grows with the batch at best: vector units and threads are idle",
    Measured(
        "0.04 to 0.63, median 0.23; it was 0.3 from pairs of runs (2 to 64 examples gained 26 to 37 times, 1 to 32 "
        "gained 28 to 30 times) and stays, since the measure has it near its middle",
        MEASURED_ON,
        38,
        "batch_growth",
    ),
)
INPUT_GROWS = Threshold(
    0.5,
    "share",
    "of the hand-over of a batch, what grows with it at worst",
    Chosen("half: the call of the iterator stays as it is, the copy grows"),
)
MIN_FIXED = Threshold(
    0.6, "share", "of the step, what does not depend on the batch", Chosen("clearly more than half of it is overhead")
)
MAX_OTHER = Threshold(
    0.3,
    "share",
    "of the step in things that are no business of the batch's size: with more, those come first",
    Chosen("half of what must be overhead, MIN_FIXED"),
)
MIN_STEPS = Threshold(
    200, "steps", "fewer pass quickly either way", Chosen("seconds, at the milliseconds that such a step takes")
)
