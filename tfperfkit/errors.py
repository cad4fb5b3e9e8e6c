"""Errors of tfperf, and the exit status each mistake gives.

The exit status of ``tfperf run`` is the script's own; these apply only where the script could not be
started or where another command failed.
"""

from __future__ import annotations

#: A mistake in our command line or configuration, or input we cannot use.
EXIT_USAGE = 2
#: ``tfperf doctor`` found something wrong.
EXIT_CHECK_FAILED = 1


class TfperfError(Exception):
    """An error that the user can fix. ``str(error)`` is one line that says what to do.

    Shown on stderr without a traceback; ``exit_status`` is the status of the command.
    """

    exit_status = EXIT_USAGE


class UsageError(TfperfError):
    """A mistake in the command line or the configuration."""


class RunDirectoryError(TfperfError):
    """A run directory that is missing, not ours, of another schema, or damaged beyond use."""


class ProbeError(TfperfError):
    """A probe that is unknown, can't be loaded, or breaks the contract."""


class Unavailable(TfperfError):
    """Something could not be observed; the message is the reason that the report prints.

    Raised by an instrument whose seam is missing in this TensorFlow, or by a probe that can't work here.
    """


class Busy(Unavailable):
    """The script uses a resource that a window needs, and may free it later: the window is asked for again."""
