"""One file of events and the traces, in a log directory. TensorFlow is not imported: its records are framed here.

The frame is that of TFRecord: length, its masked CRC-32C, the event, its masked CRC-32C.
"""

from __future__ import annotations

import shutil
import socket
import struct
from pathlib import Path
from typing import Any, ClassVar

from tfperfkit.tracker import Record


class TensorBoard:
    """``tensorboard=LOGDIR``."""

    api: ClassVar[int] = 1
    name: ClassVar[str] = "tensorboard"
    needs: ClassVar[tuple[str, ...]] = ("tensorboard",)
    extra: ClassVar[str] = "tfperfkit[tensorboard]"

    def problem(self, target: str, /) -> str:
        if not target:
            return "name the log directory: tensorboard=logs"
        return f"{target} is a file: name the log directory" if Path(target).is_file() else ""

    def send(self, record: Record, target: str, /) -> str:
        folder = Path(target) / record.name
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"events.out.tfevents.{int(record.seconds):010d}.{socket.gethostname()}.tfperf"
        file.write_bytes(b"".join(framed(event.SerializeToString()) for event in events(record)))
        for trace in record.traces:
            beside = folder / "plugins" / "profile" / trace.parent.name
            beside.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(trace, beside / trace.name)
        profile = ", with the profile" if record.traces else ""
        return f"{folder}{profile} (tensorboard --logdir {target})"


def events(record: Record) -> list[Any]:
    """Return a version, each scalar, and the account as text."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

    values = [Summary.Value(tag=_tag(name), simple_value=value) for name, value in record.scalars.items()]
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
    tensor = TensorProto(dtype=7, string_val=[record.markdown.encode("utf-8", "backslashreplace")], tensor_shape=shape)
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    values.append(Summary.Value(tag="tfperf/report", tensor=tensor, metadata=metadata))
    return [
        Event(wall_time=record.seconds, file_version="brain.Event:2"),
        Event(wall_time=record.seconds, step=record.steps, summary=Summary(value=values)),
    ]


def _tag(name: str) -> str:
    """``tfperf_share_input``: one group for all, as TensorBoard groups by the text before a slash."""
    return name.replace("tfperf_", "tfperf/", 1)


def framed(event: bytes) -> bytes:
    """Return a record of a TFRecord file."""
    length = struct.pack("<Q", len(event))
    return length + struct.pack("<I", masked(length)) + event + struct.pack("<I", masked(event))


def _table() -> tuple[int, ...]:
    made = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        made.append(crc)
    return tuple(made)


_CRC = _table()


def masked(data: bytes) -> int:
    """CRC-32C, rotated by 15 bits and moved, as TFRecord stores it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
