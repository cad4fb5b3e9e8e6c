"""The order of trials: rounds of one plain run and one of each change, shuffled, within a budget of time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from tfperfkit.records.trials import Measured, TrialPlan
from tfperfkit.trials.judging import ROUNDED, Variant, decided, measured
from tfperfkit.trials.outcome import Outcome

#: Rounds of a change, unless the time is over: fewer give an interval that says little.
MIN_ROUNDS = 3
MAX_ROUNDS = 12
#: Runs of ``ROUNDED``: of three nudges of one GAN two went as far as its compiled step, one a sixth as far.
_ROUNDED_RUNS = 3
PLAIN = "as it is"


class Runner(Protocol):
    """Runs one trial; ``variant`` None is the script as it is."""

    def __call__(self, variant: Variant | None, plan: TrialPlan) -> Outcome: ...


class Budget:
    """Seconds that all trials may take together."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._begun = now()
        self.seconds = seconds

    @property
    def passed(self) -> float:
        """Since it began."""
        return self._now() - self._begun

    @property
    def left(self) -> float:
        """Return the rest of the budget in seconds."""
        return self.seconds - self.passed


class Group:
    """Changes that are compared with the same plain runs. ``plain``: those that have run already."""

    def __init__(self, run: Runner, budget: Budget, plan: TrialPlan, dice: random.Random, brief: bool = False) -> None:
        self._run, self._budget, self._plan, self._dice, self._brief = run, budget, plan, dice, brief
        self.plain: list[Outcome] = []
        #: By variant, the plain run and the changed one of each round.
        self._pairs: dict[str, list[tuple[Outcome, Outcome]]] = {}
        #: Runs that only round otherwise, made when results differ.
        self._rounded: list[Outcome] = []
        self._longest = 0.0
        #: Duration of the last trial of each, in seconds; None: of the script as it is.
        self._took: dict[str | None, float] = {}
        self.interrupted = False

    def begin(self) -> Outcome:
        """Return the first plain run, whose number of steps all others get."""
        outcome = self._trial(None)
        self.plain.append(outcome)
        end = outcome.end
        if end.stopped and not self._plan.whole:
            self._plan = msgspec.structs.replace(self._plan, steps=end.steps, limit_s=self._limit(outcome))
        return outcome

    def _limit(self, outcome: Outcome) -> float:
        """Return the time limit: a change may make steps slower, up to a point."""
        return min(self._plan.limit_s, 20.0 + 4 * outcome.seconds)

    @property
    def room(self) -> bool:
        """Return whether one more pair fits into the budget."""
        return self._time_for(None, None)

    @property
    def capacity(self) -> int:
        """Return how many changes fit into what is left of the budget, one at least."""
        if not self._longest:
            return 1
        return max(int(self._budget.left / (MIN_ROUNDS * self._longest)) - 1, 1)

    def measure(self, variants: Sequence[Variant], rounds: int = MAX_ROUNDS) -> list[Measured]:
        """All of them side by side, until each is decided or the time is over. Ctrl-C ends it too."""
        active = list(variants)
        results: dict[str, Measured] = {}
        try:
            for number in range(rounds):
                if not active or (number > 0 and not self._time_for(None, *active)):
                    break
                active = self._round(number, active, results)
                made = len(self._rounded)
                if made < _ROUNDED_RUNS and any(_may_round(item, results[item.text]) for item in variants):
                    self._rounded.append(self._trial(msgspec.structs.replace(ROUNDED, nudge=made + 1)))
        except KeyboardInterrupt:
            self.interrupted = True
        for variant in variants:
            results[variant.text] = self._judge(variant)
        return [results[variant.text] for variant in variants]

    def _round(self, number: int, active: list[Variant], results: dict[str, Measured]) -> list[Variant]:
        order: list[Variant | None] = [*active]
        fresh = number == 0 and len(self.plain) == 1 and not self._pairs
        self._dice.shuffle(order)
        if not fresh:
            order.insert(self._dice.randrange(len(order) + 1), None)
        made: list[tuple[Variant, Outcome]] = []
        plain = self.plain[-1] if fresh else None
        for variant in order:
            outcome = self._trial(variant)
            if variant is None:
                plain = outcome
                self.plain.append(outcome)
            else:
                made.append((variant, outcome))
            if plain is not None:
                for changed, other in made:
                    self._pairs.setdefault(changed.text, []).append((plain, other))
                made.clear()
        rest = []
        for variant in active:
            results[variant.text] = self._judge(variant)
            if not decided(results[variant.text], len(self._pairs.get(variant.text, ())), MIN_ROUNDS, self._brief):
                rest.append(variant)
        return rest

    def _judge(self, variant: Variant) -> Measured:
        pairs = self._pairs.get(variant.text, [])
        return measured(variant, [a for a, _ in pairs], [b for _, b in pairs], self._rounded)

    def _trial(self, variant: Variant | None) -> Outcome:
        begun = self._budget.passed
        outcome = self._run(variant, self._plan)
        took = self._budget.passed - begun
        self._longest = max(self._longest, took)
        self._took[variant.text if variant else None] = took
        return outcome

    def _time_for(self, *trials: Variant | None) -> bool:
        """Each is taken to last as it did before, one that has not run yet as the longest did."""
        needed = sum(self._took.get(item.text if item else None, self._longest) for item in trials)
        return self._budget.left >= 0.9 * needed


def _may_round(variant: Variant, item: Measured) -> bool:
    """Return whether a difference of results may be rounding that training has amplified."""
    return variant.keeps == "mathematics" and "differ" in (item.results, item.outputs) and item.verdict != "failed"
