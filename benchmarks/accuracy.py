"""Does tfperf name what is planted? ``python -m benchmarks.accuracy [NAMES...] [--jobs N] [--fixed] [--out FILE]``.

Runs ``tfperf run`` on each script of ``tests/faults``, prints the planted cause's position among the findings, and
writes the table as Markdown. Results are kept in a JSON file, so that a part can be run again: with NAMES, or with
``--only-failed``. ``--fixed`` also times each faulty script and its fixed twin under plain python, in alternation.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import platformdirs

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "faults"))

from fault_collection import TIMEOUT, Case, Verdict, cases, judge, plain, profiled

STATE = Path(platformdirs.user_cache_dir("tfperfkit")) / "accuracy.json"
#: Fields of a finding that are kept.
KEPT = (
    *("code", "family", "severity", "title", "share_of_step", "predicted_speedup", "predicted_range", "at_least"),
    "where",
)
ROUNDS = 2
INTRODUCTION = """\
Written by `python -m benchmarks.accuracy` from the collection in `tests/faults`: small training scripts, each with one
fault as people make it, and healthy ones in the same styles. `tfperf run` sees each of them once, with the default
probes. A finding is right when its code or its family is one that the manifest accepts for the fault, and one of its
places is within two lines of a planted one. "By family" says that the code itself was not among the accepted.

The rules were written and their thresholds chosen with these scripts at hand. So the table shows that they work
together, not how they do on scripts that nobody has seen: for a first look at that see
[blind trials](blind-trials.md) and [public scripts](public-scripts.md); for how far predicted gains come true,
[forecasts](forecasts.md)."""
GAINS = """\
The predicted gain is that of the right finding, for a steady step. The measured one is the time of the whole script
after the import of TensorFlow, over that of its fixed twin (`--fixed`), with tracing and data preparation."""
Results = dict[str, dict[str, Any]]


def profile(case: Case, timeout: float) -> dict[str, Any]:
    """The findings of one run, or why there are none."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        try:
            report = profiled(case, Path(folder), timeout)
        except RuntimeError as error:
            return {"error": str(error), "findings": []}
    findings = [{key: finding.get(key) for key in KEPT} for finding in report["findings"]]
    for finding in findings:
        for place in finding["where"]:
            place["file"] = Path(place["file"]).name
    steps = report["steps"]
    return {
        "error": None,
        "findings": findings,
        "wall_s": round(time.perf_counter() - begin, 1),
        "steps": {key: steps.get(key) for key in ("count", "source", "median_ms")},
    }


def timed(case: Case) -> dict[str, Any]:
    """Seconds of the faulty script, its twin and a bare import of TensorFlow, ``ROUNDS`` times in turn."""
    seconds: dict[str, list[float]] = {"start": [], "faulty": [], "fixed": []}
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "start.py"
        start.write_text("import keras, tensorflow\n")
        for _ in range(ROUNDS):
            for name, script in (("start", start), ("faulty", case.script), ("fixed", case.fixed)):
                with tempfile.TemporaryDirectory() as own:
                    seconds[name].append(round(plain(script, case.arguments, Path(own)), 2))
    return seconds


def measured_gain(seconds: dict[str, Any] | None) -> float | None:
    """Time after start-up of the faulty script over that of its twin; None if it was not measured."""
    if not seconds:
        return None
    start = statistics.median(seconds["start"])
    faulty, fixed = (statistics.median(seconds[name]) - start for name in ("faulty", "fixed"))
    return faulty / fixed if fixed > 0.05 else None


def first(result: dict[str, Any]) -> str:
    if result["error"]:
        return "failed: " + result["error"].splitlines()[0][:60]
    if not result["findings"]:
        return "none"
    finding = result["findings"][0]
    place = finding["where"][0] if finding["where"] else None
    return f"{finding['code']}, {place['file']}:{place['line']}" if place else str(finding["code"])


def predicted(result: dict[str, Any], verdict: Verdict) -> str:
    """Return the gain that the right finding predicts."""
    if verdict.rank is None:
        return "–"
    finding = result["findings"][verdict.rank - 1]
    gain, span = finding["predicted_speedup"], finding["predicted_range"]
    if span and all(value is not None for value in span):
        return f"{span[0]:.2f} to {span[1]:.2f}"
    lower = finding.get("at_least")
    return f"{gain:.2f}" if gain else f"at least {lower:.2f}" if lower else "–"


def share(count: int, total: int) -> str:
    return f"{count} of {total} ({100 * count / total:.0f} %)" if total else "none were run"


def row(case: Case, result: dict[str, Any]) -> list[str]:
    verdict = judge(case, result["findings"])
    gain = measured_gain(result.get("seconds"))
    rank = "missed" if verdict.rank is None else str(verdict.rank) + ("" if verdict.by_code else " (by family)")
    return [
        case.name,
        case.style,
        case.cause + ("" if case.kind == "time" else f" ({case.kind})"),
        " ".join(case.codes),
        first(result),
        rank,
        predicted(result, verdict),
        f"{gain:.2f}" if gain else "–",
    ]


def markdown(everything: tuple[Case, ...], results: Results) -> str:
    """The document; scripts that were never run are named, and count nowhere."""
    known = [case for case in everything if case.name in results]
    missing = [case.name for case in everything if case.name not in results]
    faulty, healthy = ([case for case in known if case.healthy is kind] for kind in (False, True))
    verdicts = {case.name: judge(case, results[case.name]["findings"]) for case in (*faulty, *healthy)}
    ranks = [verdicts[case.name].rank for case in faulty]
    strict = [verdicts[case.name].rank == 1 and verdicts[case.name].by_code for case in faulty]
    quiet = [not verdicts[case.name].loud and not results[case.name]["error"] for case in healthy]
    top = sum(rank == 1 for rank in ranks)
    three = sum(rank is not None and rank <= 3 for rank in ranks)
    lines = [
        "# How often the cause is named",
        "",
        INTRODUCTION,
        "",
        "| | reached | aimed at |",
        "|---|---|---|",
        f"| planted cause is the first finding | {share(top, len(ranks))} | 90 % |",
        f"| and by an accepted code | {share(sum(strict), len(strict))} | |",
        f"| planted cause is among the first three | {share(three, len(ranks))} | 97 % |",
        f'| healthy scripts without a finding above "info" | {share(sum(quiet), len(quiet))} | 95 % |',
        "",
        "## Faults",
        "",
        GAINS,
        "",
        "| script | style | cause | accepted | first finding | rank | predicted | measured |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += ["| " + " | ".join(row(case, results[case.name])) + " |" for case in faulty]
    if missing:
        lines += ["", "Without a result: " + ", ".join(missing) + "."]
    lines += ["", "## Healthy scripts", "", '| script | style | findings above "info" |', "|---|---|---|"]
    for case in healthy:
        error = results[case.name]["error"]
        told = "failed" if error else " ".join(verdicts[case.name].loud) or "none"
        lines.append(f"| {case.name} | {case.style} | {told} |")
    return "\n".join(lines) + "\n"


def load(path: Path) -> Results:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def chosen(everything: Iterable[Case], names: list[str], only_failed: bool, results: Results) -> list[Case]:
    """The cases to run now. Raises ``SystemExit`` for a name that is not in the collection."""
    everything = list(everything)
    unknown = set(names) - {case.name for case in everything}
    if unknown:
        raise SystemExit(f"not in the collection: {' '.join(sorted(unknown))}")

    def failed(case: Case) -> bool:
        result = results.get(case.name)
        return not result or bool(result["error"]) or not judge(case, result["findings"]).passes(case)

    return [case for case in everything if (not names or case.name in names) and (not only_failed or failed(case))]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="run these only; the others keep their results")
    parser.add_argument("--jobs", type=int, default=1, help="scripts at a time; more than one disturbs the times")
    parser.add_argument("--fixed", action="store_true", help="time the faulty scripts and their twins too")
    parser.add_argument("--only-failed", action="store_true", help="run what is not right yet")
    parser.add_argument("--no-run", action="store_true", help="only judge again and write the table")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds for a script (default: %(default)s)")
    parser.add_argument("--state", type=Path, default=STATE, help="where results are kept (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="write the table as Markdown, e.g. benchmarks/results/accuracy.md")
    options = parser.parse_args()

    everything = cases()
    results = load(options.state)
    options.state.parent.mkdir(parents=True, exist_ok=True)

    def keep(case: Case, **fields: Any) -> None:
        results[case.name] = {**results.get(case.name, {"error": "not run", "findings": []}), **fields}
        text = json.dumps(results, indent=1)
        options.state.with_suffix(".new").write_text(text, encoding="utf-8")
        options.state.with_suffix(".new").replace(options.state)

    now = [] if options.no_run else chosen(everything, options.names, options.only_failed, results)
    with ThreadPoolExecutor(options.jobs) as pool:
        for case, result in zip(now, pool.map(partial(profile, timeout=options.timeout), now), strict=True):
            keep(case, **result)
            verdict = judge(case, result["findings"])
            state = "ok  " if verdict.passes(case) and not result["error"] else "MISS"
            told = " ".join(finding["code"] for finding in result["findings"]) or "no finding"
            print(f"{state} {case.name:28s} {first(result):44s} {told}", flush=True)
    for case in now if options.fixed else ():
        if case.healthy:
            continue
        try:
            keep(case, seconds=timed(case))
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f"{case.name}: not timed, {error}", flush=True)
            continue
        gain = measured_gain(results[case.name]["seconds"])
        print(f"{case.name:28s} measured gain {f'{gain:.2f}' if gain else 'unknown'}", flush=True)

    table = markdown(everything, results)
    print("\n" + "\n".join(line for line in table.splitlines() if line.startswith(("| planted", "| and", "| healthy"))))
    if options.out:
        options.out.write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
