"""Runs a workload, and takes parts of tfperf's markers away and puts them back, in turn, within one process.

``marker_parts.py WORKLOAD STEPS WARM BLOCK SETTLE ROUNDS``, as ``steady.py``. Sides: no hooks; no hooks again; hooks
that walk the stack at each call, as before callers were remembered; hooks as they are; and with a clock around the
walk, around the recognition, and around the question whether TensorFlow runs eagerly. Prints of each block its seconds,
the ns that the hooks say they took, and what that clock measured.
"""

import json
import os
import random
import runpy
import sys
import time

import session_hooks
import timing

SETTLE = int(sys.argv[5])
SIDES = ("off", "same", "walk", "known", "site timed", "walk timed", "eager timed")


class Turns:
    def __init__(self, warm, block, rounds):
        self.warm, self.block, self.rounds, self.left = warm, block, rounds, warm
        self.sides, self.side, self.timing, self.begin, self.cost = [], "", False, 0.0, 0
        self.seams, self.measured = [], []
        self.taken = {side: [] for side in SIDES}

    def stepped(self):
        if self.left > 0:
            self.left -= 1
            return
        now = time.perf_counter()
        if not self.side:
            if not self.take_over():
                self.left = self.warm // 10
                return
        elif not self.timing:
            self.measured.clear()
            self.cost = self.markers.cost_ns
            self.timing, self.left, self.begin = True, self.block - 1, time.perf_counter()
            return
        else:
            parts = sorted(self.measured)
            part = parts[len(parts) // 2] if parts else 0
            self.taken[self.side].append((now - self.begin, (self.markers.cost_ns - self.cost) / self.block, part))
        if not self.sides:
            if self.rounds == 0:
                print("PARTS " + json.dumps(self.taken), flush=True)
                os._exit(0)
            self.rounds -= 1
            self.sides = random.sample(SIDES, len(SIDES))
        self.change(self.sides.pop())
        self.timing, self.left = False, SETTLE - 1

    def take_over(self):
        from tfperfkit.instruments.steps import sites

        session = session_hooks.settled()
        if session is None:
            return False
        self.markers, self.callers = session.markers, sites.Callers
        self.original = (sites.Callers.site, sites.Callers.remember, session.markers._eager)
        self.seams = session_hooks.hooks()
        tick = session.pulse._tick
        session.pulse._tick = lambda: tick() if self.side not in ("off", "same") else 0.05
        return True

    def timed(self, function):
        clock, note = time.perf_counter_ns, self.measured.append

        def call(*arguments):
            begin = clock()
            found = function(*arguments)
            note(clock() - begin)
            return found

        return call

    def change(self, side):
        self.side = side
        site, remember, eager = self.original
        walks = side.startswith("walk")
        self.callers.site = (lambda self, above: None) if walks else site
        self.callers.remember = (lambda *_: None) if walks else remember
        self.markers._eager = self.timed(eager) if side == "eager timed" else eager
        book = self.markers._state.sites
        book.__dict__.pop("find", None)
        if side == "walk timed":
            book.find = self.timed(book.find)
        elif side == "site timed":
            timed = self.timed(lambda known, above: site(known, above + 1 + 1))
            self.callers.site = lambda known, above: timed(known, above)
        for owner, name, hook in self.seams:
            setattr(owner, name, hook.original if side in ("off", "same") else hook)


workload, steps, warm, block = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
turns = Turns(warm, block, int(sys.argv[6]))
timing.stepped = turns.stepped
sys.argv = [workload, steps]
runpy.run_path(workload, run_name="__main__")
sys.exit("the loop ended before all rounds were done")
