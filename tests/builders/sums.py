"""Whether the figures of a JSON report agree: sums over parts, over lines and over findings."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tfperfkit.ledger.explained_parts import explained_parts
from tfperfkit.model import Finding
from tfperfkit.records import stated_gains

#: Sums may differ by this share: each figure is rounded, sampled, or of a window of its own.
AGREE = 0.05


def disagreements(report: Mapping[str, Any]) -> list[str]:
    """One line for each pair of figures that differ by more than ``AGREE``; none where all agree."""
    return [*_run(report), *_parts(report), *_lines(report), *_findings(report)]


def _run(report: Mapping[str, Any]) -> Iterator[str]:
    """Every second of the process has one part."""
    account = report["run_account"]
    if account is not None and account["parts_s"]:
        parts, whole = sum(account["parts_s"].values()), account["total_s"]
        if abs(parts - whole) > AGREE * whole:
            yield f"the run: parts {parts:.2f} s, whole {whole:.2f} s"


def _accounts(report: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The accounts by the work that they are of, "" for the training steps."""
    for name, steps in [("", report["steps"]), *((_name(item), item["steps"]) for item in report["work"])]:
        if steps["account"] is not None and steps["account"]["parts_ms"]:
            yield name, steps["account"]


def _name(work: Mapping[str, Any]) -> str:
    return f"{work['where']['file'].rpartition('/')[2]}:{work['where']['line']}"


def _parts(report: Mapping[str, Any]) -> Iterator[str]:
    """The parts of a step, or of an iteration, are all of it."""
    for name, account in _accounts(report):
        parts, whole = sum(account["parts_ms"].values()), account["mean_ms"]
        if abs(parts - whole) > AGREE * whole:
            yield f"{name or 'a step'}: parts {parts:.2f} ms, mean {whole:.2f} ms"


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    """No line took more of a part of the run than the part."""
    account = report["run_account"]
    for part, lines in (account["lines"] if account is not None else {}).items():
        upper, whole = max((line["seconds"] for line in lines), default=0.0), account["parts_s"].get(part, 0.0)
        if upper > (1 + AGREE) * whole:
            yield f"{part} of the run: a line {upper:.2f} s, the part {whole:.2f} s"


def _findings(report: Mapping[str, Any]) -> Iterator[str]:
    """Check that no finding costs more than the parts of the account that it explains.

    A finding from samples is as exact as the samples: the account may come from the trace.
    """
    accounts = dict(_accounts(report))
    for row in report["findings"]:
        finding = msgspec.convert(stated_gains.read(copy.deepcopy(row)), Finding, strict=False)
        account, parts = accounts.get(finding.work), explained_parts(finding)
        if account is None or not parts or finding.basis != "step" or finding.headroom:
            continue
        have = sum(account["parts_ms"].get(part, 0.0) for part in parts) / account["mean_ms"]
        if finding.share_of_step > have + AGREE + _sampled(finding):
            of = finding.work or "a step"
            yield f"{finding.code}: costs {finding.share_of_step:.3f}, its parts are {have:.3f} of {of}"


def _sampled(finding: Finding) -> float:
    """Return half of the 95 % interval of a share from samples; 0 if the evidence lacks their number."""
    count = next((item.value for item in finding.evidence if item.name == "samples"), 0.0)
    share = min(finding.share_of_step, 1.0)
    return 1.96 * math.sqrt(share * (1 - share) / count) if count else 0.0
