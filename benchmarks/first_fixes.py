"""Tells for recorded scripts whether ``tfperf fix`` has a patch, a draft or nothing, and compares the patch's gain with
the fixed twin's.

    python -m benchmarks.first_fixes RUNS MANIFEST [NAME ...] [--out FILE] [--no-trials] [--limit SECONDS]

RUNS holds a run directory for each script, by its name without ``.py``. MANIFEST is a list of {"script", "twin"} in
JSON, whose files are in its folder; scripts without a twin are left out. Each script is run once as it is, once with
all patches of its findings (notes are left out), and once as its twin, whole and in turn. If the source proves no patch
of the first finding, its candidates are run one after another until one gives equal results and gains. The script runs
once more as it is if the patched output differs. Gains are of processor time, imports included, so that they mean
something on a busy machine. Prints a table in Markdown, a row as soon as it is known, and a summary.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from tfperfkit.errors import TfperfError
from tfperfkit.explain.pages import examples
from tfperfkit.fixing.command import Opened, choose_findings, make_drafts, open_run
from tfperfkit.fixing.patches import Patch, Patches
from tfperfkit.launch.arguments import Split
from tfperfkit.model import Finding
from tfperfkit.records.trials import Measured, TrialPlan
from tfperfkit.report.proof import shortfall
from tfperfkit.trials.judging import Variant, measured
from tfperfkit.trials.outcome import Outcome
from tfperfkit.trials.process import Script
from tfperfkit.trials.scratch import Scratch
from tfperfkit.trials.workspace import workspace

HEAD = (
    "| script | first finding | fix of the first | change | patches | equal | gain | twin | seconds saved | twin |",
    "|---|---|---|---|---|---|---|---|---|---|",
)
#: A smaller gain of one pair may be chance.
_GAINED = 1.05


class Row(NamedTuple):
    """One script. ``first``: what the first finding has; ``patches``: the ids of the findings with a patch; ``equal``:
    "yes", or what differs; ``gain`` and ``twin``: of the whole run; NaN where it was not measured."""

    name: str
    finding: str
    first: str
    patches: tuple[str, ...]
    does: str = ""
    equal: str = "not measured"
    gain: float = math.nan
    twin: float = math.nan
    saved_s: float = math.nan
    twin_saved_s: float = math.nan

    def write(self) -> str:
        """Write the row of the table."""
        times = [f"{value:.2f}x" if math.isfinite(value) else "–" for value in (self.gain, self.twin)]
        saved = [f"{value:.1f}" if math.isfinite(value) else "–" for value in (self.saved_s, self.twin_saved_s)]
        patches = ", ".join(self.patches) or "none"
        return (
            "| "
            + " | ".join((self.name, self.finding, self.first, self.does, patches, self.equal, *times, *saved))
            + " |"
        )


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--no-trials", action="store_true", help="only say which have a patch")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that one run may take")
    given = parser.parse_args(words)
    scripts = json.loads(given.manifest.read_text())
    scripts = scripts["scripts"] if isinstance(scripts, dict) else scripts
    with open(given.out, "w") if given.out else tempfile.TemporaryFile("w") as file:
        rows = []
        tell(file, *HEAD)
        for item in scripts:
            name = Path(item["script"]).stem
            if not item.get("twin") or (given.names and name not in given.names):
                continue
            row = judge(given.runs / name, given.manifest.parent, item, 0.0 if given.no_trials else given.limit)
            rows.append(row)
            tell(file, row.write())
        tell(file, "", *summary(rows))
    return 0


def tell(file: TextIO, *lines: str) -> None:
    """Write lines to the terminal and to the file."""
    for line in lines:
        print(line, flush=True)
        print(line, file=file, flush=True)


def judge(run: Path, folder: Path, item: dict[str, Any], limit_s: float) -> Row:
    """Make the patches of a run, and measure them unless ``limit_s`` is 0."""
    name = Path(item["script"]).stem
    try:
        opened = open_run(run)
    except TfperfError as error:
        return Row(name, f"no run: {error}", "nothing", ())
    found = choose_findings(opened.report, None)
    if not found:
        return Row(name, "no finding", "nothing", ())
    options = Patches(opened.files, opened.evidence).list_patches(*found[0])
    first = "candidate" if options[0].is_candidate else "patch" if options[0].fixer else ""
    first = first or ("draft" if make_drafts(options, opened.evidence, examples) else "nothing")
    row = Row(name, found[0][0], first, ())
    others = [each for each in found[1:] if each[1].severity != "info"]
    try:
        return measure(row, opened, options, others, folder / item["script"], folder / item["twin"], limit_s)
    except TfperfError as error:
        return row._replace(equal=f"not measured: {error}")


def measure(
    row: Row,
    opened: Opened,
    options: Sequence[Patch],
    others: Sequence[tuple[str, Finding]],
    script: Path,
    twin: Path,
    limit_s: float,
) -> Row:
    """Run the script as it is, as its twin, and with each of the options until one is equal and gains. ``others``: the
    findings whose patches are taken besides. Raises UsageError if it can't be run."""
    arguments = tuple(opened.report.run.argv[1:])
    plan = TrialPlan(whole=True, limit_s=limit_s)
    plain: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="first-fixes-") as cwd, Scratch(Path(cwd)) as scratch:
        parts = Split((), str(script.resolve()), False, arguments, ())
        run = Script(parts, scratch, workspace(Path(cwd), script.resolve(), scratch.path))
        for option in options:
            together = Patches(opened.files, opened.evidence)
            added = [together.add(option)] if option.fixer else []
            added += [patch for each in others if not (patch := together.make_patch(*each)).is_candidate]
            patches = tuple(patch.identity for patch in added if patch.fixer is not None)
            row = row._replace(patches=patches, does=option.fixer.does if option.fixer else "")
            if not patches or not limit_s:
                return row
            if not plain:
                plain.append(run.trial(plan, {}))
                fixed = run.trial(plan, {}, contents={str(script.resolve()): twin.read_bytes()})
            contents = {str(opened.files.path(file).resolve()): after for file, after in together.after.items()}
            changed = run.trial(plan, {}, contents=contents)
            keeps = "results" if all(patch.fixer is None or patch.fixer.keeps == "results" for patch in added) else ""
            variant = Variant(text="patches", keeps="results" if keeps else "mathematics", whole=True)
            item = measured(variant, plain, [changed])
            if len(plain) == 1 and "differ" in (item.results, item.outputs):  # as two plain runs may, too
                plain.append(run.trial(plan, {}))
                item = measured(variant, plain, [changed])
            row = row._replace(
                equal=say_equal(item),
                gain=item.processor or item.speedup or math.nan,
                twin=measured(variant, plain, [fixed]).processor or math.nan,
                saved_s=saved(plain[0], changed),
                twin_saved_s=saved(plain[0], fixed),
            )
            if row.equal == "yes" and row.gain > _GAINED:
                break
    return row


def saved(plain: Outcome, changed: Outcome) -> float:
    """Return the processor seconds by which a run was shorter; NaN if one failed."""
    if plain.error or changed.error or not (plain.processor_ns and changed.processor_ns):
        return math.nan
    return (plain.processor_ns - changed.processor_ns) / 1e9


def say_equal(item: Measured) -> str:
    """Return "yes" if weights or output were equal, else what is wrong; the gain does not matter here."""
    if item.verdict not in ("failed", "not applicable"):
        missing = shortfall(item)
        wrong = "differ" in (item.results, item.outputs) or (item.results, item.outputs) == ("unknown", "unknown")
        return missing.replace("|", "/") if wrong else "yes"
    return f"{item.verdict}: {item.reason}".replace("|", "/")


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """Count the patches, the equal results and the gains."""
    count = max(len(rows), 1)
    kinds = {kind: sum(row.first == kind for row in rows) for kind in ("patch", "candidate", "draft", "nothing")}
    some = [row for row in rows if row.patches]
    equal = [row for row in some if row.equal == "yes"]
    half = [row for row in equal if row.saved_s >= row.twin_saved_s / 2]
    yield f"Scripts: {len(rows)}. First finding: {', '.join(f'{number} {kind}' for kind, number in kinds.items())}."
    yield f"Any finding with a patch: {len(some)} ({len(some) / count:.0%}). Results equal: {len(equal)} of these."
    yield f"Equal, and at least half of the twin's seconds saved: {len(half)} of {len(rows)} ({len(half) / count:.0%})."
    slower = [row.name for row in some if row.gain < 1]
    yield f"Slower with its patches in this one pair: {', '.join(slower) or 'none'}."


if __name__ == "__main__":
    sys.exit(main())
