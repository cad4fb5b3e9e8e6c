"""Runs a workload, and takes tfperf's hooks and sampler away and puts them back, in turn, within one process.

``steady.py WORKLOAD STEPS WARM BLOCK SETTLE ROUNDS [watch]``: after ``WARM`` steps and the windows, blocks of ``BLOCK``
steps without them ("off"), without them again ("same"), with the hooks alone, by Python only ("python") and as they
are, and with hooks and sampler ("on"), each round in an order of its own. Prints the seconds of each block. Parts that
can't be removed are in all of them: the audit hook, and wrappers that no step calls.

In watch mode the sides are the hooks alone ("hooks"), and with all that the pulse does there, its samples, rows and
writes: as in the first ten minutes ("young"), and as later ("old"). Without them the pulse wakes up all the same.
"""

import json
import os
import random
import runpy
import sys
import time

import session_hooks
import timing

SIDES = {
    "off": (False, False),
    "same": (False, False),
    "python": (True, False),
    "hooks": (True, False),
    "on": (True, True),
}
WATCH = sys.argv[7:] == ["watch"]
if WATCH:
    SIDES = {
        "off": (False, False),
        "same": (False, False),
        "hooks": (True, False),
        "young": (True, True),
        "old": (True, True),
    }
#: How old the run is then, in ns: of its own pace are the first minute, the first ten, and what follows.
AGES = {"young": 120 * 10**9, "old": 3600 * 10**9}
SETTLE = int(sys.argv[5])  # steps after a change that are not timed
IDLE_S = 0.05


class Turns:
    """Told of each step, it changes sides between blocks."""

    def __init__(self, warm, block, rounds):
        self.warm, self.block, self.rounds = warm, block, rounds
        self.left = warm
        self.sides = []
        self.side = ""
        self.timing = False
        self.begin = 0.0
        self.seams = []
        self.taken = {side: [] for side in SIDES}
        self.sampling = True

    def stepped(self):
        if self.left > 0:
            self.left -= 1
            return
        now = time.perf_counter()
        if not self.side:
            if not self.take_over():
                self.left = self.warm // 10
                return
        elif not self.timing:  # the settling is over
            self.timing, self.left, self.begin = True, self.block - 1, time.perf_counter()
            return
        else:
            self.taken[self.side].append(now - self.begin)
        if not self.sides:
            if self.rounds == 0:
                self.end()
            self.rounds -= 1
            self.sides = random.sample(list(SIDES), len(SIDES))
        self.change(self.sides.pop())
        self.timing, self.left = False, SETTLE - 1

    def take_over(self):
        """Find the hooks of the session, and stand between its pulse and its tick; False: the windows are not over."""
        session = session_hooks.settled()
        if session is None:
            return False
        self.seams = session_hooks.hooks()
        self.session, self.state = session, session.markers._state
        tick = session.pulse._tick
        session.pulse._tick = lambda: tick() if self.sampling else IDLE_S
        return True

    def end(self):
        print("STEADY " + json.dumps(self.taken), flush=True)
        os._exit(0)  # threads of the workload may still be at work

    def change(self, side):
        self.session.flush()  # what one side has noted is not another's to write
        hooks, self.sampling = SIDES[side]
        self.side = side
        self.state.held = side == "python"  # then C code leaves each call to Python
        if side in AGES:
            self.session._long._begun = time.monotonic_ns() - AGES[side]
        for owner, name, hook in self.seams:
            setattr(owner, name, hook if hooks else hook.original)


workload, steps, warm, block = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
turns = Turns(warm, block, int(sys.argv[6]))
timing.stepped = turns.stepped
sys.argv = [workload, steps]
runpy.run_path(workload, run_name="__main__")
sys.exit("the loop ended before all rounds were done")
