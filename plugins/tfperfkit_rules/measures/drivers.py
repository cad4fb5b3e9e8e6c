"""Lines that hand the loop over to a library, which calls the script back: an optimizer of SciPy's, for example."""

from __future__ import annotations

from tfperfkit.records.samples import TENSORFLOW, Frame
from tfperfkit.rule import Evidence

#: NumPy that calls back for each element (``np.vectorize``) is the user's to write otherwise; TensorFlow's and Keras'
#: Python have a part of their own.
_NO_DRIVERS = ("numpy", *TENSORFLOW)


def find_drivers(evidence: Evidence) -> frozenset[Frame]:
    """Find the frames that hand the steps over to a library: an optimizer of SciPy's that calls for loss and gradient.

    The library's work between two calls is its algorithm, which no line of the user's can do elsewhere.
    """
    return frozenset(
        frame
        for stack in evidence.samples.stacks
        if stack.activity == "graph"
        for frame in stack.frames[:-1]
        if frame.calls and frame.calls[0].partition(".")[0].partition(":")[0] not in _NO_DRIVERS
    )
