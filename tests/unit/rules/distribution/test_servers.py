"""DST006 on made-up placements of variables."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, make_evidence
from tfperfkit_rules.distribution.servers import uneven_servers
from tfprof_builder import brief, graphs

from tfperfkit.model import Finding

SOURCE = "import tensorflow as tf\nstrategy = tf.distribute.ParameterServerStrategy(resolver)\n"


def device(number: int) -> str:
    return f"/job:ps/replica:0/task:{number}/device:CPU:0"


def findings(*held: float, servers: int = 2) -> list[Finding]:
    taken = {device(number): round(mb * 1e6) for number, mb in enumerate(held)}
    listed = ["/job:chief/replica:0/task:0/device:CPU:0", *map(device, range(servers))]
    data = {"ops": graphs(brief(server_bytes=taken))}
    return list(uneven_servers(make_evidence(source=SOURCE, data=data, machine={"devices": listed})))


def test_a_large_table_on_one_of_two() -> None:
    (found,) = findings(25.6, 0.008)
    assert (found.code, found.severity, found.gain.likely) == ("DST006", "info", None)
    assert found.title == "ParameterServerStrategy puts most variables on one server: 25.6 MB of 25.6 MB on ps:0"
    assert [(place.file, place.line) for place in found.where] == [(FILE, 2)]


def test_a_server_without_any_counts() -> None:
    assert len(findings(12.0, 12.0)) == 0
    (found,) = findings(12.0, 12.0, servers=4)
    assert {each.name: each.value for each in found.evidence}["parameter servers"] == 4


@pytest.mark.parametrize("held", [(), (0.6, 0.2), (6.0, 4.0)])
def test_little_even_or_no_variables(held: tuple[float, ...]) -> None:
    assert findings(*held) == []


def test_one_server_has_all_there_is() -> None:
    assert findings(25.6, servers=1) == []
