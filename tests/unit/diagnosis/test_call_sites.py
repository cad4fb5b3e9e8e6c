"""The first line of a report without a cause names the costliest call, its seconds and how often it was made."""

from __future__ import annotations

import pytest
from concluded import headline
from evidence_builder import FILE, make_evidence, make_samples
from finding_builder import unexplained

from tfperfkit.ledger.call_tree import Entry, Ledger
from tfperfkit.model import RunAccount, SourceSpan
from tfperfkit.records.samples import Frame, SampleLog, Stack

SOURCE = "\n".join(
    [
        "import time",
        "class Keeps(Callback):",
        "    def on_epoch_end(self, epoch):",
        "        self.model.export(folder)",
        "def train():",
        "    model.fit(data, callbacks=[Keeps()])",
        "    rows = [value * 2 for value in values]",
        "import numpy as np",
        "train()",
        "background = np.zeros((6000, 4))",
        "near = cdist(background, values)",
    ]
)
TOP = Frame(FILE, 1, "<module>", 9, None, ())
TRAIN = Frame(FILE, 5, "train", 6, (6, 6, 4, 40), ("keras.src.trainer:fit",))
EXPORT = Frame(FILE, 3, "on_epoch_end", 4, (4, 4, 8, 33), ("keras.src.models.model:export",))
ROWS = Frame(FILE, 5, "train", 7, None, ())
TRACES, SAVES = (Stack((TOP, TRAIN, EXPORT), "keras", doing, "callback") for doing in ("tracing", "saving"))
FITS = Stack((TOP, TRAIN), "keras", "graph")
OWN = Stack((TOP, ROWS), "", "python")


def log_of(*stacks: Stack) -> SampleLog:
    known = {stack: number for number, stack in enumerate(dict.fromkeys(stacks))}
    taken = [(when * 10_000_000, known[stack]) for when, stack in enumerate(stacks)]
    return SampleLog({number: stack for stack, number in known.items()}, taken, [(0, 10_000_000)])


def said_of(*entries: Entry, log: SampleLog | None = None) -> str:
    ledger = Ledger(entries, {"imports": 3.0})
    parts = dict(ledger.sum_parts())
    account = RunAccount(total_s=ledger.total, parts_s=parts)  # type: ignore[arg-type]
    made = make_evidence(run_account=account, source=SOURCE, log=log or log_of())
    made.run_ledger = ledger
    return headline([], made)


def test_the_call_is_named_with_all_that_it_does() -> None:
    """Tracing takes 4 s and saving 3 s: neither is what the user has to look at, the call of both is."""
    log = log_of(*[FITS, TRACES, SAVES] * 25)
    said = said_of(Entry(TRACES, "tracing", 4.0), Entry(SAVES, "saving", 3.0), Entry(FITS, "training", 2.0), log=log)
    assert said == (
        "No cause found: 58 % of the run (7.0 of 12.0 s) is self.model.export (train.py:4), called at least 25 times."
    )


def test_the_call_is_named_with_the_rows_that_it_goes_through() -> None:
    near = Stack(
        (Frame(FILE, 1, "<module>", 11, (11, 11, 7, 32), ("scipy.spatial.distance:cdist",)),), "scipy", "python"
    )
    assert said_of(Entry(near, "data", 7.0), log=log_of(*[near, FITS] * 20)) == (
        "No cause found: 70 % of the run (7.0 of 10.0 s) is cdist (train.py:11), called at least 20 times, each with "
        "6,000 rows."
    )


def test_the_user_s_own_python_is_named_as_before() -> None:
    assert said_of(Entry(OWN, "data", 7.0)) == "No cause found: 70 % of the run is data and other Python."


def test_times_that_a_line_ran_are_told_apart_by_what_was_seen_in_between() -> None:
    log = log_of(TRACES, SAVES, FITS, SAVES, FITS, FITS, TRACES)
    assert (log.count_times((FILE, 4)), log.count_times((FILE, 6)), log.count_times((FILE, 99))) == (3, 1, 0)


def test_a_thread_that_is_sampled_while_a_call_waits_does_not_end_the_call() -> None:
    worker = Stack((Frame(FILE, 20, "work", 21, None, ()),), "", "python")
    log = log_of(*[SAVES, worker] * 20, FITS, SAVES)
    assert log.count_times((FILE, 4)) == 2
    assert log.count_times((FILE, 21)) == 0, "two threads may be in it at once"


def test_a_part_without_an_owner_is_reported_by_the_call_that_takes_it() -> None:
    """Tracing and saving are 60 % of a step, both below one call; 15 % is the user's own Python."""
    samples = make_samples(
        [
            (80, "tracing", [TRAIN, EXPORT]),
            (40, "saving", [TRAIN, EXPORT]),
            (30, "python", [ROWS]),
            (50, "graph", [TRAIN]),
        ]
    )
    parts = {"tracing": 4.0, "saving": 2.0, "python": 1.5, "graph": 2.5}
    export, own = unexplained(make_evidence(parts_ms=parts, samples=samples, source=SOURCE), [])
    assert (
        export.title == "self.model.export takes 60 % of a step, unexplained"
        and export.share_of_step == pytest.approx(0.6)
    )
    assert export.where[0] == SourceSpan(FILE, 4, "on_epoch_end") and set(export.parts) == {"tracing", "saving"}
    assert export.detail.startswith("This call spends: tracing 67 %, saving 33 %.")
    assert (own.title, own.where) == (
        "The script's own Python takes 15 % of a step, unexplained",
        (SourceSpan(FILE, 7, "train"),),
    )
