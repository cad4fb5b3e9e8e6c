"""Processes that can be asked for a trace, by the content of ``service.json``."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from tfperfkit.clock import start_ticks, this_machine
from tfperfkit.errors import UsageError
from tfperfkit.records.service import SERVICE, Service
from tfperfkit.watching.on_demand import address, offered

HERE = Service(
    port=4000,
    open_to="loopback",
    machine=this_machine(),
    host="node1",
    pid=os.getpid(),
    started_ticks=start_ticks(),
)


def test_where_to_ask() -> None:
    assert address(HERE) == "127.0.0.1:4000"
    assert address(msgspec.structs.replace(HERE, machine="another", open_to="network")) == "node1:4000"


def test_who_cannot_be_asked() -> None:
    with pytest.raises(UsageError, match="listens on its own machine only .node1.: ask there"):
        address(msgspec.structs.replace(HERE, machine="another"))
    with pytest.raises(UsageError, match="has ended"):
        address(msgspec.structs.replace(HERE, started_ticks=1))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"port": "x"}', '{"port": 1}'])
def test_a_damaged_file_offers_nothing(tmp_path: Path, text: str) -> None:
    assert offered(tmp_path) is None
    (tmp_path / SERVICE).write_text(text)
    assert offered(tmp_path) is None


def test_what_is_written_is_read(tmp_path: Path) -> None:
    (tmp_path / SERVICE).write_bytes(msgspec.json.encode(HERE))
    assert offered(tmp_path) == HERE
