"""Builds traces for tests: planes, lines and events by name, as TensorFlow would write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfperfkit.xplane.schema import message_class


class PlaneBuilder:
    """One plane. Times are in nanoseconds."""

    def __init__(self, message: Any) -> None:
        self.message = message
        self._events: dict[str, int] = {}
        self._stats: dict[str, int] = {}

    def line(self, name: str, *events: tuple[Any, ...], timestamp_ns: int = 0, number: int = 0) -> Any:
        """Add a line; an event is (name, begin, duration) or (name, begin, duration, {stat: value})."""
        line = self.message.lines.add(id=number or len(self.message.lines) + 1, name=name.encode())
        line.timestamp_ns = timestamp_ns
        for event_name, begin, duration, *rest in events:
            event = line.events.add(metadata_id=self._event(event_name))
            event.offset_ps, event.duration_ps = round(begin * 1000), round(duration * 1000)
            self.stats(event.stats, rest[0] if rest else {})
        return line

    def stats(self, target: Any, values: dict[str, Any]) -> None:
        for name, value in values.items():
            stat = target.add(metadata_id=self.stat(name))
            if isinstance(value, str):
                stat.str_value = value.encode()
            elif isinstance(value, bytes):
                stat.bytes_value = value
            elif isinstance(value, float):
                stat.double_value = value
            else:
                stat.int64_value = value

    def stat(self, name: str) -> int:
        if name not in self._stats:
            number = self._stats[name] = len(self._stats) + 1
            entry = self.message.stat_metadata.add(key=number)
            entry.value.id, entry.value.name = number, name.encode()
        return self._stats[name]

    def _event(self, name: str) -> int:
        if name not in self._events:
            number = self._events[name] = len(self._events) + 1
            entry = self.message.event_metadata.add(key=number)
            entry.value.id, entry.value.name = number, name.encode("utf-8", "surrogateescape")
        return self._events[name]


class SpaceBuilder:
    """A whole trace."""

    def __init__(self) -> None:
        self.message = message_class("XSpace")()

    def plane(self, name: str = "/host:CPU") -> PlaneBuilder:
        return PlaneBuilder(self.message.planes.add(id=len(self.message.planes), name=name.encode()))

    def bytes(self) -> bytes:
        data: bytes = self.message.SerializeToString()
        return data

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.bytes())
        return path


def step(number: int, begin: float, duration: float) -> tuple[Any, ...]:
    """One of our step markers."""
    return ("train", begin, duration, {"step_num": number, "_r": 1, "tfperf": 1})
