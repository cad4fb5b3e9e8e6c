"""Records of streams for tests: any JSON, written and read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tfperfkit.storage.run_directory import read_stream
from tfperfkit.storage.stream_writer import StreamWriter


def written(path: Path, *records: Any) -> list[Any]:
    """Return what is read after these records were written."""
    writer = StreamWriter(path)
    for record in records:
        writer.append(record)
    writer.close()
    return list(read_stream(path))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)
