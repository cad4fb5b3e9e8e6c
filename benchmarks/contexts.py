"""Is a cause found in every place where a program can have it?

The first part of the table is made of evidence (``tests/builders/graph_contexts.py``): each rule about graphs in each
place. The second one is of scripts: each cause is written into each context, and recorded.

    python -m benchmarks.contexts write FOLDER
    python -m benchmarks.contexts record FOLDER [NAMES...]
    python -m benchmarks.contexts table [FOLDER] [--out benchmarks/results/contexts.md]

NAMES are parts of names of scripts, ``CAUSE-CONTEXT``. ``record`` leaves out what was recorded before.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "builders"))
from graph_contexts import CONTEXTS, NOT_THERE, is_found, list_causes

from benchmarks.context_scripts import CALLING, CALLING_CONTEXTS, COMPUTING, COMPUTING_CONTEXTS, Script, list_scripts

CAUSES = {**COMPUTING, **CALLING}
#: Seconds that a script may take, with the wait for a machine that others use.
TIMEOUT = 1800.0


def write(folder: Path) -> None:
    """Write all scripts, each into a folder of its own."""
    for script in list_scripts():
        at = folder / script.name
        at.mkdir(parents=True, exist_ok=True)
        (at / "script.py").write_text(script.text)
        if script.helper:
            (at / "helper.py").write_text(script.helper)


def record(folder: Path, names: Sequence[str], command: Sequence[str]) -> None:
    """Record the scripts that have no run yet: those whose names contain one of ``names``, in its order."""
    write(folder)
    scripts = [*list_scripts()]
    for script in dict.fromkeys(each for name in names or [""] for each in scripts if name in each.name):
        at = folder / script.name
        if (at / "run" / "exit.json").exists():
            continue
        shutil.rmtree(at / "run", ignore_errors=True)
        done = subprocess.run(
            [*command, "run", "--run-dir", "run", "script.py"],
            cwd=at,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(at / "err").open("w"),
            timeout=TIMEOUT,
        )
        print(f"{script.name}: status {done.returncode}", flush=True)


def find(folder: Path, script: Script) -> str:
    """Say how a recorded script's cause was found: "first", "2nd", "remark", or by the first finding."""
    from tfperfkit.analysis.analyze import study

    run = folder / script.name / "run"
    if not (run / "exit.json").exists():
        return ""
    report, _ = study(run)
    told = [each for each in report.findings if each.severity != "info"]
    codes = [each.code for each in told]
    wanted = CAUSES[script.cause].codes
    place = next((n for n, code in enumerate(codes) if code in wanted), None)
    if place is not None:
        return "first" if place == 0 else f"{place + 1}. after {codes[0]}"
    remark = next((each.code for each in report.findings if each.code in wanted), "")
    return f"no: {codes[0] if codes else 'no finding'}{f', remark {remark}' if remark else ''}"


def table(folder: Path | None) -> str:
    """The tables of causes and contexts. ``folder``: of recorded scripts."""
    parts = [_HEAD, _draw_rules(), _OPEN]
    if folder is not None:
        found = {(script.cause, script.context): find(folder, script) for script in list_scripts()}
        parts.append(_RECORDED)
        for causes, contexts in ((COMPUTING, COMPUTING_CONTEXTS), (CALLING, CALLING_CONTEXTS)):
            rows = ([name, *(found.get((name, each), "–") for each in contexts)] for name in causes)
            parts.append(_draw(("cause", *contexts), rows))
    return "\n\n".join(parts)


_HEAD = """# Causes in every context

`python -m benchmarks.contexts table` makes this page. "yes": a rule finds its cause there, in evidence in which the
cause takes most of the time. `tests/unit/rules/graph/test_rules_contexts.py` holds it.

## Rules about graphs, by the place that runs the graph"""
_OPEN = """## Places that these rules do not see yet

- Functions of a SavedModel that the script loads: nothing traces them, so their graphs are not recorded.
- Loops of TensorFlow 1 control flow (`tf.compat.v1.disable_v2_behavior()`): GRF005 knows `While` operations only.
- Work between two training steps that are less than half a second apart, such as a short `on_epoch_end`.
- Functions that Python calls on TensorFlow's threads (`py_function`, generators, `PyDataset`): INP005 names lines."""
_RECORDED = """## Recorded scripts

Each script has one cause in one place, and repeats it for some seconds. "first" and "2.": the place of the finding that
names the cause. "no": another finding, or none, comes first. Empty: not recorded yet. "–": makes no sense."""


def _draw_rules() -> str:
    missed: dict[str, set[str]] = {}
    for waste in list_causes():
        missed.setdefault(waste.code, set()).update(place for place in CONTEXTS if not is_found(waste, place))
    rows = {
        code: [code, *(NOT_THERE.get((code, place), "no") if place in places else "yes" for place in CONTEXTS)]
        for code, places in missed.items()
    }
    return _draw(("rule", *CONTEXTS), [rows[code] for code in sorted(rows)])


def _draw(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contexts", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["write", "record", "table"])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--command", default=f"{sys.executable} -m tfperfkit", help="what runs tfperf")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(argv)
    if options.folder is None and options.what != "table":
        parser.error("FOLDER is missing")
    if options.what == "write":
        write(options.folder)
    elif options.what == "record":
        record(options.folder, options.names, options.command.split())
    else:
        text = f"{table(options.folder)}\n"
        print(text) if options.out is None else options.out.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
