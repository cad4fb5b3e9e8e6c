"""Reading profiler traces without TensorFlow."""

from tfperfkit.xplane.reader import (
    DEFAULT_LIMIT_BYTES,
    Event,
    Line,
    Plane,
    Space,
    StatValue,
    open_space,
    profile_options,
)

__all__ = ["DEFAULT_LIMIT_BYTES", "Event", "Line", "Plane", "Space", "StatValue", "open_space", "profile_options"]
