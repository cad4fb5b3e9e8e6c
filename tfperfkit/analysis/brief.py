"""The times of a run alone: its steps, their account, what was traced. No findings, no graphs, no account of the run.

A report on a thousand ranks needs no more for most ranks; this takes a fifth of the time of a report.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from pathlib import Path

from tfperfkit import registry
from tfperfkit.analysis.gather import gather
from tfperfkit.analysis.history import history
from tfperfkit.analysis.probe_results import offered
from tfperfkit.analysis.run_status import read_exit, run_info
from tfperfkit.analysis.step_summary import summarize
from tfperfkit.analysis.stored_run import Facts, StoredCapture, agent_facts
from tfperfkit.model import ProbeResult, RunInfo, StepSummary
from tfperfkit.probe import BriefProbe
from tfperfkit.rule import Evidence, Offer, Offers
from tfperfkit.storage.run_directory import Manifest, RunDirectory


@dataclasses.dataclass(frozen=True, kw_only=True)
class Brief:
    """The result of ``brief``. ``evidence`` has the offers of the probes that have a ``brief``."""

    manifest: Manifest
    run: RunInfo
    steps: StepSummary
    evidence: Evidence


def brief(path: Path) -> Brief:
    """Raises RunDirectoryError when it is no run directory that we can read."""
    run, manifest = RunDirectory.open(path)
    facts = Facts(run, manifest)
    agent = agent_facts(run, facts.events)
    info = run_info(run, manifest, agent, facts.events, read_exit(run))
    offers = Offers(_offers(run, manifest, info, facts) if agent else ())
    started, events, sources = manifest.started_ns, facts.events, facts.sources
    over_time = history(run, manifest, events, facts.steps.dropped, lambda window: "")
    evidence = gather(
        run, info, agent, started, facts.steps, events, sources, (), offers, history=over_time, brief=True
    )
    return Brief(manifest=manifest, run=info, steps=summarize(facts.steps, evidence), evidence=evidence)


#: Once in a process: hundreds of runs are read in one, and looking for packages takes as long as reading one.
_installed = functools.cache(registry.available)


def _offers(run: RunDirectory, manifest: Manifest, info: RunInfo, facts: Facts) -> list[Offer]:
    """Return a probe's offers. One that fails offers nothing, as in a report."""
    installed = _installed()
    made: list[Offer] = []
    for name in dict.fromkeys(manifest.probes):
        with contextlib.suppress(Exception, SystemExit):
            probe = registry.load(name, dict(installed))
            if isinstance(probe, BriefProbe):
                given = probe.brief(StoredCapture(run, name, manifest, info, facts, probe))
                made += offered(name, ProbeResult(offers=given), None)[0]
    return made
