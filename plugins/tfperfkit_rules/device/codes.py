"""The codes of the devices findings. A code is stable and never reused; each has a page ``docs/findings/<code>.md``."""

from __future__ import annotations

GPU_UNUSED = "DEV001"
NO_SUCH_DEVICE = "DEV002"
COPIES = "DEV003"
HOST_SYNC = "SYN001"

#: The meaning of each code, without numbers or names: the heading of its page.
TITLES = {
    GPU_UNUSED: "TensorFlow does not use the GPU",
    NO_SUCH_DEVICE: "tf.device names a device that does not exist",
    COPIES: "Tensors are copied between devices in every step",
    HOST_SYNC: "Python reads tensor values in every step",
}
