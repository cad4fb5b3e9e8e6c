"""The machines of the measured numbers."""

from __future__ import annotations

#: By ``python -m benchmarks.calibrate --rounds 5``.
MEASURED_ON = "two cores of an AMD EPYC at a load of 6 to 9, TensorFlow 2.21, Python 3.11"
#: The same, with nothing else on the machine.
MEASURED_QUIET = "two cores of an AMD EPYC at a load of 0.5, TensorFlow 2.21, Python 3.11"
#: By hand, once; not repeated since, or repeated under so much load that the result says nothing.
TWO_BUSY_CORES = "two cores shared with other work, TensorFlow 2.21, by hand"
