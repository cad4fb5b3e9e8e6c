"""Score a batch's predicted seconds as forecasts: ``python -m benchmarks.batch_forecasts BATCH.json [--out FILE]``.

``BATCH.json`` is a list of objects: ``script`` (name), ``run`` (run directory of the script under tfperf), ``plain_s``
and ``twin_s`` (seconds of the script and of its fixed twin under plain Python), and ``code`` (of the right finding; of
a list of codes the first that is found; null if no finding is right). ``twin_run``, a run directory of the twin, is
needed for factors of the step only. It runs no scripts.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.finding_forecasts import forecast_factor, forecast_seconds, name_remedy, table_of_scores
from benchmarks.forecast_scores import Forecast
from tfperfkit.analysis.analyze import study
from tfperfkit.model import Finding

_HEAD = """\
# Predicted seconds as forecasts

Written by `python -m benchmarks.batch_forecasts`. Measured are whole scripts under plain Python, one pair each. A range
counts as the central 80 % of a forecast. Bias: the median of centre over measured. Score: the continuous ranked
probability score over what was measured (less is better), next to those of "all of the finding's share goes" and "half
of it goes".
"""


class Scored(NamedTuple):
    """A script with its right finding; ``finding`` is None if none is right. ``rank``: from 1."""

    script: str
    saved_s: float
    rank: int
    finding: Finding | None
    seconds: Forecast | None
    factor: Forecast | None


def main() -> None:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batch_forecasts", description=__doc__)
    parser.add_argument("batch", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    page = write_page([score_script(row) for row in json.loads(given.batch.read_text(encoding="utf-8"))])
    if given.out:
        given.out.write_text(page, encoding="utf-8")
    print(page)


def score_script(row: dict[str, Any]) -> Scored:
    """Read the run of a script and compare its right finding with the measured seconds."""
    saved_s = float(row["plain_s"]) - float(row["twin_s"])
    codes = row.get("code") or ()
    codes = (codes,) if isinstance(codes, str) else tuple(codes)
    report, evidence = study(Path(row["run"]))
    loud = [finding for finding in report.findings if not finding.is_note]
    rank, finding = next(((rank, item) for rank, item in enumerate(loud, 1) if item.code in codes), (0, None))
    if finding is None:
        return Scored(row["script"], saved_s, 0, None, None, None)
    factor = None
    if row.get("twin_run"):
        _, twin = study(Path(row["twin_run"]))
        if evidence.steps.count == twin.steps.count:
            factor = forecast_factor(finding, evidence.account, twin.account)
    return Scored(row["script"], saved_s, rank, finding, forecast_seconds(finding, saved_s), factor)


def write_page(scored: Sequence[Scored]) -> str:
    """Write the scores by kind of remedy, and each script."""
    lines = [_HEAD, "## Saved seconds of the run", ""]
    lines += [*table_of_scores([(_kind(each), each.seconds) for each in scored]), "", "## Factor of the step", ""]
    lines += [*table_of_scores([(_kind(each), each.factor) for each in scored]), "", "## By script", ""]
    head = "| script | rank | finding | remedy | predicted | measured | held | centre over measured |"
    lines += [head, "|---" * 8 + "|"]
    return "\n".join([*lines, *map(_row, scored)]) + "\n"


def _kind(scored: Scored) -> str:
    return name_remedy(scored.finding.remedy) if scored.finding is not None else ""


def _row(scored: Scored) -> str:
    forecast = scored.seconds
    if scored.finding is None or forecast is None:
        return f"| {scored.script} | – | – | – | – | {scored.saved_s:.1f} s | – | – |"
    cells = [scored.script, str(scored.rank), scored.finding.code, _kind(scored)]
    cells += [f"{forecast.low:.1f} to {forecast.high:.1f} s", f"{scored.saved_s:.1f} s"]
    cells += ["yes" if forecast.holds else "no", f"{forecast.centre / forecast.measured:.2f}"]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
