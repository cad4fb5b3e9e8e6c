"""Reading profiler traces without TensorFlow."""

from tfperfkit.xplane.reader import (
    DEFAULT_LIMIT_BYTES,
    Event,
    Line,
    Plane,
    Space,
    StatValue,
    profile_options,
)
from tfperfkit.xplane.shared import open_space, sharing

__all__ = [
    "DEFAULT_LIMIT_BYTES",
    "Event",
    "Line",
    "Plane",
    "Space",
    "StatValue",
    "open_space",
    "profile_options",
    "sharing",
]
