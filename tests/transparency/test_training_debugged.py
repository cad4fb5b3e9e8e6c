"""Scripts that trace, debug or profile their own training, inside the windows of our probes and across their ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same
from training import STEPS

#: The steps of the windows that these programs step into; the probe ``input`` looks at 2, 3, 150 and 151.
#: Functions are named, so that the window of lines opens whatever the samples of so short a run have seen.
WINDOWS = (
    "--lines",
    "work,one_step,train",
    "--window",
    "lines=20:40",
    "--window",
    "devices=65:10",
    "--window",
    "tfprof=80:30",
)

TRACERS = (
    STEPS
    + """
seen = {}
def tracer(frame, event, arg):
    if frame.f_code.co_filename == __file__:
        key = event, frame.f_code.co_name
        seen[key] = seen.get(key, 0) + 1
        return tracer
def each(n):
    if n in (30, 70, 90, 155): sys.settrace(tracer)  # in the window of lines, after it, in that of tfprof, after all
    if n in (50, 75, 100, 160): sys.settrace(None)
    if n == 55: sys.settrace(tracer)  # across the end of the window
    if n == 65: print('still mine', sys.gettrace() is tracer); sys.settrace(None)
train(170, each)
print(sorted(seen.items())); seen.clear()
print(sys.gettrace(), sys.getprofile(), hexed(losses))
"""
)

RESTORED = (
    STEPS
    + """
kept = {}
calls = []
def mine(frame, event, arg):
    if frame.f_code.co_name == 'work' and event == 'call': calls.append(frame.f_code.co_name)
def each(n):
    if n in (2, 40):  # while input watches what functions return; in the window of lines
        kept['trace'], kept['profile'] = sys.gettrace(), sys.getprofile()
        sys.settrace(mine); sys.setprofile(mine)
    if n in (5, 45):  # as a careful program does: what was there before comes back, whosever it is
        sys.settrace(kept['trace']); sys.setprofile(kept['profile'])
    if n in (10, 100): work(n); print('at', n, sys.gettrace(), sys.getprofile())
train(60, each)
train(110, each)
print(len(calls), sys.gettrace(), sys.getprofile(), hexed(losses))
"""
)

PROFILERS = (
    STEPS
    + """
import cProfile, pstats
def counts(profile):
    return sorted((key[2], value[1]) for key, value in pstats.Stats(profile).stats.items()
                  if key[0] == __file__ and key[2] in ('work', 'one_step'))
profiles = {n: cProfile.Profile() for n in (1, 30, 55, 85, 105, 149)}
ends = {4: 1, 40: 30, 65: 55, 90: 85, 115: 105, 155: 149}
def each(n):
    if n in profiles: profiles[n].enable()
    if n in ends: profiles[ends[n]].disable()
train(170, each)
print([counts(profile) for profile in profiles.values()])
profile = cProfile.Profile()
profile.runcall(train, 5)
print(counts(profile), sys.getprofile(), hexed(losses))
"""
)

ACROSS = (
    STEPS
    + """
import cProfile, pstats
profile = cProfile.Profile()
def each(n):
    if n == 10: profile.enable()
    if n == 75: profile.disable()
train(170, each)
print(sorted((key[2], value[:2]) for key, value in pstats.Stats(profile).stats.items() if key[0] == __file__))
"""
)

LINE_PROFILER = (
    STEPS
    + """
from line_profiler import LineProfiler
first, across, later = LineProfiler(), LineProfiler(work), LineProfiler()
def hits(profiler):
    return [(key[2], [(line, count) for line, count, _ in rows])
            for key, rows in sorted(profiler.get_stats().timings.items())]
work = first(work)
def each(n):
    if n == 55: across.add_function(one_step); across.enable_by_count()
    if n == 66: across.disable_by_count()
train(100, each)
later.add_function(train); later.runcall(train, 30)
print(hits(first)); print(hits(across)); print(hits(later))
print(sys.gettrace(), hexed(losses))
"""
)

COVERAGE = (
    STEPS
    + """
import coverage, helper
def arcs(cov): return sorted(cov.get_data().arcs(helper.__file__) or ())
def covered(): return coverage.Coverage(branch=True, data_file=None, include=[helper.__file__], config_file=False)
inside, across = covered(), covered()
def each(n):
    helper.f(n)
    if n == 30: inside.start()
    if n == 40: inside.stop()
    if n == 57: across.start()
    if n == 90: across.stop()
train(100, each)
print(arcs(inside), arcs(across), sys.gettrace())
whole = covered(); whole.start(); train(70, each); whole.stop()
print(arcs(whole), hexed(losses))
"""
)

HELPER = """
def f(n):
    if n < 35:
        return 'early'
    for i in range(2):
        if n > 80 and i:
            return 'late'
    return 'other'
"""

DEBUGGER = (
    STEPS
    + """
import pdb
def each(n):
    if n in (30, 90):
        x = n * 2
        pdb.set_trace()
        x += 1
        print('x is', x)
train(170, each)
print(sys.gettrace(), hexed(losses))
def fails(): compiled(tf.ones([2]))
try: fails()
except Exception: pdb.post_mortem()
"""
)

PROGRAMS = [
    Program(
        "tracers",
        TRACERS,
        options=WINDOWS,
        shows=b"still mine True",
        stderr="logs",
        report="the script called sys.settrace in this window",
    ),
    Program("tracers restored", RESTORED, options=WINDOWS, shows=b"None None", stderr="logs"),
    Program("cProfile", PROFILERS, options=WINDOWS, shows=b"('work', ", stderr="logs"),
    Program("cProfile across a window", ACROSS, options=WINDOWS, shows=b"('work', (65, 65))", stderr="logs"),
    Program("line_profiler", LINE_PROFILER, options=WINDOWS, shows=b"('train', ", stderr="logs"),
    Program("coverage", COVERAGE, files=(("helper.py", HELPER),), options=WINDOWS, shows=b"(3, 4)", stderr="logs"),
    Program(
        "pdb",
        DEBUGGER,
        stdin=b"w\np x\nx = 7\nn\nn\nu\np n\nc\nb work\nc\nbt\np n\ncl 1\nr\nn\nc\nw\nu\np x\nq\n",
        options=WINDOWS,
        shows=b"x is 8",
        stderr="logs",
    ),
]

#: TensorFlow is imported under the tool, which takes long. ``test_debugged.py`` runs scripts without it so.
LONG = [
    Program(
        "run by cProfile",
        command=("-m", "cProfile"),
        arguments=("-o", "out.prof", "train.py"),
        files=(("train.py", STEPS + "train(160)\nprint(type(sys.getprofile()).__name__, hexed(losses))\n"),),
        ignored=("out.prof",),
        shows=b"0x1",
        stderr="logs",
    ),
    Program(
        "run by coverage",
        command=("-m", "coverage"),
        arguments=("run", "--include", "*/train.py", "train.py"),
        files=(
            (
                "train.py",
                STEPS + "train(160)\nprint(hexed(losses))\nimport coverage\n"
                "data = coverage.Coverage.current().get_data()\nprint(sorted(data.lines(__file__)))\n",
            ),
        ),
        ignored=(".coverage",),
        shows=b"0x1",
        stderr="logs",
    ),
]


@pytest.mark.parametrize(
    "program", [*PROGRAMS, *(pytest.param(program, marks=pytest.mark.long) for program in LONG)], ids=str
)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
