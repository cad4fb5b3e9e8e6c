"""A rule about graphs: one class in one file, with its code, title, thresholds, detection and advice.

The file has the thresholds as ``tfperfkit.calibration.Threshold``. An instance of the class is the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, Generic

from tfperfkit_probes.ops.model import Brief

from tfperfkit.graph.recorded import RecordedFunction
from tfperfkit.graph.view import View
from tfperfkit.model import Finding, Measurement
from tfperfkit.remedy import Remedy, ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import C, collect_causes
from tfperfkit_rules.graph.pricing import Part, finding, functions_that_ran, parts_of
from tfperfkit_rules.measures.ran_here import choose_graphs


class GraphRule(Generic[C]):
    """``find`` looks at one graph; ``report`` puts into words what takes enough of the step.

    ``find`` is a pure function of the view, and is asked once for each graph of a run.
    """

    code: ClassVar[str]
    #: The heading of the finding's page, without numbers or names.
    title: ClassVar[str]
    remedy: ClassVar[Remedy] = ReplaceOps("fewer")

    def __init__(self) -> None:
        self.__name__ = type(self).__name__

    def find(self, view: View) -> Iterable[C]:
        """Yield the causes in one graph."""
        raise NotImplementedError

    def report(self, evidence: Evidence, part: Part[C]) -> Finding:
        """Put a cause that takes enough of the step into words, by ``self.finding``."""
        raise NotImplementedError

    def __call__(self, evidence: Evidence) -> Iterator[Finding]:
        for part in self.parts(evidence):
            yield self.report(evidence, part)

    def parts(self, evidence: Evidence) -> Iterator[Part[C]]:
        """Yield the causes that take enough of the step, or of a work's iteration, the costliest first."""
        yield from parts_of(evidence, self.candidates(evidence))

    def candidates(self, evidence: Evidence) -> Iterator[tuple[Brief, C]]:
        """Yield the causes in the functions that the steps called, whatever they take."""
        for function in functions_that_ran(evidence):
            for cause in self.causes_in(evidence, function):
                yield function, cause

    def causes_in(self, evidence: Evidence, function: Brief) -> list[C]:
        """All causes in a function."""
        graphs = choose_graphs(evidence)
        return graphs.once(self.__name__, function.graph, self._causes) if graphs is not None else []

    def _causes(self, function: RecordedFunction) -> list[C]:
        found = ((view, times, cause) for view, times in function.bodies for cause in self.find(view))
        return collect_causes(function, found)

    def finding(
        self, evidence: Evidence, part: Part[C], title: str, advice: str, detail: str, *figures: Measurement
    ) -> Finding:
        """The finding with its price. ``figures`` are of the graph: see ``pricing.count``."""
        return finding(evidence, part, self.code, title, advice, detail, *figures, remedy=self.remedy)
