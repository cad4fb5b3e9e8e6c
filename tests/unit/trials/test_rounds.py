"""Which trials run, in which order, and when it is enough."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import msgspec

from tfperfkit.records.trials import TrialEnd, TrialPlan
from tfperfkit.trials.judging import ROUNDED, Variant
from tfperfkit.trials.outcome import Outcome
from tfperfkit.trials.outputs import Outputs
from tfperfkit.trials.rounds import MAX_ROUNDS, MIN_ROUNDS, Budget, Group


class Machine:
    """Trials that take ten seconds each; ``ns`` of a step by the text of the variant, "" for none."""

    def __init__(self, ns: dict[str, Callable[[], float]], seconds: float = 1e9) -> None:
        self.ns = ns
        self.now = 0.0
        self.ran: list[str] = []
        self.plans: list[TrialPlan] = []
        self.budget = Budget(seconds, lambda: self.now)
        self.group = Group(self, self.budget, TrialPlan(), random.Random(1))

    def __call__(self, variant: Variant | None, plan: TrialPlan) -> Outcome:
        text = variant.text if variant else ""
        self.now += 10
        self.ran.append(text)
        self.plans.append(plan)
        end = TrialEnd(stopped=True, steps=40)
        return Outcome(unit="step", ns=self.ns[text](), batch_size=8, steps=40, minute=100.0, end=end, seconds=10.0)


def steady(value: float) -> Callable[[], float]:
    return lambda: value


def test_a_clear_gain_takes_three_pairs() -> None:
    machine = Machine({"": steady(10.0), "a": steady(5.0)})
    machine.group.begin()
    (item,) = machine.group.measure([Variant(text="a")])
    assert (item.verdict, item.pairs) == ("faster", MIN_ROUNDS)
    assert item.speedup is not None and abs(item.speedup - 2) < 1e-9
    assert Counter(machine.ran) == {"": MIN_ROUNDS, "a": MIN_ROUNDS}


def test_results_that_differ_are_compared_with_a_run_that_rounds_otherwise() -> None:
    """Only of a change that keeps the mathematics: of one that keeps the results any difference is one."""

    class Printing(Machine):
        def __call__(self, variant: Variant | None, plan: TrialPlan) -> Outcome:
            made = super().__call__(variant, plan)
            printed = {"": "loss 0.50", "a": "loss 0.52"}.get(self.ran[-1], "loss 0.47")
            return msgspec.structs.replace(made, outputs=Outputs(printed=printed))

    for keeps, outputs, extra in (("mathematics", "same", 1), ("results", "differ", 0)):
        machine = Printing({"": steady(10.0), "a": steady(5.0), ROUNDED.text: steady(10.0)})
        machine.group.begin()
        (item,) = machine.group.measure([Variant(text="a", keeps=keeps)])
        assert (item.verdict, item.outputs, machine.ran.count(ROUNDED.text)) == ("faster", outputs, extra)


def test_noise_is_given_more_pairs_and_no_verdict() -> None:
    dice = random.Random(3)
    machine = Machine({"": lambda: dice.lognormvariate(0, 0.3), "a": lambda: dice.lognormvariate(0, 0.3)})
    machine.group.begin()
    (item,) = machine.group.measure([Variant(text="a")])
    assert item.pairs == MAX_ROUNDS
    assert item.verdict == "no difference"
    assert item.needed_pairs is not None and item.needed_pairs > MAX_ROUNDS


def test_the_order_within_rounds_changes() -> None:
    machine = Machine({"": steady(10.0), "a": steady(9.0), "b": steady(9.0)})
    machine.group.begin()
    machine.group.measure([Variant(text="a"), Variant(text="b")])
    rounds = [tuple(machine.ran[index : index + 3]) for index in range(0, len(machine.ran), 3)]
    assert all(sorted(each) == ["", "a", "b"] for each in rounds)
    assert len(set(rounds)) > 1


def test_the_budget_holds_but_for_the_first_round() -> None:
    machine = Machine({"": steady(10.0), "a": steady(5.0)}, seconds=45)
    machine.group.begin()
    (item,) = machine.group.measure([Variant(text="a")])
    assert item.pairs == 2 and machine.now <= 45
    hurried = Machine({"": steady(10.0), "a": steady(5.0)}, seconds=1)
    hurried.group.begin()
    (item,) = hurried.group.measure([Variant(text="a")])
    assert (item.pairs, item.verdict, item.interval) == (1, "undecided", None)


def test_all_trials_make_the_steps_of_the_first() -> None:
    machine = Machine({"": steady(10.0), "a": steady(5.0)})
    machine.group.begin()
    machine.group.measure([Variant(text="a")])
    assert machine.plans[0].steps is None
    assert {plan.steps for plan in machine.plans[1:]} == {40}


def test_what_fails_is_not_run_again() -> None:
    machine = Machine({"": steady(10.0), "a": steady(5.0)})
    machine.group.begin()
    ordinary = machine.__call__

    def failing(variant: Variant | None, plan: TrialPlan) -> Outcome:
        made = ordinary(variant, plan)
        return Outcome(error="ValueError: no") if variant is not None and variant.text == "bad" else made

    machine.ns["bad"] = steady(1.0)
    machine.group._run = failing
    bad, good = machine.group.measure([Variant(text="bad"), Variant(text="a")])
    assert (bad.verdict, bad.reason) == ("failed", "ValueError: no")
    assert good.verdict == "faster"
    assert machine.ran.count("bad") == 1


def test_ctrl_c_leaves_what_was_measured() -> None:
    machine = Machine({"": steady(10.0), "a": steady(5.0)})
    machine.group.begin()
    ordinary = machine.__call__

    def interrupted(variant: Variant | None, plan: TrialPlan) -> Outcome:
        if len(machine.ran) == 5:
            raise KeyboardInterrupt
        return ordinary(variant, plan)

    machine.group._run = interrupted
    (item,) = machine.group.measure([Variant(text="a")])
    assert machine.group.interrupted
    assert item.pairs == 2 and item.verdict == "faster"


def test_how_many_changes_have_room() -> None:
    machine = Machine({"": steady(10.0)}, seconds=130)
    machine.group.begin()
    assert machine.group.capacity == 3  # four trials of ten seconds, three times
