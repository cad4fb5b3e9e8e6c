"""Activity of an accelerator: every kernel and copy, and which operation it worked for."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfperfkit.reading.tracks import Device, Track
from tfperfkit.xplane.columns import Ints
from tfperfkit.xplane.hlo import Module
from tfperfkit.xplane.intervals import Spans, in_order, own_times, union
from tfperfkit.xplane.names import DERIVED_LINES

_STATS = (
    "tf_op",
    "annotation",
    "level 0",
    "name",
    "hlo_op",
    "hlo_module",
    "kernel_details",
    "memcpy_details",
    "shape",
    "source",
    "flops",
    "bytes_accessed",
)
#: Labels are found for so many events at once.
_BLOCK = 1 << 15
_COPY = re.compile(r"^(?:MemcpyH2D|MemcpyD2H|MemcpyD2D|MemcpyP2P|Memcpy|Memset|__amd_rocclr_(?:copy|fill)Buffer)")
_COLLECTIVE = re.compile(
    r"nccl|rccl|all[-_]?reduce|all[-_]?gather|reduce[-_]?scatter|all[-_]?to[-_]?all|collective[-_]?permute",
    re.IGNORECASE,
)
#: ``scope/name:Type#shape=(float[2,3])#``, as TensorFlow annotates a launch.
_ANNOTATED = re.compile(r"(?P<path>[^:#]+):(?P<type>\w*)(?P<rest>#.*)?")
_SHAPE = re.compile(r"shape=\((?P<shape>[^)]*)\)")
#: ``%copy-done.2 = f32[5,256]{1,0} copy-done(%copy-start.2)``: a TPU's events carry the text of the instruction.
_INSTRUCTION = re.compile(r"%(?P<name>[\w.\-]+) = ")
#: Waits for the end of a copy of XLA's between memories, which goes on next to the computing.
_COPY_DONE = re.compile(r"copy-done(?:\.\d+)?")


class Label(NamedTuple):
    """Facts of all runs of a kernel for one operation. Empty where the trace does not tell."""

    kernel: str
    path: str = ""  # TensorFlow's or JAX's name scope, and the operation's own name
    type: str = ""
    instruction: str = ""  # of XLA
    module: str = ""
    details: str = ""  # registers, grid, occupancy
    copy: str = ""  # of a copy: how large, from where, whether it is asynchronous
    shapes: str = ""  # of what goes in
    source: str = ""  # file:line
    flops: float = 0.0  # of one run
    bytes: float = 0.0  # of one run, to and from memory

    @property
    def name(self) -> str:
        """Without the text of an instruction, in which the names of its operands stand too."""
        match = _INSTRUCTION.match(self.kernel)
        return match["name"] if match else self.kernel

    @property
    def waits_for_copy(self) -> bool:
        return _COPY_DONE.fullmatch(self.name) is not None

    @property
    def is_copy(self) -> bool:
        return bool(self.copy) or _COPY.match(self.kernel) is not None or self.waits_for_copy

    @property
    def is_collective(self) -> bool:
        return not self.is_copy and _names_collective(f"{self.name} {self.instruction}")


@functools.lru_cache(maxsize=100_000)  # asked of each device of each host
def _names_collective(words: str) -> bool:
    return _COLLECTIVE.search(words) is not None


@dataclass
class Activity:
    """One device. All arrays are in the order of begin; ``label`` numbers ``labels``.

    ``own_ps``: without what runs within it (loops of XLA on a TPU). ``steps``: (number, begin, end) as the profiler's
    own line of steps has them; ``modules``: likewise the runs of XLA's compiled programs.
    """

    host: str
    name: str
    stats: dict[str, Any]
    begin: Ints
    end: Ints
    own_ps: Ints
    label: npt.NDArray[np.int32]
    correlation: Ints
    labels: list[Label]
    steps: list[tuple[str, int, int]] = field(default_factory=list)
    modules: list[tuple[str, int, int]] = field(default_factory=list)

    @property
    def full_name(self) -> str:
        return f"{self.host} {self.short_name}" if self.host else self.short_name

    @property
    def short_name(self) -> str:
        return self.name.removeprefix("/device:")

    def mask(self, wanted: list[bool]) -> Any:
        """Which events have a label for which ``wanted`` says yes."""
        return np.array(wanted, dtype=bool)[self.label] if len(self.label) else np.zeros(0, bool)

    def busy(self, which: Any = None) -> Spans:
        """When any stream was at work."""
        if which is None:
            return union([Spans(self.begin, self.end)])
        return union([Spans(self.begin[which], self.end[which])])


def read(device: Device, host: str, modules: dict[str, Module]) -> Activity | None:
    """Return all activity of the device; None if nothing was recorded."""
    labels: dict[Label, int] = {}
    steps: list[tuple[str, int, int]] = []
    programs: list[tuple[str, int, int]] = []
    parts = list(_parts(device, labels, modules, steps, programs))
    if not parts:
        return None
    joined = parts[0]
    if len(parts) > 1:
        order = np.argsort(np.concatenate([part["begin"] for part in parts]), kind="stable")
        # One column after the other, so that no more than one is there twice.
        joined = {name: np.concatenate([part.pop(name) for part in parts])[order] for name in list(joined)}
    return Activity(
        host=host,
        name=device.name,
        stats=device.stats,
        begin=joined["begin"],
        end=joined["end"],
        own_ps=joined["own"],
        label=joined["label"],
        correlation=joined["correlation"],
        labels=list(labels),
        steps=sorted(steps, key=lambda step: step[1]),
        modules=sorted(programs, key=lambda program: program[1]),
    )


def _parts(
    device: Device,
    labels: dict[Label, int],
    modules: dict[str, Module],
    steps: list[tuple[str, int, int]],
    programs: list[tuple[str, int, int]],
) -> Iterator[dict[str, Any]]:
    """Yield the columns of each stream that has events, by begin. ``labels``, ``steps`` and ``programs`` grow."""
    for track in device.tracks():
        if track.name == "Steps":
            steps += _named(track)
        elif track.name == "XLA Modules":
            programs += _named(track)
        if track.name in DERIVED_LINES or not len(track):
            continue
        begin, duration = _times(track)
        which = None
        if not (duration > 0).all():
            which = np.flatnonzero(duration > 0)
            if not len(which):
                continue
            begin, duration = begin[which], duration[which]
        order = in_order(begin, duration)
        if order is not None:
            begin, duration = begin[order], duration[order]
            which = order if which is None else which[order]
        yield {
            "begin": begin,
            "end": begin + duration,
            "own": own_times(begin, duration),
            "label": _labels(track, which, labels, modules),
            "correlation": track.numbers("correlation_id", which),
        }


def _times(track: Track) -> tuple[Ints, Ints]:
    """Begin and duration by the device's own clock where an event has them, as XProf takes them: a TPU's are set over
    to the host's clock, which moves a run by up to its length."""
    begin = track.numbers("device_offset_ps")
    if not (begin >= 0).any():
        return track.begin_ps, track.duration_ps
    duration = track.numbers("device_duration_ps")
    own = (begin >= 0) & (duration >= 0)
    return np.where(own, begin, track.begin_ps), np.where(own, duration, track.duration_ps)


def _named(track: Track) -> list[tuple[str, int, int]]:
    begin, end = track.begin_ps.tolist(), (track.begin_ps + track.duration_ps).tolist()
    names = [track.name_of(kind) for kind in track.kind.tolist()]
    return [(name, first, last) for name, first, last in zip(names, begin, end, strict=True) if last > first]


def _labels(track: Track, which: Ints | None, labels: dict[Label, int], modules: dict[str, Module]) -> Any:
    """Return the number of each event's label in ``labels``, which grows."""
    events = which if which is not None else np.arange(len(track))
    blocks = [events[first : first + _BLOCK] for first in range(0, len(events), _BLOCK)]
    return np.concatenate([_labels_of(track, block, labels, modules) for block in blocks])


def _labels_of(track: Track, order: Ints, labels: dict[Label, int], modules: dict[str, Module]) -> Any:
    coded = track.coded(_STATS, order)
    kinds = track.kind[order]
    key = kinds
    for each in coded.values():
        if len(each.values):
            _, key = np.unique(key, return_inverse=True)
            key = key * (len(each.values) + 1) + each.codes + 1
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    numbers = []
    for index in first.tolist():
        stats: dict[str, Any] = {
            name: each.values[code] for name, each in coded.items() if (code := int(each.codes[index])) >= 0
        }
        label = _label(track.name_of(int(kinds[index])), stats, modules)
        numbers.append(labels.setdefault(label, len(labels)))
    return np.array(numbers, dtype=np.int32)[inverse.reshape(-1)]


def _label(kernel: str, stats: dict[str, Any], modules: dict[str, Module]) -> Label:
    path, kind, shapes = "", "", str(stats.get("shape") or "")
    for name in ("tf_op", "annotation", "level 0"):
        if match := _ANNOTATED.match(str(stats.get(name) or "")):
            path, kind = match["path"], match["type"]
            if not shapes and match["rest"] and (found := _SHAPE.search(match["rest"])):
                shapes = found["shape"]
            break
    instruction, module = str(stats.get("hlo_op") or ""), str(stats.get("hlo_module") or "")
    source = str(stats.get("source") or "")
    memory = _number(stats.get("bytes_accessed"))
    if instruction and module in modules:
        known = modules[module]
        source = source or known.source(instruction)
        memory = memory or known.bytes(instruction)
        parts = known.parts(instruction)
        if parts:
            path = parts[0].operation
    if instruction and (not path or path == "XlaModule"):
        path = str(stats.get("name") or "")
    return Label(
        kernel=kernel,
        path=path,
        type=kind or ("XLA" if instruction else ""),
        instruction=instruction,
        module=module,
        details=str(stats.get("kernel_details") or "").strip(),
        copy=str(stats.get("memcpy_details") or ""),
        shapes=shapes.strip("()"),
        source=source,
        flops=_number(stats.get("flops")),
        bytes=memory or _read(shapes),
    )


#: Bytes of an element by TensorFlow's name of its type in an annotation.
_ELEMENT = {"float": 4, "half": 2, "bfloat16": 2, "double": 8, "int32": 4, "int64": 8, "bool": 1, "uint8": 1, "int8": 1}
_TENSOR = re.compile(r"(\w+)\[([\d,]*)\]")


def _read(shapes: str) -> float:
    """Return the bytes of the input tensors: at least that much is read."""
    return float(
        sum(
            _ELEMENT.get(kind, 0) * prod(int(size) for size in sizes.split(",") if size)
            for kind, sizes in _TENSOR.findall(shapes)
        )
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value > 0 else 0.0
