"""The verdict of recorded runs whose cause, or whose soundness, no rule knew when they were recorded."""

from __future__ import annotations

from recorded_runs import study_recorded

from tfperfkit.records.conclusion import NEEDED, NO_FAULT


def test_tensors_that_are_copied_to_store_one_row_come_first() -> None:
    report, _ = study_recorded("ddpg_agent")
    first = report.findings[0]
    assert (first.code, [place.line for place in first.where[:4]]) == ("STP014", [38, 39, 40, 41])
    assert first.saves_s is not None and first.saves_s[0] <= 3.5 <= (first.saves_s[1] or 0)  # as its twin saved


def test_a_loop_that_classifies_batches_of_a_dataset_has_no_fault() -> None:
    """Its compiled function takes any number of examples; the dataset tells how many there are in a batch."""
    report, evidence = study_recorded("healthy_header")
    assert report.conclusion is not None and report.conclusion.verdict == NO_FAULT
    assert report.conclusion.why.startswith(NEEDED)
    assert report.conclusion.limit.startswith("It computes at 21 GFLOP/s"), "by the layers in the trace of the loop"
    assert report.findings == () and evidence.steps.batch_size == 50


def test_what_each_epoch_of_a_pydataset_computes_again_comes_first() -> None:
    report, _ = study_recorded("whale_calls")
    first = report.findings[0]
    assert (first.code, first.where[0].line) == ("INP005", 64)
    assert first.title == "self.transform repeats the same work in every epoch (PyDataset CallSequence)"
    assert first.advice.startswith("Compute self.transform(self.waves[j]) once for each element, before training")


def test_a_pydataset_that_draws_at_random_has_no_such_work() -> None:
    report, _ = study_recorded("pydataset_noise")
    assert report.findings[0].title.startswith("Python prepares the batches")
