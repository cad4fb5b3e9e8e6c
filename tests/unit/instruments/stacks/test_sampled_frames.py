"""A sample keeps nothing that it looks at: the objects of the script's frames go when the frames end, as without us."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable

import pytest

from tfperfkit.instruments.stacks.sampler import Sampler


class Held:
    """An object that a frame of the script holds."""


def _held_while(sample: Callable[[int], None], waits: bool) -> weakref.ref[Held]:
    """Sample a thread that holds an object until the thread ends. ``waits``: in a wait of the standard library's."""
    there, go, told = threading.Event(), threading.Event(), list[weakref.ref[Held]]()

    def script() -> None:
        held = Held()
        told.append(weakref.ref(held))
        there.set()
        while not (go.wait(0.001) if not waits else go.wait()):
            pass

    thread = threading.Thread(target=script)
    thread.start()
    there.wait()
    for _ in range(20):
        sample(thread.ident or 0)
    go.set()
    thread.join()
    return told[0]


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("kind", ["take", "anyone", "beside", "awaited"])
def test_no_frame_outlives_its_sample(kind: str, waits: bool) -> None:
    sampler = Sampler(lambda row: None, lambda name: name == __file__)
    samples: dict[str, Callable[[int], None]] = {
        "take": lambda thread: void(sampler.take(1, thread)),
        "anyone": lambda thread: void(sampler.take(1, thread, anyone=True)),
        "beside": lambda thread: sampler.beside(1, [thread]),
        "awaited": lambda thread: sampler.awaited(1, thread),
    }
    gc.disable()  # a cycle would be found by it, some time
    try:
        assert _held_while(samples[kind], waits)() is None
    finally:
        gc.enable()


def void(_: object) -> None:
    """The samples above return nothing."""
