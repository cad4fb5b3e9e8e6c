"""Conclusions of a report: fix something first, no fault is known, or no cause is known."""

from __future__ import annotations

import msgspec


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of a report, in parts that each surface lays out its own way.

    ``verdict``: a few words, "First" where the first finding is to be fixed. ``why``: where the time goes, without a
    full stop. The other parts are sentences, or "": ``limit`` says what bounds the computing, ``look`` how to look
    further, ``between`` what passes between steps, ``also`` a finding or a choice that gains little.
    """

    verdict: str
    why: str
    limit: str = ""
    look: str = ""
    between: str = ""
    also: str = ""

    @property
    def headline(self) -> str:
        """Return the verdict and where the time goes, as one sentence."""
        return f"{self.verdict}: {self.why}." if self.why else f"{self.verdict}."

    @property
    def text(self) -> str:
        """All of it as sentences."""
        return " ".join(filter(None, (self.headline, self.look, self.limit, self.between, self.also)))


#: The first finding is to be fixed first.
FIRST = "First"
#: The report names no cause of the time.
NO_CAUSE = "No cause found"
#: A step computes about as fast as the machine can, and waits for nothing. That is all that is known: the work itself
#: may be needless, as ``NEEDED`` says.
NO_FAULT = "No known fault"
#: The reason that follows each ``NO_FAULT`` of a step.
NEEDED = "computing runs at this machine's speed; no rule can tell whether all of it is needed"
#: The user has silenced each finding.
SILENCED = "All findings are silenced"
START_UP = "Mostly startup"
#: Startup is the largest part of the run, but not the larger half.
LARGEST_START_UP = "Startup is the largest part"
#: Ending the process is the largest part: a one-time cost at both ends.
LARGEST_ENDS = "Startup and exit are the largest part"
#: A script ended with an error before anything in it was repeated.
FAILED_EARLY = "Script failed"
#: A signal killed the run while a probe measured.
KILLED = "Script killed"
NOT_PROFILED = "Not profiled"
#: End of a verdict whose cause is another choice, such as a larger batch.
ROOM = ", but room"
