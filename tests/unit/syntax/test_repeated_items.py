"""A call in ``__getitem__`` gives the same for an item in each epoch, or it may differ."""

from __future__ import annotations

import pytest

from tfperfkit.syntax.module import parse
from tfperfkit.syntax.repeated_items import depends_on_number_only

SOURCE = """\
import keras
import numpy as np

class Spectrum:
    def __init__(self):
        self.window = np.hanning(512)
        self.rng = np.random.default_rng(3)

    def __call__(self, wave):
        return np.abs(np.fft.rfft(wave * self.window))

class Waves(keras.utils.PyDataset):
    def __init__(self, waves, transform):
        super().__init__()
        self.waves = waves
        self.transform = transform
        self.order = np.arange(len(waves))
        self.seen = 0

    def __len__(self):
        return len(self.order) // 32

    def __getitem__(self, index):
        picked = self.order[index * 32 : index * 32 + 32]
        return np.stack([self.transform(self.waves[row]) for row in picked])

    def on_epoch_end(self):
        np.random.shuffle(self.order)

def main():
    waves = np.zeros((640, 512))
    data = Waves(waves, Spectrum())
    model = keras.Sequential([keras.layers.Dense(3)])
    model.fit(data, epochs=9)

main()
"""
LOOP = """\
        rows = []
        for row in self.order[index * 32 : index * 32 + 32]:
            rows.append(self.transform(self.waves[row]))
        return np.stack(rows)
"""
COMPREHENSION = """\
        picked = self.order[index * 32 : index * 32 + 32]
        return np.stack([self.transform(self.waves[row]) for row in picked])
"""


def answer(source: str, call: str = "self.transform(") -> bool:
    syntax = parse(tuple(source.splitlines()))
    assert syntax is not None
    (method,) = [item for item in syntax.functions if item.name == "__getitem__"]
    return depends_on_number_only(next(each for each in method.calls if each.text.startswith(call)), method)


@pytest.mark.parametrize(
    "source",
    [
        SOURCE,
        SOURCE.replace(COMPREHENSION, LOOP),
        SOURCE.replace("    data = Waves(waves, Spectrum())\n", "").replace(
            "fit(data,", "fit(Waves(waves, Spectrum()),"
        ),
        SOURCE.replace("    def on_epoch_end(self):\n        np.random.shuffle(self.order)\n", ""),
    ],
    ids=["comprehension", "loop", "made in the call", "never shuffled"],
)
def test_a_transform_of_an_element_is_the_same_in_each_epoch(source: str) -> None:
    assert answer(source)


@pytest.mark.parametrize(
    "source",
    [
        SOURCE.replace("wave * self.window", "wave * self.window + self.rng.normal()"),
        SOURCE.replace("wave * self.window", "wave * self.window * np.random.rand()"),
        SOURCE.replace("        np.random.shuffle(self.order)", "        self.waves = self.waves + 1.0"),
        SOURCE.replace("        np.random.shuffle(self.order)", "        self.waves *= 0.9"),
        SOURCE.replace("        picked =", "        self.seen += 1; self.waves[0] = self.seen; picked ="),
        SOURCE.replace("    model.fit(", "    data.waves = waves[::-1]\n    model.fit("),
        SOURCE.replace("self.transform(self.waves[row])", "self.transform(self.waves[row] + self.seen)").replace(
            "        picked =", "        self.seen += 1; picked ="
        ),
        SOURCE.replace("    model.fit(", "    other = Waves(waves, Spectrum())\n    model.fit("),
        SOURCE.replace("Spectrum())", "load_transform())"),
    ],
    ids=["draws", "draws globally", "data changed", "data changed in place", "data written", "stored from outside",
         "counts", "two objects", "unknown"],
)  # fmt: skip
def test_an_augmentation_or_changed_data_are_not(source: str) -> None:
    assert not answer(source)


def test_the_whole_batch_differs_with_the_order() -> None:
    assert not answer(SOURCE, "np.stack(")
