"""``present-devices``: leaves out the script's ``tf.device`` scopes for devices that are not there."""

from __future__ import annotations

import contextlib
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import Setting
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class PresentDevices(Base):
    """TensorFlow would place these operations elsewhere in any case."""

    name = "present-devices"
    keeps = "results"
    remedies = (Setting("device"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change ``tf.device`` in user files once TensorFlow has its devices: before, the script may still set some
        up."""
        tensorflow = seams.tensorflow
        context = seams.find("tensorflow.python.eager.context:context")
        seams.refuse("all devices that the script names are there")

        def is_missing(name: Any) -> bool:
            if not isinstance(name, str) or not context()._initialized:
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

        def device(original: Any, device_name: Any) -> Any:
            if seams.called_by_user_graph() and is_missing(device_name):
                seams.applied()
                return contextlib.nullcontext()
            return original(device_name)

        seams.replace(tensorflow, "device", device)
