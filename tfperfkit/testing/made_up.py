"""For authors of rules: made-up evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tfperfkit.model import History, RunAccount, RunInfo, StepAccount, WarmUp
from tfperfkit.records.samples import SampleLog, Samples
from tfperfkit.records.spans import Span, Spans
from tfperfkit.records.steps import StepTable
from tfperfkit.rule import LIVE, Evidence, Offer, Offers


def evidence_of(
    *,
    steps: StepTable | None = None,
    account: StepAccount | None = None,
    warm_up: WarmUp | None = None,
    samples: Samples | None = None,
    log: SampleLog | None = None,
    settings: Mapping[str, Any] | None = None,
    machine_gflops: float | None = None,
    tracing: Sequence[Span] = (),
    collections: Sequence[Span] = (),
    data: Mapping[str, Any] | None = None,
    offers: Mapping[str, Sequence[Any]] | None = None,
    sources: Mapping[str, str] | None = None,
    records: Mapping[str, Sequence[Any]] | None = None,
    machine: Mapping[str, Any] | None = None,
    wall_s: float = 60.0,
    run_account: RunAccount | None = None,
    history: History | None = None,
) -> Evidence:
    """The ``Evidence`` of a rule's test: only what is given is there.

    ``data`` holds each probe's record by its name, as the probe returned it or as builtins; ``offers`` what each offers
    besides; ``sources`` the text of the person's files; ``records`` the session's streams.
    """
    streams = records or {}
    offered = [(probe, each) for probe, made in (offers or {}).items() for each in made]
    offered += [(probe, record) for probe, record in (data or {}).items() if not isinstance(record, Mapping)]
    return Evidence(
        run=RunInfo(
            argv=("train.py",),
            exit_code=0,
            status="finished",
            wall_s=wall_s,
            machine={"cpus": 2, "devices": ["/device:CPU:0"], **(machine or {})},
        ),
        steps=steps or StepTable(),
        account=account,
        warm_up=warm_up,
        samples=samples or Samples(),
        log=log or SampleLog({}, ()),
        settings=settings or {},
        machine_gflops=machine_gflops,
        tracing=Spans(tracing),
        collections=Spans(collections),
        data=msgspec.to_builtins(dict(data or {})),
        sources={file: tuple(text.splitlines()) for file, text in (sources or {}).items()},
        records=lambda stream: streams.get(stream, ()),
        offers=Offers(
            Offer(probe, type(each), each if isinstance(each, LIVE) else msgspec.to_builtins(each))
            for probe, each in offered
        ),
        run_account=run_account,
        history=history,
    )
