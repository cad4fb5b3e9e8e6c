"""A trial in its own process: the changes are made as TensorFlow has come, and after its steps the process ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from tfperfkit import registry
from tfperfkit.clock import NS_PER_S, now_ns, process_ns
from tfperfkit.errors import ProbeError, Unavailable
from tfperfkit.instruments.changes import edited, results
from tfperfkit.instruments.changes.results import seed
from tfperfkit.instruments.hooks.interrupts import words_of
from tfperfkit.records.trials import Change, TrialEnd, TrialPlan
from tfperfkit.storage.run_directory import RunDirectory
from tfperfkit.storage.stream_writer import Stream

#: After this many times the time that is asked for, so many steps are enough.
_SLOW, _MIN_SLOW = 2.5, 3
#: If the steps that a run has to make are over sooner than that after the warm-up, it goes on until then, for up to so
#: many times the steps: 30 steps of 2 ms show no reliable time, and a script's later steps may differ.
_TIMED_NS, _MAX_TIMES = NS_PER_S, 10


class TrialPort(Protocol):
    """Session as a trial uses it."""

    run: RunDirectory

    def stream(self, name: str) -> Stream: ...
    def when_keras(self, callback: Callable[[], object]) -> None: ...
    def is_user(self, filename: str) -> bool: ...
    def finish(self) -> None: ...


class _Changing:
    """See ``tfperfkit.experiment.Trial``: one change of this trial."""

    def __init__(self, port: TrialPort, end: dict[str, Any], text: str) -> None:
        self._port, self._end, self._text = port, end, text
        self._end["applied"].setdefault(text, 0)

    def when_keras(self, callback: Callable[[], object]) -> None:
        def safely() -> None:
            try:
                callback()
            except Exception as error:
                self.refuse(str(error) if isinstance(error, Unavailable) else words_of(error))

        self._port.when_keras(safely)

    def is_user_code(self, filename: str) -> bool:
        return self._port.is_user(filename)

    def applied(self) -> None:
        self._end["applied"][self._text] += 1

    def refuse(self, reason: str) -> None:
        self._end["refused"][self._text] = reason  # what is said later is said of more


class TrialRunner:
    """Makes the changes of a plan, and ends the process when its steps are done."""

    def __init__(self, port: TrialPort, plan: TrialPlan) -> None:
        self._port = port
        self._plan = plan
        self._end: dict[str, Any] = {"applied": {}, "refused": {}}
        self._contexts: list[AbstractContextManager[None]] = []
        self._begun = now_ns()
        self._steady_ns = 0
        self._processor = None if plan.whole else port.stream("processor")
        self._steps = self._first_steps = self._nudged = 0
        self._losses = results.Losses()
        self._updates = 0
        self._result: tuple[int, str, list[float]] | None = None
        self._over = False

    def arm(self) -> None:
        """TensorFlow has been imported."""
        seed()
        self._port.when_keras(self._losses.install)
        for change in self._plan.changes:
            self._make(change)

    def _make(self, change: Change) -> None:
        trial = _Changing(self._port, self._end, change.text)
        try:
            experiment = registry.load_experiment(change.experiment)
            context = experiment.install(trial, change)
            context.__enter__()
            self._contexts.append(context)
            if (decorate := getattr(experiment, "decorate", None)) is not None:
                for name in experiment.edits(change):  # type: ignore[attr-defined]
                    edited.provide(name, lambda function: decorate(trial, change, function))
        except (Unavailable, ProbeError) as reason:
            trial.refuse(str(reason))
        except (Exception, SystemExit) as error:
            trial.refuse(f"it failed: {words_of(error)}")

    def boundary(self, number: int) -> None:
        """Step ``number`` is about to begin."""
        plan, now = self._plan, now_ns()
        self._steps = done = number - 1
        if done >= 1 and not self._first_steps:
            self._keep_first()
        if self._processor is None:
            return
        self._processor.append([now, process_ns(), None])
        if done >= plan.warm_steps and not self._steady_ns:
            self._steady_ns = now
        passed = now - self._steady_ns if self._steady_ns else 0
        if plan.steps is not None:
            enough = done >= plan.steps and (passed >= _TIMED_NS or done >= _MAX_TIMES * plan.steps)
            if done >= plan.steps and not enough and self._result is None:
                self._keep_result()
                self._processor.append([now_ns(), process_ns(), None])  # what that took is part of no step
        else:
            steady = done - plan.warm_steps
            long = passed >= plan.seconds * NS_PER_S
            enough = ((long and steady >= plan.min_steps) or done >= plan.max_steps) and done % plan.multiple == 0
            # Of steps that take a second each, twenty are more than anybody waits for.
            enough = enough or (passed >= _SLOW * plan.seconds * NS_PER_S and steady >= _MIN_SLOW)
        if enough or now - self._begun > plan.limit_s * NS_PER_S:
            self._stop()

    def _stop(self) -> None:
        self.finish(stopped=True)
        self._port.finish()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass
        os._exit(0)

    def _keep_first(self) -> None:
        """Keep the weights after the first step, before training amplifies rounding; then nudge them if that is asked
        for."""
        self._first_steps = self._steps
        try:
            results.keep_weights(self._port.run.path / "first_weights.npy")
            self._nudged = results.nudge_weights(self._plan.nudge) if self._plan.nudge else 0
        except Exception as error:
            self._end["refused"].setdefault("", f"the first step can't be compared: {words_of(error)}")

    def _keep_result(self) -> tuple[int, str, list[float]]:
        """Steps, digest and losses as they are now."""
        try:
            digest = results.keep_weights(self._port.run.path / "weights.npy")
        except Exception as error:  # a framework of another version; the times are there all the same
            self._end["refused"].setdefault("", f"the results can't be compared: {words_of(error)}")
            digest = ""
        try:
            self._updates = results.count_updates()
        except Exception:  # of another Keras, or of a graph: then steps alone are compared
            self._updates = 0
        self._result = self._steps, digest, self._losses.values()
        return self._result

    def finish(self, *, stopped: bool = False) -> None:
        """Write down what the parent wants to know. Does nothing twice."""
        if self._over:
            return
        self._over = True
        whole = process_ns()
        steps, digest, losses = self._result or self._keep_result()
        end = TrialEnd(
            stopped=stopped,
            steps=steps,
            digest=digest,
            losses=losses,
            first_steps=self._first_steps,
            nudged=self._nudged,
            updates=self._updates,
            whole_processor_ns=whole,
            **self._end,
        )
        try:
            self._port.run.write_json("trial.json", end)
        except OSError:
            pass
        for context in reversed(self._contexts):
            try:
                context.__exit__(None, None, None)
            except (Exception, SystemExit):
                pass
        self._losses.restore()
