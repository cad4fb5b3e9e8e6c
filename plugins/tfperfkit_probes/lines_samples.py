"""The stack samples of the session, read back: shares of lines and functions, and what ran below them."""

from __future__ import annotations

from collections import Counter, defaultdict

from tfperfkit.probe import Capture

Place = tuple[str, int]  # file, line
TENSORFLOW = ("tensorflow", "keras", "tf_keras")
#: Fewer samples than this don't tell shares.
LEAST = 20
FunctionKey = tuple[str, int, str]  # file, first line, name


class Samples:
    """Samples of the steady steps (of the whole run when there are none). Shares are of these samples, 0 to 1."""

    def __init__(self) -> None:
        self.count = 0
        self.span_s = 0.0
        self._lines: Counter[tuple[FunctionKey, int]] = Counter()
        self._places: Counter[Place] = Counter()
        self._below: defaultdict[Place, Counter[str]] = defaultdict(Counter)
        self._leaves: Counter[Place] = Counter()
        self._in_tensorflow = 0
        self._leaf_above: defaultdict[Place, Counter[Place]] = defaultdict(Counter)

    def add(self, frames: list[list[object]], library: str) -> None:
        """One sample: the person's frames, outermost first, and the package that was running below them."""
        self.count += 1
        for key, line in {((str(f[0]), int(str(f[1])), str(f[2])), int(str(f[3]))) for f in frames}:
            self._lines[key, line] += 1
        for place in {(str(f[0]), int(str(f[3]))) for f in frames}:
            self._places[place] += 1
            self._below[place][library or "own"] += 1
        if library in TENSORFLOW:
            self._in_tensorflow += 1
        if frames:
            leaf = (str(frames[-1][0]), int(str(frames[-1][3])))
            self._leaves[leaf] += 1
            for frame in frames:
                self._leaf_above[leaf][str(frame[0]), int(str(frame[3]))] += 1

    def share(self, place: Place) -> float:
        """How often the line was on the stack."""
        return self._places[place] / self.count if self.count else 0.0

    def leaf_share(self, place: Place) -> float:
        """How often the line was the innermost of the person's own: it, or the library that it called, ran."""
        return self._leaves[place] / self.count if self.count else 0.0

    def leaves(self) -> list[Place]:
        """The innermost lines, most frequent first."""
        return [place for place, _ in self._leaves.most_common()]

    def within(self, leaf: Place, place: Place) -> float:
        """Of the samples whose innermost line is ``leaf``, the share that has ``place`` on the stack too."""
        return self._leaf_above[leaf][place] / self._leaves[leaf] if self._leaves[leaf] else 0.0

    def below(self, place: Place) -> Counter[str]:
        """What ran below a line, by package ("own": the person's Python itself), in samples."""
        return self._below[place]

    def tensorflow_share(self, place: Place) -> float:
        """Of all samples in which TensorFlow ran, the share that lies below this line; 0 if there are too few."""
        if self._in_tensorflow < 5:
            return 0.0
        return sum(self._below[place][name] for name in TENSORFLOW) / self._in_tensorflow

    @property
    def tensorflow_total(self) -> float | None:
        """The share of the samples in which TensorFlow or Keras ran below the person's code; None with too few."""
        return self._in_tensorflow / self.count if self.count >= 20 else None

    def by_function(self) -> dict[FunctionKey, dict[int, float]]:
        """For each function, the share of each of its lines."""
        found: dict[FunctionKey, dict[int, float]] = {}
        for (key, line), hits in self._lines.items():
            found.setdefault(key, {})[line] = hits / max(self.count, 1)
        return found


def read_samples(capture: Capture) -> Samples:
    """The samples of clean steps, if possible of the time when they were precise; without such, all of the run."""
    stacks: dict[int, tuple[list[list[object]], str]] = {}
    taken: list[tuple[int, int]] = []
    for row in capture.session_records("samples"):
        if row[0] == "stack":
            stacks[row[1]] = (row[2], row[3])
        elif row[0] == "s":
            taken.append((row[1], row[2]))
    clean = [(step.begin_ns, step.end_ns) for step in capture.steps.clean]
    begin, end = _precise(capture)
    precise = [span for span in clean if begin <= span[0] and span[1] <= end]
    whole = [(taken[0][0], taken[-1][0])] if taken else []
    for spans in (precise, clean, whole):
        chosen = _inside(taken, spans)
        if len(chosen) >= LEAST:
            break
    samples = Samples()
    samples.span_s = sum(end - begin for begin, end in spans) / 1e9
    for _, stack in chosen:
        if stack in stacks:
            samples.add(*stacks[stack])
    return samples


def _precise(capture: Capture) -> tuple[int, int]:
    """The time in which samples fell on short stretches of Python too (see ``instruments.switching``)."""
    begin, end = 1 << 62, 1 << 62
    for event in capture.session_records("events"):
        if event.get("kind") == "precise":
            begin = int(event["ns"])
        elif event.get("kind") == "precise_end":
            end = int(event["ns"])
    return begin, end


def _inside(taken: list[tuple[int, int]], spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    chosen = []
    index = 0
    for sample in taken:
        while index < len(spans) and spans[index][1] < sample[0]:
            index += 1
        if index < len(spans) and spans[index][0] <= sample[0]:
            chosen.append(sample)
    return chosen
