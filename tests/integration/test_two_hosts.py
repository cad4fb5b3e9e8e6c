"""Two workers on two hosts, as network namespaces: addresses, loopbacks and network stacks of their own."""

from __future__ import annotations

import json

import pytest
from tfperf_runner import Tfperf

from benchmarks import two_hosts


@pytest.mark.long
def test_two_hosts_write_one_folder_and_the_late_one_is_named(tfperf: Tfperf) -> None:
    if reason := two_hosts.refused():
        pytest.skip(f"network namespaces: {reason}")
    with two_hosts.hosts(None):
        assert two_hosts.train("sleep", 44, tfperf.folder / "run") == [0, 0]
    whole = json.loads(tfperf("report", "run", "--json", "-").stdout)
    assert [(part["rank"], part["size"], part["steps"]) for part in whole["parts"]] == [(0, 2, 44), (1, 2, 44)]
    assert (whole["missing"], whole["died"], whole["late"]) == ([], [], "rank 1"), whole
    assert "sleeping (time.sleep)" in whole["why"]
