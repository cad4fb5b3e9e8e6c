"""``tf.device`` in the person's files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, called_from, module, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Devices are asked for once TensorFlow has made them: before, the script may still set some up."""
    tensorflow: Any = module("tensorflow")
    runtime = attribute("tensorflow.python.eager.context", "context")
    trial.refuse("all devices that the script names are there")

    def missing(name: Any) -> bool:
        if not isinstance(name, str) or not runtime()._initialized:
            return False
        try:
            asked = tensorflow.DeviceSpec.from_string(name)
        except ValueError:
            return False
        if asked.device_type is None or asked.job is not None:
            return False
        there = [device.name for device in tensorflow.config.list_logical_devices(asked.device_type.upper())]
        places = [tensorflow.DeviceSpec.from_string(device).device_index for device in there]
        return (asked.device_index or 0) not in places

    def choosing(original: Callable[..., Any]) -> Callable[..., Any]:
        def device(device_name: Any) -> Any:
            if called_from(trial.is_user_code) and missing(device_name):
                trial.applied()
                return contextlib.nullcontext()
            return original(device_name)

        return device

    with seams() as made:
        made.replace(tensorflow, "device", choosing)
        yield
